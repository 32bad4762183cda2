"""An empty name, as of a variable of the shell that is not set, is never another file or folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.inprocess import streamt_ol_here
from support.manifests import FIXTURES

from streamt_ol.cli.commands import COMMANDS, load
from streamt_ol.cli.parameters import declared

EVENTS = str(FIXTURES / "manifests" / "demo.expected.jsonl")
INPUTS = [
    ["export", "", "--job-namespace", "j", "--kafka-namespace", "kafka://b:9092"],
    ["stage", "load-manifest", ""],
    ["validate", ""],
    ["validate", EVENTS, ""],
    ["check", "", "--for", "marquez"],
    ["send", "", "--to", "file", "--path", "sent.jsonl"],
    ["graph", ""],
    ["diff", "", EVENTS],
    ["diff", EVENTS, ""],
]
FILES = [
    (command, flag)
    for command in COMMANDS
    for one in declared(load(command)[0]).values()
    for flag in one.flags
    if one.kind in (Path, Path | None)
]


@pytest.mark.parametrize("words", INPUTS, ids=" ".join)
def test_an_input(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stream_project.yml").write_text("project: {name: here}\n")
    ran = streamt_ol_here(*words)
    assert ran.status == 1
    assert ran.stderr.startswith(b"E501_PARSE_ERROR: the ")
    assert b" cannot be read: its name is empty\n" in ran.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["stream_project.yml"]


def test_every_command_that_takes_files_is_tried() -> None:
    assert {("send", "--rejected"), ("graph", "--output-file"), ("apply", "--manifest")} < {*FILES}


@pytest.mark.parametrize("value", ["", "."])
@pytest.mark.parametrize(("command", "flag"), FILES)
def test_the_file_of_an_option(command: str, flag: str, value: str) -> None:
    for words in ([flag, value], [f"{flag}={value}"]):
        ran = streamt_ol_here(command, *words)
        assert ran.status == 2
        assert ran.stderr.startswith(
            f"E500_USAGE_ERROR: Invalid value for '{flag}': the value is empty or '.'".encode()
        )


def test_a_work_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = streamt_ol_here("validate", EVENTS, "--work-dir", "")
    assert (ran.status, ran.stderr.partition(b"\n")[0]) == (
        2, b"E500_USAGE_ERROR --work-dir: the name of the work directory is empty",
    )  # fmt: skip
    assert not [*tmp_path.iterdir()]
