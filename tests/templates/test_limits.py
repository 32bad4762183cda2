"""The share of the machine that one template may take, and the process that renders it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from support.manifests import Json, manifest, model, owned, source
from support.templates import refused

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.templates import Call, Renderer, calls, one_process, render

TIME = "it takes more than 5 seconds of processor time"
MEMORY = "it needs more than 512 MB of memory"
DEPTH = "it is nested too deeply"
OUTPUT = "it makes too much text"

needs_limits = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the system has no limit of the address space"
)


@pytest.fixture(autouse=True)
def _one_process() -> Iterator[None]:
    with one_process():
        yield


def rendering_process() -> psutil.Process:
    """Return the process that renders for this one."""
    (found,) = [
        child
        for child in psutil.Process().children()
        if any("streamt_ol.templates.child" in word for word in child.cmdline())
    ]
    return found


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until ``condition`` holds; fail after half a minute."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def doubled(start: str, step: str) -> str:
    """Return a template that begins with ``start`` as ``n.x`` and repeats ``step`` for long."""
    loop = f"{{% for i in range(99) %}}{step}{{% endfor %}}"
    return f"{{% set n = namespace(x={start}) %}}{loop}{{{{ n.x|length }}}}"


@pytest.mark.slow
class TestTime:
    @pytest.mark.parametrize(
        "template",
        [
            "{% for i in range(100000) %}\n{% for j in range(100000) if j < 0 %}x{% endfor %}"
            "{% endfor %}",
            "{% set l = 'x' * 9000000 %}{% for i in range(90000) %}{% set m = l[1:] %}{% endfor %}",
        ],
    )
    def test_is_five_seconds(self, template: str) -> None:
        assert f"{TIME} (a loop without end?)" in refused(template)
        assert calls("{% set x = ref('clean') %}{{ x }}") == [Call("ref", "clean")]

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "template",
        [
            "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}"
            "{{ m(50) }}",
            "{% set a = range(100000)|list %}{% for i in a %}{{ 'x' if -1 in a }}{% endfor %}",
            "{% for i in range(100000) %}{{ 'x' if 0.5 in range(100000) }}{% endfor %}",
            "{% set n = namespace(x=9 ** 4000) %}{% for i in range(99) %}"
            "{% set n.x = n.x * n.x %}{% endfor %}",
            "{% set n = namespace(x='x') %}{% for i in range(60) %}"
            "{% set n.x = namespace(b=n.x, c=n.x) %}{% endfor %}{{ n }}",
            "{% if x %}{% endif %}" * 300_000,
        ],
    )
    def test_of_whatever_takes_it(self, template: str) -> None:
        message = refused(template, x="a")
        assert TIME in message or MEMORY in message

    @pytest.mark.slow
    def test_of_templates_that_include_each_other(self) -> None:
        others = {f"{n}": f"{{% include '{n + 1}' %}}" * 2 for n in range(40)} | {"40": "x"}
        with pytest.raises(StreamtOlError, match=TIME):
            Renderer(others.get).render("{% include '0' %}")

    @pytest.mark.slow
    def test_is_counted_for_each_template(self) -> None:
        render("{% set x = 1 %}")
        process = rendering_process()
        while process.cpu_times().user < 12:
            render("{% for i in range(100000) %}{{ i ~ 'x' }}{% endfor %}")
        assert rendering_process() == process


@needs_limits
class TestMemory:
    @pytest.mark.parametrize(
        "template",
        [
            "{{ 'x' * 10 ** 10 }}",
            "{{ [0] * 10 ** 10 }}",
            "{{ 'x'|center(10 ** 10) }}",
            "{{ 'x'.ljust(10 ** 10) }}",
            "{{ ('x'|safe).ljust(10 ** 10) }}",
            "{{ '%1000000000d' % 1 }}",
            "{{ '%*d' % (1000000000, 1) }}",
            "{{ '%1000000000d'|format(1) }}",
            "{{ '{:1000000000d}'.format(1) }}",
            "{{ '{:{}}'.format(1, 1000000000) }}",
            "{{ ('{0}' * 100000).format('x' * 100000) }}",
            "{{ ('a' * 100000).replace('a', 'b' * 100000) }}",
            "{{ ('a' * 100000)|replace('a', 'b' * 100000) }}",
            "{{ range(100000)|join('y' * 100000) }}",
            "{{ (5).to_bytes(3000000000, 'big') }}",
            "{{ 'x'.encode().center(3000000000) }}",
            "{{ (9).to_bytes(1, 'big').ljust(10 ** 10) }}",
            doubled("'a'", "{% set n.x = n.x ~ n.x %}"),
            doubled("'a'", "{% set n.x = n.x + n.x %}"),
            doubled("'a'", "{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}"),
            doubled("['a']", "{% set _ = n.x.extend(n.x) %}"),
        ],
    )
    def test_is_bounded_and_the_line_is_told(self, template: str) -> None:
        assert f"{MEMORY} (line 1)" in refused(template)

    def test_is_counted_for_each_template(self) -> None:
        for _ in range(5):
            assert render("{{ ('x' * 300000000)|length }}").text == "300000000"

    def test_after_it_is_spent_the_next_template_is_rendered(self) -> None:
        assert MEMORY in refused("{{ 'x' * 10 ** 9 }}")
        assert calls("{% set x = ref('clean') %}{{ x }}") == [Call("ref", "clean")]


class TestDepthAndLength:
    @pytest.mark.parametrize(
        "template",
        [
            "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
            "{{ 1" + "+1" * 20000 + " }}",
            "{{ x" + "|upper" * 5000 + " }}",
            "{% if 1 %}" * 500 + "{% endif %}" * 500,
            "{% for i in [1] %}" * 30 + "x" + "{% endfor %}" * 30,
            "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
            "{% for x in tree recursive %}{{ loop(tree) }}{% endfor %}",
        ],
    )
    def test_nesting(self, template: str) -> None:
        assert DEPTH in refused(template, x="a", tree=[1, 2])

    def test_a_template_that_includes_itself(self) -> None:
        with pytest.raises(StreamtOlError, match=DEPTH):
            Renderer({"self": "{% include 'self' %}"}.get).render("{% include 'self' %}")

    @pytest.mark.parametrize(
        "template",
        [
            "x" * 5_000_001,
            "{{ 'x' * 5000001 }}",
            "{% for i in range(100000) %}{{ 'x' * 1000 }}{% endfor %}",
        ],
    )
    def test_output(self, template: str) -> None:
        assert OUTPUT in refused(template + "{% set x = 1 %}")

    def test_five_million_characters_are_rendered(self) -> None:
        assert len(render("{{ 'x' * 5000000 }}").text) == 5_000_000


class TestProcess:
    def test_has_nothing_of_the_environment_and_of_the_working_directory(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "json.py").write_text("raise SystemExit('imported from the working directory')")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("OPENLINEAGE_API_KEY", "hunter2")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        assert render("{{ 1 + 1 }}").text == "2"
        process = rendering_process()
        assert process.environ().keys() <= {"LD_LIBRARY_PATH", "LC_CTYPE"}
        assert process.cwd() == "/"

    def test_that_is_killed_is_an_error_at_the_place_and_the_next_has_another(self) -> None:
        render("{% set x = 1 %}")
        rendering_process().kill()
        says = refused("{% set x = 1 %}{{ x }}")
        assert "the process that rendered it was killed (is the machine out of memory?)" in says
        assert render("{% set x = 1 %}{{ x }}").text == "1"

    def test_ends_with_the_outermost_with(self) -> None:
        render("{% set x = 1 %}")
        process = rendering_process()
        with one_process():
            render("{% set x = 1 %}")
        assert rendering_process() == process

    def test_fault_of_a_file_that_cannot_be_loaded_is_raised_and_nothing_is_left(self) -> None:
        def load(name: str) -> str:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Renderer(load).render("{% include 'x' ignore missing %}")
        assert render("{{ 1 + 1 }}").text == "2"


BUSY = """
import sys
from streamt_ol.templates import render
print("ready", flush=True)
render("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}")
"""


class TestParent:
    @pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
    def test_that_ends_takes_its_process_with_it(self, sent: signal.Signals) -> None:
        parent = subprocess.Popen(
            [sys.executable, "-c", BUSY], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        eventually(lambda: bool(psutil.Process(parent.pid).children()))
        (child,) = psutil.Process(parent.pid).children()
        eventually(lambda: child.cpu_times().user > 0.5)
        parent.send_signal(sent)
        assert parent.wait(timeout=30) in (-sent, 1)
        parent.stdout.close()
        eventually(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def manifest_of(*sqls: str) -> Json:
    """Return a manifest of models whose SQL is ``sqls`` and which compile to Gateway rules."""
    names = [f"m{number}" for number in range(len(sqls))]
    return manifest(
        [source("raw", "raw.v1")],
        [model(name, sql=sql, from_=["raw"]) for name, sql in zip(names, sqls, strict=True)],
        gateway_rules=[owned(n, virtualTopic=n, physicalTopic="raw.v1") for n in names],
    )


COUNTED = """
import sys
started = []
sys.addaudithook(lambda event, _: started.append(1) if event == "subprocess.Popen" else None)
from streamt_ol.__main__ import main
try:
    main()
