"""One line for each problem, ``file:line: error OL-R012 /job/name: message``, and a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.redaction import printable_line, shown_path
from streamt_ol.validation.findings import ERROR, NOTE, WARNING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamt_ol.validation.report.collector import Problem, Report

_SHOW_MORE = "--max-problems shows more"
_COLOURS = {ERROR: "\x1b[31m", WARNING: "\x1b[33m", NOTE: "\x1b[36m"}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def report(found: Report, colour: bool) -> Iterator[bytes]:
    """Yield the report as lines of text."""
    for problem in found.problems:
        yield f"{_line(problem, colour)}\n".encode()
    if found.hidden:
        yield f"... and {cut(found)}\n".encode()
    summary_line = summary(found)
    yield f"{_BOLD}{summary_line}{_PLAIN}\n".encode() if colour else f"{summary_line}\n".encode()


def cut(found: Report) -> str:
    """Return the words for problems that are counted, but not shown."""
    return f"{found.hidden} more, counted below ({_SHOW_MORE})"


def hidden(count: int) -> str:
    """Return the words for ``count`` problems that no summary counts."""
    return f"{count} more problems are counted, but not shown ({_SHOW_MORE})"


def summary(found: Report) -> str:
    """Return the one line of counts: events by kind, problems by severity, then by rule."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(found.kinds.items()))
    events = f"{found.events} event{'s' * (found.events != 1)}"
    files = f"{len(found.files)} input{'s' * (len(found.files) != 1)}"
    blank = f", {found.blank} blank line{'s' * (found.blank != 1)}" if found.blank else ""
    counts = ", ".join(
        f"{count} {name}{'s' * (count != 1)}" for name, count in found.severities.items()
    )
    rules = ", ".join(f"{rule} {count}" for rule, count in found.rules.items())
    verdict = "valid" if found.valid else "not valid"
    return f"{verdict}: {events}{f' ({kinds})' if kinds else ''} in {files}{blank}: {counts}" + (
        f" ({rules})" if rules else ""
    )


def _line(problem: Problem, colour: bool) -> str:
    where = f"{shown_path(problem.file)}:{problem.line}:"
    pointer = f" {shown_path(problem.pointer)}" if problem.pointer else ""
    severity = problem.severity
    if colour:
        severity = f"{_COLOURS[severity]}{severity}{_PLAIN}"
    return f"{where} {severity} {problem.rule}{pointer}: {printable_line(problem.message)}"
