"""The fast path and what is remembered of faults: equal reports without them, to the byte."""

from __future__ import annotations

import os
from random import Random
from threading import Thread
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from msgspec import Raw
from support.fuzzed_lines import fuzzed_lines
from support.openlineage_events import dataset_event, job_event, run_event, topic
from support.switches import Always, Never

from streamt_ol.reading.opening import openers
from streamt_ol.validation import checker, events, switch
from streamt_ol.validation.accept import verdicts
from streamt_ol.validation.accept.frames import decode
from streamt_ol.validation.explain import own
from streamt_ol.validation.explain.explanation import Said, explanation
from streamt_ol.validation.fast_path import FastPath
from streamt_ol.validation.options import Options, Settings
from streamt_ol.validation.report import REPORTERS, reporter
from streamt_ol.validation.run import validate
from streamt_ol.validation.stream.state import StreamState

if TYPE_CHECKING:
    from pathlib import Path


# Before a release a million: FUZZED_LINES=1000000.
MANY_LINES = int(os.environ.get("FUZZED_LINES", "20000"))
AT_ONCE = 2_000
FOREIGN = "https://example.com/integration/1.2"


def own_as_whole(event: dict[str, Any], ignored: frozenset[str]) -> Said:
    return Said(explanation(own.findings(event, ignored, events.check_event)))


def in_every_format(path: Path, used: switch.Switch, monkeypatch: pytest.MonkeyPatch) -> Any:
    options = Options(Settings(1 << 20), 100_000, strict=False)
    with monkeypatch.context() as patch:
        patch.setattr(checker, "shared", lambda: used)
        if isinstance(used, Never):
            patch.setattr(events, "said", events.said_of_whole)
            patch.setattr(events, "said_of_own", own_as_whole)
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
    passed = FastPath().passes(b" " + line(event) + b"\r\n", 0, state)
    assert passed == (kind, ())
    assert state.runs or state.statics


START = line(run_event("START"))


@pytest.mark.parametrize(
    "damaged",
    [
        START.replace(b'"eventType":"START",', b""),
        START.replace(b'"START"', b'"DONE"'),
        START.replace(b'"eventType"', b'"eventTyp\\u0065"'),
        START.replace(b'"eventType":"START"', b'"eventType":"START","eventType":"FAIL"'),
        START.replace(FOREIGN.encode(), b"no uri"),
        START.replace(b"2026-01-31", b"2026-01-32"),
        START.replace(b"23:59:59Z", b"23:59:60Z"),
        START.replace(b"23:59:59Z", b"23:59:59.Z"),
        START.replace(b"23:59:59Z", b"23:59:59+0100"),
        START.replace(b"23:59:59Z", b"23:59:59+24:00"),
        START.replace(b"23:59:59Z", b"23:59:59"),
        START.replace(b"23:59:59Z", b"23:59:59.123"),
        START.replace(b"23:59:59Z", b"23:59:59.123456"),
        START.replace(b"23:59:59Z", b"23:59:59.12345\xd9\xa3Z"),
        START.replace(b'"name":"streamt/shop/commands/test"', b'"name":" "'),
        START.replace(b'"runId":"d46e465b-', b'"runId":"d46e465b '),
        START.replace(b'"BATCH"', b"1"),
        START.replace(b'"processingType"', b'"jobType":"TEST","processingType"'),
        START.replace(b"https://openlineage.io/spec/2-0-2/OpenLineage.json#", b"#"),
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
def test_whatever_is_unusual_is_left_to_others_or_explained(damaged: bytes) -> None:
    assert damaged != START
    state = StreamState()
    passed = FastPath().passes(damaged, 0, state)
    if passed is None:
        assert not state.runs
        assert not state.names
        return
    found = sorted(found for one in passed.said for found in one.findings())
    whole = events.said_of_whole(passed.kind, orjson.loads(damaged))
    expected = sorted(found for one in whole for found in one.findings())
    assert [one for one in found if one.rule != "OL-R003"] == expected
    # A leap second, and what means nothing in a RunEvent, are right.
    assert found or b"23:59:60Z" in damaged or b'"dataset"' in damaged


def test_a_frame_keeps_containers_of_facets_as_they_are_written() -> None:
    found = decode(
        b'{"eventTime":"t","producer":"p","schemaURL":"s","run":{"runId":"r","facets":{ }}}'
    )
    assert bytes(found.run.facets) == b"{ }"  # type: ignore[union-attr, arg-type]


def own_line(event: dict[str, Any], **more: Any) -> bytes:
    return orjson.dumps({**event, **more}) + b"\n"


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (run_event("START", inputs=[topic("a"), topic("b")]), "RunEvent"),
        (run_event("FAIL"), "RunEvent"),
        (job_event(), "JobEvent"),
        (dataset_event(), "DatasetEvent"),
    ],
)
def test_events_of_streamt_pass(event: dict[str, Any], kind: str) -> None:
    path, state = FastPath(), StreamState()
    for position in range(3):
        time = f"2026-01-31T23:59:5{position}Z"
        assert path.passes(own_line(event, eventTime=time), position, state) == (kind, ())
    assert len(state.runs) + len(state.statics) == (1 if kind == "RunEvent" else 3)
    judged = path.judged
    assert judged < len(own_line(event)) * 1.1  # once, not three times
    for wrong in (
        {"eventTime": "2026-01-31T23:59:59+01:00"},
        {"more": 1},
        {"outputs": [topic("b"), topic("a")]},
    ):
        if kind != "JobEvent" or "outputs" not in wrong:
            assert path.passes(own_line(event, **wrong), 9, StreamState()) is None


