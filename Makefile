# Every target makes what it needs: a virtual environment in .venv, from pyproject.toml alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find streamt_ol stages -name '*.py' -o -name '*.b64' -o -name '*.json' 2>/dev/null)
DEMO := fixtures/manifests/demo.json
CODE := streamt_ol stages tests bench examples docs

# Installed for developing, and compiled once: with PYTHONDONTWRITEBYTECODE, as in many containers, each start of the
# program (the tests have thousands) would compile it anew.
define install
$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	--editable '$(1)' --config-settings editable_mode=strict
$(BIN)/python -m compileall -q build/__editable__.* || true
endef

.PHONY: demo test test-slow test-newest-typer test-wheel check bench bench-page browser pages docs dist clean

demo:
	@echo "installing streamt-ol into $(VENV), then exporting the lineage of $(DEMO)" >&2
	@$(MAKE) --no-print-directory --silent $(VENV)/installed >&2
	@$(BIN)/streamt-ol export $(DEMO) --job-namespace demo --kafka-namespace kafka://broker.example:9092
	@echo "the command is $(BIN)/streamt-ol; see $(BIN)/streamt-ol --help" >&2

test: $(VENV)/dev
	$(BIN)/pytest -n auto --dist loadgroup -m "not slow"

test-slow: $(VENV)/slow
	$(BIN)/pytest -n logical --dist loadgroup -m slow

# typer is held below 0.29 (see docs/decisions.md); everything has to work with the newest, too, but
# for what installs the package by that bound. The next target installs the held one again.
test-newest-typer: $(VENV)/dev
	rm -f $(VENV)/installed $(VENV)/dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade typer
	$(BIN)/pytest -n auto --dist loadgroup -m "not slow" --ignore tests/docs/test_install.py

# The wheel in dist/ works in a fresh environment, outside of the repository.
test-wheel:
	rm -rf build/wheel-env
	$(PYTHON) -m venv build/wheel-env
	build/wheel-env/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build/wheel-env && bin/streamt-ol schemas > schemas.txt
	cd build/wheel-env && bin/streamt-ol export ../../$(DEMO) --quiet --job-namespace \
		https://lineage.example/ns/fixtures --kafka-namespace kafka://broker.example:9092 > demo.jsonl
	cmp build/wheel-env/demo.jsonl $(DEMO:.json=.expected.jsonl)

check: $(VENV)/dev
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/python docs/generate.py --check
	cd tests && ../$(BIN)/lint-imports --no-cache ../pyproject.toml
	cd tests && ../$(BIN)/mypy --config-file ../pyproject.toml -p streamt_ol
	cd tests && ../$(BIN)/mypy --config-file ../pyproject.toml .
	cd bench && ../$(BIN)/mypy --config-file ../pyproject.toml .

bench: $(VENV)/dev
	$(call install,.[bench])
	$(BIN)/python bench/run.py

# The tables of the last run, on their page.
bench-page: $(VENV)/dev
	$(BIN)/python bench/run.py --page

# What the tests of the page and of Azure's store need besides Chromium and Node; npm runs no script
# of a package.
browser: $(VENV)/dev
	mkdir -p $(VENV)/browser
	cp tests/browser/package.json $(VENV)/browser/
	npm install --prefix $(VENV)/browser --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error

# The tables in docs/ that are made from the program's own.
pages: $(VENV)/installed
	$(BIN)/python docs/generate.py

# The site, in site/. A broken link or a page that nothing leads to is an error.
docs: $(VENV)/dev pages
	$(BIN)/mkdocs build --strict --quiet

dist: $(VENV)/dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

clean:
	rm -rf $(VENV) build dist site *.egg-info

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A user's environment: the package and its runtime dependencies.
$(VENV)/installed: $(BIN)/python pyproject.toml $(SOURCES)
	$(call install,.)
	@touch $@

# A developer's environment: what `make check`, `make test` and `make bench` need besides.
$(VENV)/dev: $(VENV)/installed
	$(call install,.[dev])
	@touch $@

# What the slow tests need besides: a real Spark, servers of the stores' protocols.
$(VENV)/slow: $(VENV)/dev
	$(call install,.[slow])
	@touch $@
