"""The report as JSON: streamt's envelope, or one problem per line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamt_ol.problems import INVALID
from streamt_ol.redaction import printable_json, printable_line, shown_path
from streamt_ol.validation.findings import ERROR
from streamt_ol.validation.report.text import summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamt_ol.validation.report.collector import Problem, Report


def envelope(found: Report, _colour: bool) -> Iterator[bytes]:
    """Yield the envelope of ``--output json``; problems are data, and an error says that some are.

    ``data`` has the counts and the first problems; ``errors`` is empty for valid input.
    """
    import orjson

    errors = [error.record() for error in found.failures]
    if found.severities[ERROR] > found.rules.get("OL-R061", 0):
        errors.append({"code": INVALID, "message": summary(found)})
    data = {
        "valid": found.valid,
        "files": [shown_path(name) for name in found.files],
        "events": found.events,
        "kinds": found.kinds,
        "blank_lines": found.blank,
        "severities": found.severities,
        "rules": found.rules,
        "hidden": found.hidden,
        "problems": [record(problem) for problem in found.problems],
    }
    document = {
        "status": "ok" if found.valid else "error",
        "command": "validate",
        "data": data,
        "errors": errors,
        "warnings": [],
    }
    yield printable_json(orjson.dumps(document)) + b"\n"


def lines(found: Report, _colour: bool) -> Iterator[bytes]:
    """Yield one JSON object per line for each problem, and one that counts those not shown."""
    import orjson

    for problem in found.problems:
        yield printable_json(orjson.dumps(record(problem))) + b"\n"
    if found.hidden:
        yield orjson.dumps({"hidden": found.hidden}) + b"\n"


def record(problem: Problem) -> dict[str, Any]:
    """Return a problem as a JSON object."""
    return {
        "file": shown_path(problem.file),
        "line": problem.line,
        "severity": problem.severity,
        "rule": problem.rule,
        "pointer": shown_path(problem.pointer),
        "message": printable_line(problem.message),
    }