@pytest.mark.parametrize("event", [run_event(), job_event(), dataset_event()])
@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        ("2-0-2", "1-0-5", "OL-R017"),
        ("2-0-2", "2-0-0", "OL-R017"),
        ("/$defs/", "/$defs/Other", "OL-R016"),
        ("openlineage.io", "example.com", "OL-R016"),
    ],
)
def test_events_of_other_cores_pass_with_what_is_to_say(
    event: dict[str, Any], before: str, after: str, rule: str
) -> None:
    url = event["schemaURL"].replace(before, after)
    passed = FastPath().passes(line({**event, "schemaURL": url}), 0, StreamState())
    assert passed is not None
    found = [found for one in passed.said for found in one.findings()]
    assert [(one.rule, one.pointer) for one in found] == [(rule, "/schemaURL")]


def test_what_an_earlier_event_stated_of_its_job_is_not_stated_by_the_next() -> None:
    path, silent = FastPath(), run_event()
    del silent["job"]["facets"]
    for event, types in ((run_event(), 1), (silent, 0), (run_event(), 1)):
        state = StreamState()
        assert path.passes(line(event), 0, state)
        assert len(state.types) == types


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "REMEMBERED", 10_000)
    judged: list[bytes] = []
    remembered = verdicts.Verdicts(judged.append)
    for number in range(1_000):
        for _ in range(2):
            remembered.of(Raw(b'{"x":%d}' % number))
    assert len(judged) == 1_000
    remembered.of(Raw(b'{"x":0}'))
    assert len(judged) == 1_001
    large = Raw(b'{"x":"' + b"a" * 100_000 + b'"}')
    assert [remembered.of(large), remembered.of(large)] == [None, None]
    assert len(judged) == 1_003
    assert remembered.judged == sum(map(len, judged))


def test_equal_digests_do_not_make_parts_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "xxh3_64_intdigest", lambda part: 1)
    remembered = verdicts.Verdicts(bytes.decode)
    for text in ("1", "2", "1"):
        assert remembered.of(Raw(text.encode())) == text


def test_it_is_off_while_no_facet_repeats_and_comes_back() -> None:
    used = switch.Switch()
    assert used.start(10) is None  # too few to pay for it
    path = used.start(1_000)
    assert path is not None
    state, size = StreamState(), 0
    for number in range(1_000):
        facets = b'{"n":{"_producer":"urn:a","_schemaURL":"urn:b","n":"%d%b"}}' % (
            number,
            b"x" * 500,
        )
        text = START.replace(b'"run":{', b'"run":{"facets":%b,' % facets)
        size += len(text)
        assert path.passes(text, number, state)
    used.settle(size, 1_000, 0)
    assert used.start(1_000) is None
    assert used.start(1_000) is not None


def test_it_is_off_while_most_events_are_left_to_others() -> None:
    used = switch.Switch()
    assert used.start(1_000)
    used.settle(1_000_000, 1_000, 600)
    assert used.start(1_000) is None


def test_each_thread_has_a_switch_of_its_own() -> None:
    found: list[switch.Switch] = []
    thread = Thread(target=lambda: found.append(switch.shared()))
    thread.start()
    thread.join()
    assert switch.shared() is switch.shared()
    assert found[0] is not switch.shared()
