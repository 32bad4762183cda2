"""The report as JUnit XML: a suite for each input, a failing case for each error."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from streamt_ol.redaction import printable, printable_line, shown_path
from streamt_ol.validation.findings import ERROR
from streamt_ol.validation.report import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamt_ol.validation.report.collector import Problem, Report


def report(found: Report, _colour: bool) -> Iterator[bytes]:
    """Yield one ``testsuites`` document; an input without errors has one passing case."""
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="streamt-ol validate">\n'
    for name in dict.fromkeys(found.files):
        counts: Counter[str] = Counter()
        for file, severities in zip(found.files, found.inputs, strict=True):
            counts.update(severities if file == name else {})
        yield from _suite(name, counts, [one for one in found.problems if one.file == name])
    yield b"</testsuites>\n"


def _suite(name: str, counts: Counter[str], problems: list[Problem]) -> Iterator[bytes]:
    """Yield a suite; ``counts`` has all problems of the input, ``problems`` those shown."""
    errors, hidden = counts[ERROR], counts.total() - len(problems)
    cases = [_case(one) for one in problems]
    if not errors:
        cases.insert(0, f'  <testcase classname={_attribute(shown_path(name))} name="events"/>\n')
    tests = len(cases) + hidden
    if hidden:
        cases.append(f"  <system-out>{text.hidden(hidden)}</system-out>\n")
    yield _bytes(
        f'<testsuite name={_attribute(shown_path(name))} tests="{tests}" failures="{errors}">\n'
        f"{''.join(cases)}</testsuite>\n"
    )


def _case(problem: Problem) -> str:
    where = f"{shown_path(problem.file)}:{problem.line}"
    pointer, message = shown_path(problem.pointer), printable_line(problem.message)
    name = f"{problem.rule} {where} {pointer}".rstrip()
    text = _text(f"{where}: {problem.severity} {problem.rule} {pointer}: {message}")
    body = f"<system-out>{text}</system-out>"
    if problem.severity == ERROR:
        attributes = f"type={_attribute(problem.rule)} message={_attribute(message)}"
        body = f"<failure {attributes}>{text}</failure>"
    attributes = f"classname={_attribute(shown_path(problem.file))} name={_attribute(name)}"
    return f"  <testcase {attributes}>{body}</testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(printable(text, len(text)))  # XML cannot hold control characters


def _text(text: str) -> str:
    return escape(printable(text, len(text)))


def _bytes(text: str) -> bytes:
    return text.encode(errors="backslashreplace")
