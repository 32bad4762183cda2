"""The envelope of `--output json` keeps the JSON Schema that the docs ship."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.inprocess import streamt_ol_here
from support.manifests import FIXTURES

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "envelope.schema.json").read_text("utf-8"))
VALID = Draft202012Validator(SCHEMA)
DEMO = str(FIXTURES / "manifests" / "demo.json")
EVENTS = str(FIXTURES / "manifests" / "demo.expected.jsonl")
BROKEN = str(FIXTURES / "events" / "broken.jsonl")
PROJECTS = FIXTURES / "projects"
NAMESPACES = ["--job-namespace", "jobs", "--kafka-namespace", "kafka://b.example:9092"]
LINES: list[tuple[int, list[str], set[str]]] = [
    # The exit status, the command line, and the parts that its first problem has.
    (0, ["export", DEMO, *NAMESPACES], {"pointer"}),
    (0, ["export", "--project-dir", str(PROJECTS / "demo"), *NAMESPACES],
     {"file", "line", "pointer"}),
    (1, ["export", DEMO], {"option"}),
    (1, ["export", DEMO, *NAMESPACES, "--event-time", "now"], {"option"}),
    (1, ["export", "absent.json"], {"file"}),
    (1, ["export", "--project-dir", str(PROJECTS / "bad_not_yaml"), *NAMESPACES],
     {"file", "line"}),
    (1, ["export", "--project-dir", str(PROJECTS / "bad_several_brokers"), "--job-namespace", "j"],
     {"file", "line", "option"}),
    (1, ["export", DEMO, *NAMESPACES, "--output-file", "/dev/null/x"], {"option"}),
    (2, ["export", "--nonsense"], set()),
    (2, ["nonsense"], set()),
    (0, ["validate", EVENTS], set()),
    (1, ["validate", BROKEN], set()),
    (0, ["check", EVENTS, "--for", "marquez"], set()),
    (1, ["export", "--project-dir", str(PROJECTS / "demo"), *NAMESPACES, "--check", EVENTS],
     {"file"}),
    (2, [], set()),
    (1, ["check", EVENTS, "--for", "all"], {"file", "line"}),
    (1, ["check", "absent.jsonl", "--for", "marquez"], {"file"}),
    (1, ["send", "absent.jsonl", "--to", "file", "--path", "absent/x"], {"file"}),
    (1, ["send", str(FIXTURES / "events"), "--to", "file", "--path", "absent/x"], {"file"}),
    (1, ["send", BROKEN, "--to", "marquez", "--url", "http://127.0.0.1:1", "--retries", "0"],
     {"file", "line"}),
    (1, ["send", BROKEN, "--to", "file", "--path", "/dev/null/x"], {"file", "line"}),
    (2, ["send", EVENTS, "--to", "nowhere"], {"option"}),
    (2, ["forward"], set()),
    (1, ["run", "--job-name", "x", "--", "true"], {"option"}),
    (1, ["run", "--job-name", "x", "--job-namespace", "j", "--input", "https://u:p@h", "n", "--",
         "true"], {"pointer"}),
    (1, ["run", "--job-name", " ", "--job-namespace", "j", "--", "true"], {"pointer"}),
    (2, ["run", "--job-name", "x", "--input", "a", "--", "true"], {"option"}),
    (1, ["run", "--job-name", "x", "--job-namespace", "j", "--parent", "a", "b", "c", "--", "true"],
     {"option"}),
    (1, ["check", EVENTS, "--for", "openmetadata", "--namespace-map", BROKEN], {"file"}),
    (2, ["validate", EVENTS, "--output-file", EVENTS], {"option"}),
    (2, ["graph", EVENTS, "--output-file", EVENTS], {"option"}),
    (0, ["graph", EVENTS], set()),
    (0, ["schemas"], set()),
    (0, ["stage", "--list"], set()),
]  # fmt: skip


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert not VALID.is_valid({"status": "ok"})


@pytest.mark.parametrize(("status", "words", "parts"), LINES)
def test_every_envelope_keeps_it(
    status: int, words: list[str], parts: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(tmp_path / "runs.jsonl"))
    ran = streamt_ol_here("--output", "json", *words)
    assert ran.status == status, ran
    envelope = json.loads(ran.stdout)
    VALID.validate(envelope)
    problems: list[dict[str, Any]] = envelope["errors"] + envelope["warnings"]
    for problem in problems[:1]:
        assert problem.keys() & {"file", "line", "pointer", "option"} == parts
    assert problems or not parts


@pytest.mark.parametrize(
    "problem",
    [
        {"code": "E506_OPENLINEAGE_INVALID"},
        {"code": "W110_OPENLINEAGE_SCHEMA_INCOMPLETE", "message": "a warning"},
        {"code": "E506_X", "message": "m", "line": 3},
        {"code": "E506_X", "message": "m", "location": "--x", "option": "--x"},
        {"code": "E506_X", "message": "m", "location": "a/b", "pointer": "a/b"},
        {"code": "E506_X", "message": "m", "place": "somewhere"},
    ],
)
def test_other_problems_do_not(problem: dict[str, Any]) -> None:
    envelope = {"status": "error", "command": "x", "data": {}, "errors": [problem], "warnings": []}
    assert not VALID.is_valid(envelope)
