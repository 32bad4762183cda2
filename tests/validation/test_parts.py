"""An event is explained part by part as the reference validator and the rules explain it."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.openlineage_events import (
    Event,
    dataset_event,
    facet,
    job_event,
    mutated,
    random_event,
    run_event,
    topic,
)
from support.switches import Always, Never

from streamt_ol.openlineage.events import kind_of
from streamt_ol.reading.raw import Chunk, RawEvent
from streamt_ol.validation import checker, events
from streamt_ol.validation.accept.schema import accepts
from streamt_ol.validation.checker import check_chunk
from streamt_ol.validation.explain import judging, own, schema
from streamt_ol.validation.explain.containers import UnknownError
from streamt_ol.validation.explain.own import OwnFaults
from streamt_ol.validation.fast_path import FastPath
from streamt_ol.validation.faulty_path import FaultyPath
from streamt_ol.validation.options import Settings
from streamt_ol.validation.stream.state import StreamState

if TYPE_CHECKING:
    from streamt_ol.validation.findings import Finding

FOREIGN = "https://example.com/integration/1.2"


def by_parts(path: FaultyPath, event: Event) -> list[Finding]:
    said = path.said(str(kind_of(event)), orjson.dumps(event))
    found = [found for one in said for found in one.findings()]
    for one in said:
        assert [*one.rules] == [found.rule for found in one.findings()]
        assert one.severities == {found.severity for found in one.findings()}
    return sorted(found)


def of_whole(event: Event) -> list[Finding]:
    said = events.said_of_whole(str(kind_of(event)), event)
    return sorted(found for one in said for found in one.findings())


@settings(max_examples=1500)
@given(st.integers(0, 2**64 - 1))
def test_parts_are_said_what_the_whole_is(seed: int) -> None:
    random, path = Random(seed), FaultyPath()
    event = random_event(random)
    for _ in range(random.randrange(4)):
        event = mutated(random, event)
    if kind_of(event) is None:
        return
    expected = of_whole(event)
    for _ in range(2):  # the second time from memory
        assert by_parts(path, event) == expected


@pytest.mark.parametrize("seed", range(4))
def test_what_is_remembered_of_other_events_changes_nothing(seed: int) -> None:
    random, path, compared = Random(5000 + seed), FaultyPath(), 0
    for _ in range(500):
        event = mutated(random, random_event(random))
        kind = kind_of(event)
        if kind is not None and not accepts(kind)(event):
            assert by_parts(path, event) == of_whole(event), event
            compared += 1
    assert compared > 150


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of events that the reference validator was asked about."""
    kinds: list[str] = []
    real = schema.schema_findings

    def counted(kind: str, event: Event) -> list[Finding]:
        kinds.append(kind)
        return real(kind, event)

    monkeypatch.setattr(schema, "schema_findings", counted)
    return kinds


def test_events_with_the_same_fault_are_judged_once(asked: list[str]) -> None:
    path = FaultyPath()
    for number in range(50):
        event = run_event("DONE", inputs=[{"namespace": "a", "name": f"n{number}"}])
        event["run"]["runId"] = f"d46e465b-d358-4d32-83d4-df660ff614{number:02}"
        event["job"]["name"] = f"job {number}"
        (found,) = by_parts(path, event)
        assert (found.rule, found.pointer) == ("OL-R011", "/eventType")
    assert asked == ["RunEvent"]


WRONG_TEXTS = ["yesterday", "", "  ", "no text", "x" * 500, "password=hunter2", "a\nb", "'"]


