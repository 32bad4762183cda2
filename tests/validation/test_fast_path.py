"""The fast path and what is remembered of faults: equal reports without them, to the byte."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from support.fuzzed_lines import fuzzed_lines
from support.openlineage_events import dataset_event, job_event, run_event

from streamt_ol.reading.opening import openers
from streamt_ol.validation import checker, events, switch
from streamt_ol.validation.accept import verdicts
from streamt_ol.validation.accept.frames import frame
from streamt_ol.validation.explain.schema import schema_findings
from streamt_ol.validation.explain.skeleton import Remembered
from streamt_ol.validation.fast_path import FastPath
from streamt_ol.validation.options import Options, Settings
from streamt_ol.validation.report import REPORTERS, reporter
from streamt_ol.validation.run import validate
from streamt_ol.validation.stream.state import StreamState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Before a release a million: FUZZED_LINES=1000000.
MANY_LINES = int(os.environ.get("FUZZED_LINES", "20000"))
AT_ONCE = 2_000
FOREIGN = "https://example.com/integration/1.2"


class Always(switch.Switch):
    """A fast path that is always on, and counts what passed."""

    def __init__(self) -> None:
        super().__init__()
        self.path = FastPath()
        self.passed = 0

    def start(self, count: int) -> Callable[[bytes, int, StreamState], str | None]:
        return self.path.passes

    def settle(self, count: int, left: int) -> None:
        self.passed += count - left


class Never(switch.Switch):
    """A fast path that is always off."""

    def start(self, count: int) -> None:
        return None


class Forgetful:
    """Remembers no findings."""

    findings = staticmethod(schema_findings)


def in_every_format(path: Path, used: switch.Switch, monkeypatch: pytest.MonkeyPatch) -> Any:
    remembered = Forgetful if isinstance(used, Never) else Remembered(schema_findings)
    monkeypatch.setattr(events, "_remembered", lambda: remembered)
    monkeypatch.setattr(checker, "shared", lambda: used)
    options = Options(Settings(1 << 20), 100_000, strict=False)
    report = validate(openers([str(path)]), options, lambda size, events: None)
    return {name: b"".join(reporter(name)(report, False)) for name in REPORTERS}, report


@pytest.mark.parametrize("count", [4_000, pytest.param(MANY_LINES, marks=pytest.mark.slow)])
def test_reports_with_and_without_it_are_equal(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, always = tmp_path / "events.jsonl", Always()
    for seed in range(count // AT_ONCE):
        path.write_bytes(b"".join(fuzzed_lines(Random(seed), AT_ONCE)))
        fast, _ = in_every_format(path, always, monkeypatch)
        full, report = in_every_format(path, Never(), monkeypatch)
        assert fast == full, f"seed {seed}"
        assert report.severities["error"] > AT_ONCE // 10
    assert always.passed > count // 10


def line(event: dict[str, Any]) -> bytes:
    return orjson.dumps({**event, "producer": FOREIGN})


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (run_event("START"), "RunEvent"),
        (run_event("RUNNING", inputs=[], outputs=[]), "RunEvent"),
        (job_event(), "JobEvent"),
        (dataset_event(), "DatasetEvent"),
    ],
)
def test_usual_events_pass(event: dict[str, Any], kind: str) -> None:
    state = StreamState()
    assert FastPath().passes(b" " + line(event) + b"\r\n", 0, state) == kind
    assert state.runs or state.statics


START = line(run_event("START"))


@pytest.mark.parametrize(
    "damaged",
    [
        START.replace(b'"eventType":"START",', b""),
        START.replace(b'"START"', b'"DONE"'),
        START.replace(b'"eventType"', b'"eventTyp\\u0065"'),
        START.replace(b'"eventType":"START"', b'"eventType":"START","eventType":"FAIL"'),
        START.replace(FOREIGN.encode(), b"https://github.com/conduktor/streamt"),
        START.replace(FOREIGN.encode(), b"no uri"),
        START.replace(b"2026-01-31", b"2026-01-32"),
        START.replace(b"23:59:59Z", b"23:59:60Z"),
        START.replace(b"23:59:59Z", b"23:59:59.Z"),
        START.replace(b"23:59:59Z", b"23:59:59+01:00"),
        START.replace(b'"name":"streamt/shop/commands/test"', b'"name":" "'),
        START.replace(b'"runId":"d46e465b-', b'"runId":"d46e465b '),
        START.replace(b'"BATCH"', b"1"),
        START.replace(b'"processingType"', b'"jobType":"TEST","processingType"'),
        START.replace(b"#/$defs/RunEvent", b"#/$defs/JobEvent"),
        START[:-1] + b',"dataset":{"namespace":"a","name":"b"}}',
        START[:-1] + b',"inputs":[{"namespace":"a","name":"b"},{"namespace":"a","name":"b"}]}',
        START[:-1] + b',"inputs":[{"namespace":"a","name":"b","outputFacets":{}}]}',
        START[:-1] + b',"outputs":[{"namespace":"a","name":"b","inputFacets":{}}]}',
        START[:-1] + b',"inputs":[{"namespace":"a","name":"b","facets":null}]}',
        START[:-1] + b',"inputs":[{"namespace":"a","name":"b","facets":{"x":1}}]}',
        START[:-1] + b',"inputs":null}',
        START[:-1] + b',"more":1}',
        START[:-1] + b',"more":"\x01"}',
        START + b" x",
        b"\xef\xbb\xbf" + START,
        b"",
        b"[" * 100_000,
        START[:-1] + b',"inputs":[{"namespace":"a","name":"b","facets":' + b"[" * 100_000,
    ],
)
def test_whatever_is_unusual_does_not_pass(damaged: bytes) -> None:
    assert damaged != START
    state = StreamState()
    assert FastPath().passes(damaged, 0, state) is None
    assert not state.runs
    assert not state.names


def test_a_frame_keeps_containers_of_facets_as_they_are_written() -> None:
    found = frame(
        b'{"eventTime":"t","producer":"p","schemaURL":"s","run":{"runId":"r","facets":{ }}}'
    )
    assert found is not None
    assert bytes(found.run.facets) == b"{ }"  # type: ignore[union-attr, arg-type]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "REMEMBERED", 10_000)
    remembered = verdicts.Verdicts("dataset")
    for number in range(1_000):
        assert remembered[b'{"x":%d}' % number] is False
        assert len(remembered) <= 10_000 // 150
    assert remembered[b'{"x":"' + b"a" * 100_000 + b'"}'] is False
    assert max(map(len, remembered)) < 100


def test_it_is_off_while_no_facet_repeats_and_comes_back() -> None:
    used = switch.Switch()
    assert used.start(10) is None  # too few to pay for it
    passes = used.start(1_000)
    assert passes is not None
    state = StreamState()
    for number in range(1_000):
        facets = b'{"n":{"_producer":"urn:a","_schemaURL":"urn:b","n":%d}}' % number
        assert passes(
            START.replace(b'"run":{', b'"run":{"facets":%b,' % facets).replace(
                b'"BATCH"', b'"BATCH%d"' % number
            ),
            number,
            state,
        )
    used.settle(1_000, 0)
    assert used.start(1_000) is None
    assert used.start(1_000) is not None


def test_it_is_off_while_most_events_are_left_to_others() -> None:
    used = switch.Switch()
    assert used.start(1_000)
    used.settle(1_000, 600)
    assert used.start(1_000) is None
