"""The modules that a command imports: start-up time, held without a clock."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.manifests import FIXTURES
from support.streamt.place import Place

DEMO = str(FIXTURES / "manifests" / "demo.json")
EXPORT = ("export", DEMO, "--job-namespace", "n", "--kafka-namespace", "kafka://b:1", "--quiet")
# None of these is needed for a usual line and good input.
HEAVY = {
    "asyncio", "concurrent.futures", "dotenv", "fastjsonschema", "http.client", "jinja2",
    "jsonschema", "msgspec", "referencing", "rich", "tempfile", "typer", "unittest", "yaml",
}  # fmt: skip
# Nor these, where nothing is sent over a network and no file is watched.
NETWORK = {"httptools", "logging", "ssl", "streamt_ol.transport.http", "subprocess", "watchdog"}
EXPORTING = {"streamt_ol.pipeline", "streamt_ol.runner", "streamt_ol.stages"}
RUNS = {"streamt_ol.runs", "streamt_ol.transport"}


def imported(*words: str, environment: dict[str, str]) -> set[str]:
    """Return the modules that the program imports for a command line, which has to succeed."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", PROGRAM, *words],
        capture_output=True, env=environment, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith(b"import time:")]
    return {line.rpartition(b"|")[2].strip().decode() for line in lines}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path)


def test_export() -> None:
    found = imported(*EXPORT, environment=clean_environment())
    assert found >= {"orjson", "streamt_ol.pipeline"}
    assert not found & (HEAVY | NETWORK | RUNS | {"argparse", "streamt_ol.project.compiler"})


def test_run(place: Place) -> None:
    words = ("run", "--job-namespace", "n", "--job-name", "j", "--", sys.executable, "-c", "0")
    found = imported(*words, environment=place.environment())
    assert place.kinds() == ["START", "COMPLETE"]
    assert not found & (HEAVY | NETWORK | EXPORTING | {"argparse", "streamt_ol.project"})


def test_test(place: Place) -> None:
    found = imported(*place.streamt_line("test")[1:], environment=place.environment())
    assert place.kinds() == ["START", "COMPLETE"]
    assert not found & (HEAVY | NETWORK | EXPORTING - {"streamt_ol.stages"})


def test_apply(place: Place) -> None:
    found = imported(*place.streamt_line("apply")[1:], environment=place.environment())
    watching = {"logging", "subprocess", "tempfile", "watchdog"}
    assert not found & ((HEAVY | NETWORK) - watching | EXPORTING - {"streamt_ol.stages"})


@pytest.mark.parametrize("words", [["export", "--help"], ["--version"], ["--help"]])
def test_help_is_typers(words: list[str]) -> None:
    assert "typer" in imported(*words, environment=clean_environment())


def test_a_line_that_is_wrong_is_told_by_typer() -> None:
    assert streamt_ol("export", "--nope").stderr.startswith(b"E500_USAGE_ERROR: No such option")