@pytest.mark.parametrize(
    ("pointer", "rule"),
    [
        ("/eventTime", "OL-R013"),
        ("/producer", "OL-R014"),
        ("/schemaURL", "OL-R014"),
        ("/eventType", "OL-R011"),
        ("/run", "OL-R011"),
        ("/run/runId", "OL-R015"),
        ("/run/facets", "OL-R011"),
        ("/job/facets", "OL-R011"),
        ("/inputs", "OL-R011"),
        ("/run/facets/nominalTime/nominalStartTime", "OL-R013"),
        ("/run/facets/parent/run/runId", "OL-R015"),
        ("/job/facets/jobType", "OL-R021"),
    ],
)
def test_wrong_texts_are_judged_once_and_each_is_shown(
    pointer: str, rule: str, asked: list[str]
) -> None:
    path = FaultyPath()
    *within, name = pointer.split("/")[1:]
    for text in WRONG_TEXTS:
        event = run_event(inputs=[])
        parent = {"run": {"runId": event["run"]["runId"]}, "job": {"namespace": "a", "name": "b"}}
        event["run"]["facets"] = {
            "nominalTime": facet("run", "nominalTime", nominalStartTime=event["eventTime"]),
            "parent": facet("run", "parent", **parent),
        }
        entity = event
        for key in within:
            entity = entity[key]
        entity[name] = text
        found = by_parts(path, event)
        assert found == of_whole(event)
        assert rule in {one.rule for one in found}
        asked.pop()  # that of the whole
    assert len(asked) <= 2  # a text, a blank one


def test_a_fault_in_an_element_keeps_its_index_and_its_value(asked: list[str]) -> None:
    path = FaultyPath()
    for index in (0, 1, 2, 1):
        inputs: list[Any] = [{"namespace": "a", "name": f"n{number}"} for number in range(3)]
        inputs[index]["name"] = " " * (index + 1)
        (found,) = by_parts(path, job_event(inputs=inputs))
        assert found.pointer == f"/inputs/{index}/name"
        assert f"'{' ' * (index + 1)}'" in found.message
    assert asked == ["JobEvent"]


def test_many_faults_of_one_event_are_judged_once(asked: list[str]) -> None:
    inputs: list[Any] = [{"namespace": f"n{number}", "name": number} for number in range(400)]
    found = by_parts(FaultyPath(), job_event(inputs=inputs))
    assert {one.message for one in found} == {
        f"expected a string, found the number {number}" for number in range(400)
    }
    assert asked == ["JobEvent"]


def test_a_facet_with_a_value_of_its_own_is_judged_once(asked: list[str]) -> None:
    path = FaultyPath()
    for number in range(50):
        event = job_event()
        event["job"]["facets"]["team"] = {"_schemaURL": "urn:a", "number": number, "x": [number]}
        event["job"]["facets"]["sql"] = facet("job", "sql", query=number, dialect=f"d{number}")
        found = {one.pointer: one.message for one in by_parts(path, event)}
        assert found == {
            "/job/facets/team/_producer": "required, but missing",
            "/job/facets/sql/query": f"expected a string, found the number {number}",
        }
    assert asked == ["JobEvent"]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch, asked: list[str]) -> None:
    monkeypatch.setattr(judging, "REMEMBERED", 10_000)
    path = FaultyPath()
    for number in range(100):
        event = job_event()
        event["job"]["facets"][f"f{number}"] = {}
        for _ in range(2):
            by_parts(path, event)
        assert len(path._parts._remembered._known) <= 10
    assert len(asked) == 100


def direct(event: Event | bytes) -> Any:
    line = event if isinstance(event, bytes) else orjson.dumps(event)
    return FastPath().passes(line + b"\n", 7, StreamState())


@pytest.mark.parametrize(
    "text",
    [
        b'{"eventTime":1e15,"eventTime":1e15,"job":{"namespace":"a","name":"b"}}',
        b'{"eventTime":1e15,"x":0,"job":{"namespace":"a","name":"b"}}',
        b'{"eventTime":123456789012345678901,"job":{"namespace":"a","name":"b"}}',
        b'{"job":{"namespace":"a","name":["\xff"]}}',
        b'{"job":{"namespace":"a","name":[{"x":1,"x":1}]}}',
        b'{"job":{"namespace":"a","name":{"x":1,"x":1}}}',
        b'{"run":{"facets":{"x":1e999}}}',
        b'{"run":{"facets":{"x":"\\ud800"}}}',
        b'{"run":{"facets":' + b"[" * 300 + b"]" * 300 + b"}}",
        b'{"run":{},"dataset":{"facets":{"\xff":1}}}',
        b'{"dataset":{},"inputs":[{"facets":{"a":1,"a":2}}]}',
        b'{"dataset":{},"run":{"facets":{"a":1,"a":2}}}',
        b'{"dataset":{},"job":{}}',
        b'{"eventTime":1}',
    ],
)
def test_what_only_a_parser_can_tell_is_left_to_it(text: bytes) -> None:
    assert direct(text) is None


