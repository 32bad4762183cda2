"""The pages list what the program has: tables, commands, options, dependencies, links."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
from support.commands import streamt_ol
from support.pages import PAGES, ROOT, name

from streamt_ol.cli.commands import COMMANDS
from streamt_ol.cli.exits import of_code
from streamt_ol.codes import ERRORS, WARNINGS
from streamt_ol.validation.rules import RULES

DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text("utf-8")


def test_generated_tables_are_current() -> None:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec
    assert spec.loader
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for page in DOCS.rglob("*.md"):
        text = page.read_text("utf-8")
        assert text == generate.generated(text), f"{name(page)}: run `make pages`"


def test_every_code_stands_in_the_tables() -> None:
    text = (DOCS / "codes.md").read_text("utf-8")
    rows = re.findall(r"^\| `([EW]\d\d\d_\w+)` \| (.*?) \| (\d+) \| (.*?) \|$", text, re.MULTILINE)
    assert {code: (meaning, int(status), remedy) for code, meaning, status, remedy in rows} == {
        code: (row.meaning, of_code(code), row.remedy)
        for code, row in {**ERRORS, **WARNINGS}.items()
    }


def test_every_rule_stands_in_the_table() -> None:
    text = (DOCS / "rules.md").read_text("utf-8")
    rows = re.findall(r"^\| (OL-R\d+) \| (\w+) \| ", text, re.MULTILINE)
    assert rows == [(rule, row.severity) for rule, row in RULES.items()]


def test_the_readme_is_short_and_lists_the_commands() -> None:
    assert len(README.encode()) <= 7 * 1024
    rows = re.findall(
        r"^\| \[`([\w-]+)`\]\(docs/commands/([\w-]+)\.md\) \| \S", README, re.MULTILINE
    )
    assert sorted(rows) == sorted((command, command) for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_stands_on_the_page_of_its_command(command: str) -> None:
    page = (DOCS / "commands" / f"{command}.md").read_text("utf-8")
    assert page.startswith(f"# streamt-ol {command}")
    environment = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    text = streamt_ol(command, "--help", environment=environment).stdout.decode()
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {"--help"}
    assert {option for option in options if f"{option}" not in page} == set()


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [
        e for extra, e in project["optional-dependencies"].items() if extra not in {"dev", "slow"}
    ]
    needed = [*project["dependencies"], *(one for extra in extras for one in extra)]
    page = (DOCS / "decisions.md").read_text("utf-8").split("## Dependencies")[1].split("\n## ")[0]
    for dependency in needed:
        found = re.match(r"[\w-]+", dependency)
        assert found is not None
        assert re.search(rf"^\|[^|]*\b{found[0]}\b", page, re.MULTILINE), found[0]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", page.read_text("utf-8")):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), target


def test_every_page_can_be_reached_from_the_index() -> None:
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - {"index.md"}
    linked = set()
    for page in (DOCS / "index.md", DOCS / "receivers" / "index.md"):
        for target in re.findall(r"\]\(([^)#\s]+\.md)\)", page.read_text("utf-8")):
            linked.add((page.parent / target).resolve().relative_to(DOCS).as_posix())
    assert pages - linked == {"receivers/index.md"} - linked
