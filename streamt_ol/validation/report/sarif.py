"""The report in SARIF 2.1.0, which code hosts show beside the lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from streamt_ol import __version__
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.redaction import printable_json, printable_line, shown_path
from streamt_ol.validation.report import text
from streamt_ol.validation.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamt_ol.validation.report.collector import Problem, Report

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_INDEX = {rule: index for index, rule in enumerate(RULES)}


def report(found: Report, _colour: bool) -> Iterator[bytes]:
    """Yield one SARIF log with one run: the rules of the table, the problems as results."""
    properties = {"events": found.events, "rules": found.rules, "hidden": found.hidden}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver()},
                "columnKind": "unicodeCodePoints",
                "results": [_result(problem) for problem in found.problems],
                "properties": properties,
                **(_cut(found) if found.hidden else {}),
            }
        ],
    }
    yield printable_json(json.dumps(log, indent=1).encode()) + b"\n"


def _cut(found: Report) -> dict[str, Any]:
    """Return what says that there are more problems than results."""
    notification = {"level": "warning", "message": {"text": text.hidden(found.hidden)}}
    return {
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": [notification]}]
    }


def _driver() -> dict[str, Any]:
    return {
        "name": "streamt-ol validate",
        "version": __version__,
        "informationUri": PRODUCER,
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": row.title},
                "help": {"text": row.passage},
                "defaultConfiguration": {"level": row.severity},
            }
            for rule, row in RULES.items()
        ],
    }


def _result(problem: Problem) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(shown_path(problem.file))},
            "region": {"startLine": problem.line},
        }
    }
    if problem.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": shown_path(problem.pointer)}]
    return {
        "ruleId": problem.rule,
        "ruleIndex": _INDEX[problem.rule],
        "level": problem.severity,
        "message": {"text": printable_line(problem.message)},
        "locations": [location],
    }
