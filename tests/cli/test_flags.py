"""Locations at an option: only the command line knows the flag that a user wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest
import typer

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
    # What stands in square brackets is markup to the library that draws the table.
    monkeypatch.setenv("COLUMNS", "400")
    application: Any = typer.main.get_command(build(command))
    application.main([command, "--help"], standalone_mode=False, obj=Output())
    shown = " ".join(capsys.readouterr().out.split())
    for parameter in application.commands[command].params:
        if getattr(parameter, "help", None):
            assert " ".join(parameter.help.split()) in shown


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
