"""Messages of the stream rules name the identity, and where the earlier event stands."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest
from support.openlineage_events import Event

from streamt_ol.openlineage.events import EVENT_SCHEMA_URLS
from streamt_ol.reading import opening
from streamt_ol.validation.options import Options, Settings
from streamt_ol.validation.run import validate

if TYPE_CHECKING:
    from pathlib import Path

    from streamt_ol.validation.report.collector import Problem

RUN = "7d1f2a0e-5a44-4c0b-9f36-2b8f1a6c9d10"
URL = "https://openlineage.io/spec/facets/2-0-4/JobTypeJobFacet.json#/$defs/JobTypeJobFacet"


def run(job: str, state: str, second: int, kind: str = "") -> Event:
    event: Event = {
        "eventTime": f"2026-03-01T08:00:{second:02}Z", "eventType": state,
        "producer": "https://tools.example/x", "schemaURL": EVENT_SCHEMA_URLS["RunEvent"],
        "run": {"runId": RUN}, "job": {"namespace": "prod", "name": job},
    }  # fmt: skip
    if kind:
        facet = {"_producer": "https://tools.example/x", "_schemaURL": URL,
                 "processingType": kind, "integration": "X"}  # fmt: skip
        event["job"]["facets"] = {"jobType": facet}
    return event


def static(entity: str, name: str, **more: object) -> Event:
    kind = "DatasetEvent" if entity == "dataset" else "JobEvent"
    return {
        "eventTime": "2026-03-01T08:00:00Z", "producer": "https://tools.example/x",
        "schemaURL": EVENT_SCHEMA_URLS[kind], entity: {"namespace": "prod", "name": name}, **more,
    }  # fmt: skip


def problems(*paths: Path) -> list[Problem]:
    inputs = opening.openers([str(path) for path in paths])
    report = validate(inputs, Options(Settings(1 << 20), 100, False), lambda *_: None)
    return list(report.problems)


def said(path: Path, *events: Event) -> list[tuple[str, str, int, str]]:
    path.write_text("".join(json.dumps(one) + "\n" for one in events))
    return [(one.rule, one.severity, one.line, one.message) for one in problems(path)]


def test_a_run_of_two_jobs_is_one_fault_and_names_both(tmp_path: Path) -> None:
    path = tmp_path / "f"
    events = [run("unknown", "START", 0), run("nightly", "START", 1), run("nightly", "COMPLETE", 2)]
    assert said(path, *events) == [
        (
            "OL-R030", "error", 2,
            f"run {RUN} belongs to the job 'nightly' in 'prod' here, and to the job 'unknown' in "
            f"'prod' at {path}:1",
        )
    ]  # fmt: skip


def test_a_second_start_of_the_same_job_is_found_beside_another_job(tmp_path: Path) -> None:
    events = [run("a", "START", 0), run("b", "START", 1), run("a", "START", 2)]
    rules = [(rule, line) for rule, _, line, _ in said(tmp_path / "f", *events)]
    assert rules == [("OL-R030", 2), ("OL-R031", 3)]


def test_further_starts_and_ends_name_the_first(tmp_path: Path) -> None:
    path = tmp_path / "f"
    events = [run("a", "START", 0), run("a", "START", 1), run("a", "FAIL", 2), run("a", "ABORT", 3)]
    assert said(path, *events) == [
        ("OL-R031", "error", 2, f"a second START of run {RUN}; the first is at {path}:1"),
        ("OL-R032", "error", 4, f"a second terminal event of run {RUN}; the first is at {path}:3"),
    ]


def test_another_processing_type_is_a_warning_that_names_the_job(tmp_path: Path) -> None:
    path = tmp_path / "f"
    events = [run("a", "START", 0, "BATCH"), run("a", "COMPLETE", 1, "STREAMING")]
    message = f"the job 'a' in 'prod' is 'STREAMING' here, and was 'BATCH' at {path}:1"
    assert said(path, *events) == [("OL-R038", "warning", 2, message)]


@pytest.mark.parametrize("entity", ["dataset", "job"])
def test_an_identity_described_twice_is_named(entity: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first.gz", tmp_path / "second.json"
    events = [static(entity, "other"), static(entity, "orders")]
    first.write_bytes(gzip.compress(b"\n\n" + b"\n".join(json.dumps(e).encode() for e in events)))
    later = {**static(entity, "orders"), "producer": "https://tools.example/y"}
    second.write_text(json.dumps([static(entity, "third"), later], indent=1))
    [problem] = problems(first, second)
    assert (problem.rule, problem.file, problem.pointer) == ("OL-R039", str(second), f"/1/{entity}")
    assert problem.message == (
        f"the {entity} 'orders' in 'prod' is described for the same time already at {first}:4"
    )


def test_an_earlier_element_of_an_array_has_its_pointer(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text(json.dumps([run("a", "START", 0), run("b", "START", 1)]))
    [problem] = problems(path)
    assert problem.message.endswith(f"the job 'a' in 'prod' at {path}:1 /0")


def test_no_name_of_an_earlier_event_shows_a_secret(tmp_path: Path) -> None:
    secret = "https://user:hunter2@host/" + "x" * 70_000
    first, *_ = said(tmp_path / "f", run(secret, "START", 0), run("b", "START", 1))
    assert "hunter2" not in first[3]
    assert len(first[3]) < 600


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (b'{"a":18446744073709551616}', [("OL-R010", ""), ("OL-R005", "/a")]),
        (b'{"a":1e999}', [("OL-R010", ""), ("OL-R005", "/a")]),
        (b'{"a":1e999,}', [("OL-R002", "")]),
    ],
)
def test_an_event_with_a_large_number_is_judged_like_any_other(
    text: bytes, rules: list[tuple[str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "f"
    path.write_bytes(text + b"\n")
    assert sorted((one.rule, one.pointer) for one in problems(path)) == sorted(rules)


def test_a_byte_order_mark_before_a_later_line_is_no_fault(tmp_path: Path) -> None:
    line = json.dumps(static("job", "a")).encode()
    other = json.dumps(static("job", "b")).encode()
    path = tmp_path / "f"
    path.write_bytes(b"\xef\xbb\xbf" + line + b"\n\xef\xbb\xbf" + other + b"\n\xef\xbb\xbf\n")
    assert problems(path) == []