@pytest.mark.parametrize(
    ("facets", "pointers"),
    [
        (b'{"a":{"_producer":"urn:a","_schemaURL":"urn:a","x":1,"x":2}}', {"/a/x"}),
        (
            b'{"a":{"_producer":"urn:a","_schemaURL":"urn:a","x":[123456789012345678901]}}',
            {"/a/x/0"},
        ),
        (b'{"a":{"_producer":"urn:a","_producer":7,"_schemaURL":"urn:a"}}', {"/a/_producer"}),
    ],
)
def test_faults_of_json_in_a_container_are_said_where_they_stand(
    facets: bytes, pointers: set[str]
) -> None:
    event = orjson.dumps({**run_event(), "producer": FOREIGN})
    passed = direct(event.replace(b'"run":{', b'"run":{"facets":' + facets + b","))
    assert passed is not None
    found = [found for one in passed.said for found in one.findings()]
    assert {one.pointer for one in found} == {f"/run/facets{one}" for one in pointers}


def test_what_is_nested_too_deep_for_a_frame_is_unknown() -> None:
    deep: Any = []
    for _ in range(240):
        deep = [deep]
    path = FaultyPath()
    event = job_event(inputs=[deep])
    with pytest.raises(UnknownError):
        path.said("JobEvent", b'{"eventTime":123456789012345678901}')
    assert by_parts(path, event) == of_whole(event)


OWN = (
    lambda: run_event("START", inputs=[topic("a"), topic("b")]),
    lambda: run_event("FAIL"),
    job_event,
    dataset_event,
)


@settings(max_examples=800)
@given(st.integers(0, 2**64 - 1), st.sampled_from(["OL-R013", "OL-R051", "OL-R050"]))
def test_own_events_are_said_from_memory_what_they_are_without(seed: int, ignored: str) -> None:
    random, faults = Random(seed), OwnFaults()
    event = random.choice(OWN)()
    for _ in range(random.randrange(1, 4)):
        event = mutated(random, event)
    if kind_of(event) is None:
        return
    for rules in (frozenset[str](), frozenset({ignored}), frozenset[str]()):
        for time in (event.get("eventTime"), "2026-01-02T03:04:05+01:00", "now", "2026-01-02", ""):
            event["eventTime"] = time
            said = faults.said(event, rules, events.check_event)
            expected = sorted(own.findings(event, rules, events.check_event))
            assert sorted(said.findings()) == expected
            assert sorted(said.rules) == sorted(one.rule for one in expected)
            assert said.severities == {one.severity for one in expected}


def test_own_events_with_the_same_fault_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[bytes] = []

    def judge(data: bytes, *_: object) -> list[Finding]:
        judged.append(data)
        return []

    monkeypatch.setattr(own, "judged", judge)
    faults = OwnFaults()
    for number in range(50):
        event = run_event("START", more=1)
        event["eventTime"] = f"2026-01-31T23:59:{number:02}Z"
        event["run"]["runId"] = f"d46e465b-d358-4d32-83d4-df660ff614{number:02}"
        faults.said(event, frozenset(), events.check_event)
    assert len(judged) == 1


@pytest.mark.parametrize("indent", [None, 2])
def test_an_event_of_unusual_text_is_noted_as_it_was_written(indent: int | None) -> None:
    """An escape, a duplicate key: the frame is read of the text that the value is written as."""
    event = run_event("START")
    event["job"]["name"] = "caf\u00e9"
    event["producer"] = FOREIGN
    text = json.dumps(event, indent=indent).encode()
    twice = text.replace(b'"eventType"', b'"eventType": "FAIL", "eventType"')
    for one in (text, twice):
        found = []
        for switch in (Always(), Never()):
            state = StreamState()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(checker, "shared", lambda switch=switch: switch)
                events_ = (RawEvent(one, 1, 0),)
                result = check_chunk(Chunk(1, 0, events=events_), Settings(1 << 20), state)
            found.append((sorted(result.findings), dict(+result.kinds), state.runs, state.names))
        assert found[0] == found[1]
        assert len(found[0][0]) == (one is twice)