finally:
    print(len(started), file=sys.stderr)
"""


class TestExport:
    @pytest.mark.parametrize(
        ("sqls", "processes"),
        [
            (["SELECT * FROM {{ source('raw') }}"] * 3, 0),
            (["{% set x = source('raw') %}SELECT * FROM {{ x }}"] * 3, 1),
        ],
    )
    def test_starts_one_process_and_only_where_it_is_needed(
        self, tmp_path: Path, sqls: list[str], processes: int
    ) -> None:
        file = tmp_path / "manifest.json"
        file.write_text(json.dumps(manifest_of(*sqls)))
        names = ["--job-namespace", "shop", "--kafka-namespace", "kafka://broker:9092"]
        names += ["--gateway-namespace", "kafka://gateway:6969"]
        done = subprocess.run(
            [sys.executable, "-c", COUNTED, "export", str(file), *names, "--quiet"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr.splitlines()[-1] == str(processes)
        assert done.returncode == 0

    def test_of_a_template_over_the_limit_is_one_error_at_its_place(self, tmp_path: Path) -> None:
        file = tmp_path / "manifest.json"
        file.write_text(
            json.dumps(manifest_of("{{ source('raw') }}", "{{ (5).to_bytes(10 ** 10, 'big') }}"))
        )
        names = ["--job-namespace", "shop", "--kafka-namespace", "kafka://broker:9092"]
        names += ["--gateway-namespace", "kafka://gateway:6969"]
        done = subprocess.run(
            [sys.executable, "-m", "streamt_ol", "export", str(file), *names],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"COLUMNS": "80"},
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f"{INVALID} /models/1/sql: the template cannot be rendered: {MEMORY} (line 1)\n"
        )
