"""Locations at an option: only the command line knows the flag that a user wrote."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from support.commands import streamt_ol

from streamt_ol.cli.commands import COMMANDS, load
from streamt_ol.cli.output import Output
from streamt_ol.cli.parameters import declared, flags_of
from streamt_ol.cli.typer_app import build
from streamt_ol.problems import INVALID, Location, StreamtOlError


@pytest.fixture
def output() -> Output:
    made = Output()
    made.flags = flags_of(declared(load("send")[0]))
    return made


def test_the_options_of_a_command_have_flags(output: Output) -> None:
    assert output.flags["progress_file"] == "--progress-file"
    assert "url" in output.flags


@pytest.mark.parametrize("command", COMMANDS)
def test_all_of_a_help_text_is_shown(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    application: Any = typer.main.get_command(build(command))
    application.main([command, "--help"], standalone_mode=False, obj=Output())
    shown = "".join(capsys.readouterr().out.split())  # a word may be broken at its hyphen
    assert shown.isascii()  # so that it can be printed in every locale
    for parameter in application.commands[command].params:
        texts = [*parameter.opts, parameter.metavar or "", getattr(parameter, "help", None) or ""]
        for text in texts if parameter.param_type_name == "option" else texts[1:]:
            assert "".join(text.split()) in shown


@pytest.mark.parametrize("command", ["send", "forward"])
def test_options_of_one_group_stand_together(command: str) -> None:
    shown = streamt_ol(command, "--help").stdout.decode()
    groups: dict[str, set[str]] = {}
    for line in shown.splitlines():
        if line and not line.startswith(" "):
            options = groups.setdefault(line, set())
        elif flags := re.findall(r"^  (?:-\w, )?(--[\w-]+)", line):
            options.update(flags)
    assert {"--to", "--help"} < groups["Options:"]
    assert {"--url", "--token-env"} < groups["HTTP receivers:"]
    assert "--kafka-config" in groups["Kafka:"]
    assert {"--timeout", "--rejected"} < groups["Delivery:"]


def test_a_summary_of_each_command_is_shown_in_full() -> None:
    shown = " ".join(streamt_ol("--help", environment={"COLUMNS": "80"}).stdout.decode().split())
    for name in COMMANDS:
        command, _ = load(name)
        assert f" {name} {(command.__doc__ or '').partition(chr(10))[0]}" in shown


@pytest.mark.parametrize(
    ("command", "flag"),
    [("export", "--job-namespace"), ("apply", "--openlineage-job-namespace")],
)
def test_an_option_of_the_pipeline_keeps_its_name_and_the_hint_has_the_flag(
    command: str, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = Output()
    output.flags = flags_of(declared(load(command)[0]))
    where = Location(option="job_namespace")
    output.error(StreamtOlError(INVALID, "no job namespace is given", location=where))
    assert capsys.readouterr().err == (
        f"{INVALID} job_namespace: no job namespace is given\n"
        f"  hint: give {flag} NAMESPACE or set OPENLINEAGE_NAMESPACE\n"
    )


def test_an_error_at_an_option_names_its_flag_on_stderr(
    output: Output, capsys: pytest.CaptureFixture[str]
) -> None:
    output.error(StreamtOlError(INVALID, "it is wrong", location=Location(option="url")))
    assert capsys.readouterr().err == f"{INVALID} --url: it is wrong\n"


def test_an_error_at_an_option_names_its_flag_and_the_option_in_the_envelope(
    output: Output, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    output.json = True
    where = Location(option="progress_file", file="sent", line=2)
    output.error(StreamtOlError(INVALID, "it is wrong", location=where))
    [error] = json.loads(capfdbinary.readouterr().out)["errors"]
    assert error == {
        "code": INVALID,
        "message": "it is wrong",
        "location": "--progress-file: sent:2",
        "option": "progress_file",
        "file": "sent",
        "line": 2,
    }


PACKAGE = Path(__file__).parents[2] / "streamt_ol"
# Their flags are those of other programs: git, and streamt, whose options are handed on.
FOREIGN = {"lineage/git.py", "runs/arguments.py", "cli/child.py"}


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts of a module but for its docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield from [node.value] if isinstance(node.value, str) else []


def test_few_files_name_a_flag() -> None:
    """An option has one name in one file; where messages tell of it, they are few."""
    commands = (declared(load(name)[0]) for name in COMMANDS)
    known = {flag for one in commands for row in one.values() for flag in row.flags}
    naming: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        for text in texts_of(path) if name not in FOREIGN else ():
            for flag in re.findall(r"(?<![\w-])--[a-z-]*[a-z]", text):
                naming[flag].add(name)
    naming.pop("--help")  # typer's
    assert {flag: files for flag, files in naming.items() if len(files) > 3} == {}
    assert naming.keys() - known <= {"--output", "--streamt", "--version"}
