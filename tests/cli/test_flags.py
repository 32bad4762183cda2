"""Locations at an option: only the command line knows the flag that a user wrote."""

from __future__ import annotations

import json

import pytest
import typer

from streamt_ol.cli.app import build, flags_of
from streamt_ol.cli.output import Output
from streamt_ol.problems import INVALID, Location, StreamtOlError


@pytest.fixture
def output() -> Output:
    made = Output()
    made.flags = flags_of(typer.main.get_command(build("send")), "send")
    return made


def test_the_options_of_a_command_have_flags(output: Output) -> None:
    assert output.flags["progress_file"] == "--progress-file"
    assert "url" in output.flags


def test_the_options_of_the_pipeline_keep_their_names() -> None:
    flags = flags_of(typer.main.get_command(build("export")), "export")
    assert flags["check"] == "--check"
    assert not flags.keys() & {"job_namespace", "kafka_namespace", "event_time", "output_file"}


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
