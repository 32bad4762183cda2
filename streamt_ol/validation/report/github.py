"""The report as workflow commands, which GitHub shows as annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.redaction import printable_line, shown_path
from streamt_ol.validation.findings import ERROR, NOTE, WARNING
from streamt_ol.validation.report.text import cut, summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamt_ol.validation.report.collector import Report

_COMMANDS = {ERROR: "error", WARNING: "warning", NOTE: "notice"}
_IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_MESSAGE, ":": "%3A", ",": "%2C"}


def report(found: Report, _colour: bool) -> Iterator[bytes]:
    """Yield one command for each problem, then the summary as plain text."""
    for one in found.problems:
        title, file = f"{one.rule} {shown_path(one.pointer)}".rstrip(), shown_path(one.file)
        line = command(_COMMANDS[one.severity], one.message, file=file, line=one.line, title=title)
        yield f"{line}\n".encode()
    if found.hidden:
        hidden = command("notice", f"... and {cut(found)}", title="streamt-ol validate")
        yield f"{hidden}\n".encode()
    yield f"{summary(found)}\n".encode()


def command(name: str, message: str, **properties: object) -> str:
    """Return a workflow command, e.g. ``::error file=a.jsonl,line=3::message``, on one line."""
    listed = ",".join(
        f"{key}={_escaped(printable_line(str(value)), _IN_PROPERTY)}"
        for key, value in properties.items()
    )
    return f"::{name} {listed}::{_escaped(printable_line(message), _IN_MESSAGE)}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(character, character) for character in text)
