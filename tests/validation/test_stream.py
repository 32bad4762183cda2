"""The stream rules: against a slow reference over whole events, and however a stream is cut."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from copy import deepcopy
from itertools import permutations
from random import Random
from typing import Any

import pytest
from support.openlineage_events import Event

from streamt_ol.openlineage.events import EVENT_SCHEMA_URLS, kind_of
from streamt_ol.openlineage.formats import instant
from streamt_ol.validation.stream import facts
from streamt_ol.validation.stream.facts import Moment, Run
from streamt_ol.validation.stream.rules import continuous_jobs, stream_findings
from streamt_ol.validation.stream.state import StreamState
from streamt_ol.validation.stream.times import in_utc, ticks
from streamt_ol.validation.stream.window import SPAN, Window

PRODUCER = "https://example.com/p"
RUNS = [f"{n:08x}-0000-4000-8000-{n:012x}" for n in (1, 2, 0xF0000000)]
TIMES = ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00.5Z",
         "2026-01-01T00:00:01Z", "2025-12-31T23:59:59-00:00"]  # fmt: skip
TERMINAL = ("COMPLETE", "ABORT", "FAIL")


def event(random: Random) -> Event:
    base = {"eventTime": random.choice(TIMES), "producer": PRODUCER}
    kind = random.choice(("RunEvent", "RunEvent", "RunEvent", "JobEvent", "DatasetEvent"))
    base["schemaURL"] = EVENT_SCHEMA_URLS[kind]
    name = random.choice("ab")
    if kind == "DatasetEvent":
        return {**base, "dataset": {"namespace": "n", "name": name, "x": random.randrange(2)}}
    job: Event = {"namespace": "n", "name": name}
    if random.random() < 0.4:
        job["facets"] = {"jobType": {"processingType": random.choice(("BATCH", "STREAMING"))}}
    if kind == "JobEvent":
        return {**base, "job": job}
    kinds = ("START", "RUNNING", "OTHER", *TERMINAL)
    typed = {"eventType": random.choice(kinds)} if random.random() < 0.95 else {}
    return {**base, **typed, "run": {"runId": random.choice(RUNS)}, "job": job}


def stream(random: Random) -> list[Event]:
    events: list[Event] = []
    for _ in range(random.randrange(1, 14)):
        repeat = events and random.random() < 0.2
        events.append(random.choice(events) if repeat else event(random))
    return events


def reference(events: list[Event]) -> set[tuple[str, int]]:
    """The stream rules over whole events, without thrift: (rule, index) of each finding."""
    found: set[tuple[str, int]] = set()
    first_equal: dict[str, int] = {}
    originals = []
    for index, one in enumerate(events):
        text = json.dumps(one)
        if text in first_equal:
            found.add(("OL-R035", index))
        else:
            first_equal[text] = index
            originals.append((index, one))
    found |= _reference_statics(originals)
    types: dict[str, dict[str, int]] = defaultdict(dict)
    runs: dict[str, list[tuple[int, Event]]] = defaultdict(list)
    for index, one in originals:
        if "job" in one:
            value = one["job"].get("facets", {}).get("jobType", {}).get("processingType")
            if value:
                types[one["job"]["name"]].setdefault(value, index)
        if "run" in one:
            runs[one["run"]["runId"]].append((index, one))
    for seen in types.values():
        found |= {("OL-R038", index) for index in sorted(seen.values())[1:]}
    for members in runs.values():
        found |= _reference_run(members, types)
    return found


def _reference_statics(originals: list[tuple[int, Event]]) -> set[tuple[str, int]]:
    found, seen = set(), set()
    for index, one in originals:
        if "run" not in one:
            entity = "dataset" if "dataset" in one else "job"
            key = (entity, one[entity]["name"], instant(one["eventTime"]))
            if key in seen:
                found.add(("OL-R039", index))
            seen.add(key)
    return found


def _reference_run(
    members: list[tuple[int, Event]], types: dict[str, dict[str, int]]
) -> set[tuple[str, int]]:
    found = set()
    jobs: dict[str, int] = {}
    for index, one in members:
        jobs.setdefault(one["job"]["name"], index)
    found |= {("OL-R030", index) for index in sorted(jobs.values())[1:]}
    for job in jobs:  # a run id of two jobs is one fault: each has a START and an end of its own
        found |= _reference_order([(i, e) for i, e in members if e["job"]["name"] == job])
    kinds = {e.get("eventType") for _, e in members}
    if len(jobs) == 1 and "STREAMING" not in types[next(iter(jobs))]:
        first = members[0][0]
        found |= {("OL-R036", first)} if "START" not in kinds else set()
        found |= {("OL-R037", first)} if kinds.isdisjoint(TERMINAL) else set()
    return found


def _reference_order(members: list[tuple[int, Event]]) -> set[tuple[str, int]]:
    found = set()

    def of(*kinds: str) -> list[tuple[int, Any]]:
        return [(i, instant(e["eventTime"])) for i, e in members if e.get("eventType") in kinds]

    starts, ends, running = of("START"), of(*TERMINAL), of("RUNNING")
    found |= {("OL-R031", index) for index, _ in starts[1:]}
    found |= {("OL-R032", index) for index, _ in ends[1:]}
    if ends:
        over = min(at for _, at in ends)
        found |= {("OL-R033", index) for index, at in starts if at > over}
        latest = max(running, key=lambda pair: (pair[1], -pair[0]), default=None)
        if latest and latest[1] > over:
            found.add(("OL-R034", latest[0]))
    return found


def state_of(events: list[Event], at: int = 0) -> StreamState:
    state = StreamState()
    for position, one in enumerate(events, at):
        kind = kind_of(one)
        assert kind
        state.observe(kind, one, json.dumps(one).encode(), position, trusted=True)
    return state


def findings(state: StreamState) -> list[tuple[str, int]]:
    found = stream_findings(state, continuous_jobs(state))
    return sorted((one.finding.rule, one.position) for one in found)


def told(state: StreamState) -> list[tuple[str, int, int, str]]:
    return sorted(
        (one.finding.rule, one.position, one.earlier, one.finding.message)
        for one in stream_findings(state, continuous_jobs(state))
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_state_says_what_the_whole_events_say(seed: int) -> None:
    random = Random(seed)
    for _ in range(300):
        events = stream(random)
        assert findings(state_of(events)) == sorted(reference(events)), events


@pytest.mark.parametrize("seed", range(10))
def test_joining_is_associative_and_cuts_do_not_matter(seed: int) -> None:
    random = Random(100 + seed)
    for _ in range(200):
        events = stream(random)
        whole = told(state_of(events))
        a, b = sorted((random.randint(0, len(events)), random.randint(0, len(events))))
        parts = [state_of(events[:a]), state_of(events[a:b], a), state_of(events[b:], b)]
        left, middle, right = (deepcopy(part) for part in parts)
        left.absorb(middle)
        left.absorb(right)
        assert told(left) == whole, events
        left, middle, right = parts
        middle.absorb(right)
        left.absorb(middle)
        assert told(left) == whole, events


def run_event(kind: str, time: str) -> Event:
    return {"eventTime": time, "producer": PRODUCER, "schemaURL": EVENT_SCHEMA_URLS["RunEvent"],
            "eventType": kind, "run": {"runId": RUNS[0]},
            "job": {"namespace": "n", "name": "a"}}  # fmt: skip


def test_a_run_is_over_at_its_earliest_end_whatever_the_order() -> None:
    early, late = (run_event("COMPLETE", f"2026-01-01T00:00:0{n}Z") for n in (1, 5))
    start, running = run_event("START", TIMES[0]), run_event("RUNNING", "2026-01-01T00:00:03Z")
    again = run_event("START", "2026-01-01T00:00:02Z")
    for events in permutations((start, early, late, running, again)):
        found = findings(state_of(list(events)))
        assert ("OL-R034", events.index(running)) in found
        assert ("OL-R033", events.index(again)) in found


@pytest.mark.parametrize("blanks", ["\r", " \t", "\r\n"])
def test_blanks_around_an_event_do_not_make_it_another(blanks: str) -> None:
    for one in (run_event("START", TIMES[0]), run_event("RUNNING", TIMES[0])):
        state = state_of([one])
        state.observe("RunEvent", one, (json.dumps(one) + blanks).encode(), 1, trusted=True)
        found = findings(state)
        assert ("OL-R035", 1) in found
        assert not {"OL-R031", "OL-R032"} & {rule for rule, _ in found}


@pytest.mark.parametrize("fault", [{"eventTime": "yesterday"}, {"job": {"name": "a"}}])
def test_an_end_that_breaks_its_schema_is_not_missing(fault: Event) -> None:
    kinds = (("START", TIMES[0]), ("COMPLETE", TIMES[3]))
    for broken, rule in ((0, "OL-R036"), (1, "OL-R037")):
        events = [run_event(*kind) for kind in kinds]
        assert [one for one, _ in findings(state_of([events[1 - broken]]))] == [rule]
        whole, parts = StreamState(), [StreamState(), StreamState()]
        for at, one in enumerate(events):
            told = {**one, **fault} if at == broken else one
            for state in (whole, parts[at]):
                data = json.dumps(told).encode()
                state.observe("RunEvent", told, data, at, trusted=at != broken)
        parts[0].absorb(parts[1])
        assert findings(whole) == findings(parts[0]) == []


def test_a_run_survives_packing() -> None:
    moment = Moment(639_000_000_000_000_000, 0xFFFFFFFF, 2**48 - 1)
    for start in (None, moment, moment._replace(position=7)):
        for end in (None, moment):
            for running in (None, moment):
                for generated in (False, True):
                    run = Run(2**64 - 1, 7, generated, start, end, running)
                    assert facts.unpacked(facts.packed(run)) == run


def test_ticks_compare_like_instants() -> None:
    texts = [
        *TIMES, "2026-01-01T00:00:00.1234567Z", "0000-01-01T00:00:00+23:59",
        "2025-12-31T23:59:60Z", "2025-12-31T23:59:59.99Z", "9999-12-31T23:59:59.9z",
    ]  # fmt: skip
    for one in texts:
        for other in texts:
            a, b = instant(one), instant(other)
            assert a is not None
            assert b is not None
            assert (ticks(one) < ticks(other)) == (a < b), (one, other)
            assert (in_utc(one) == in_utc(other)) == (a == b), (one, other)


def test_a_window_forgets_what_is_far_and_stays_small() -> None:
    window = Window()
    assert not window.repeats(1, 0)
    assert window.repeats(1, SPAN)
    assert not window.repeats(1, 2 * SPAN + 1)
    for position in range(3 * SPAN, 8 * SPAN):
        window.repeats(position, position)
    assert len(window.last) <= 2 * SPAN
    assert len(window.first) <= SPAN + 1


@pytest.mark.parametrize("seed", range(5))
def test_windows_join_as_if_they_had_never_been_cut(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamt_ol.validation.stream.window.SPAN", 5)
    random = Random(seed)
    for _ in range(300):
        keys = [random.randrange(4) for _ in range(random.randrange(1, 30))]
        whole = Window()
        expected = [at for at, key in enumerate(keys) if whole.repeats(key, at)]
        cuts = sorted(random.sample(range(len(keys) + 1), min(2, len(keys))))
        joined, found = Window(), []
        for low, high in zip([0, *cuts], [*cuts, len(keys)], strict=True):
            part = Window()
            found += [at for at in range(low, high) if part.repeats(keys[at], at)]
            found += joined.absorb(part)
        assert sorted(found) == expected, (keys, cuts)


def per_entry(table: dict[Any, Any]) -> float:
    own = sum(sys.getsizeof(key) + sys.getsizeof(value) + 8 for key, value in table.items())
    return (sys.getsizeof(table) + own) / len(table)


def test_what_is_remembered_stays_under_200_bytes_for_each_run_and_identity() -> None:
    state = StreamState()
    for number in range(30_000):
        run_id = f"{number * 0x9E3779B97F4A7C15 % 2**128:032x}"
        run_id = "-".join((run_id[:8], run_id[8:12], run_id[12:16], run_id[16:20], run_id[20:]))
        job = {"namespace": "n" * 500, "name": f"job {number} " + "x" * 500,
               "facets": {"jobType": {"processingType": "STREAMING"}}}  # fmt: skip
        for step, kind in enumerate(("START", "COMPLETE")):
            one = {"eventTime": TIMES[step], "producer": PRODUCER, "eventType": kind,
                   "run": {"runId": run_id}, "job": job}  # fmt: skip
            state.observe("RunEvent", one, b"%d %d" % (number, step), 2 * number, trusted=True)
        static = {"eventTime": TIMES[0], "producer": PRODUCER,
                  "dataset": {"namespace": "n", "name": f"t{number}" + "y" * 1000}}  # fmt: skip
        state.observe("DatasetEvent", static, b"%d" % number, 2 * number + 1, trusted=True)
    assert [len(t) for t in (state.runs, state.statics, state.types)] == [30_000] * 3
    assert max(per_entry(t) for t in (state.runs, state.statics, state.types)) < 200


@pytest.mark.timeout(60)  # where each is compared with all before it, this takes ten minutes
def test_one_run_or_dataset_that_breaks_a_rule_with_every_event_costs_no_more() -> None:
    state = StreamState()
    for number in range(60_000):
        start = {"eventTime": TIMES[0], "producer": str(number), "eventType": "START",
                 "run": {"runId": "00000000-0000-4000-8000-000000000000"},
                 "job": {"namespace": "n", "name": "j"}}  # fmt: skip
        state.observe("RunEvent", start, b"s%d" % number, 2 * number, trusted=True)
        static = {"eventTime": TIMES[0], "dataset": {"namespace": "n", "name": "d"}}
        state.observe("DatasetEvent", static, b"d%d" % number, 2 * number + 1, trusted=True)
    assert len(state.runs) == len(state.statics) == 1
    tables = (state.more_moments, state.more_statics)
    # Of so many texts one or two may share the 32 bits of their checksum.
    assert all(59_990 <= len(table) <= 59_999 for table in tables)
    assert max(map(per_entry, tables)) < 220
    found = findings(state)
    assert found[0] == ("OL-R031", 2)
    counts = Counter(rule for rule, _ in found)
    assert [counts["OL-R031"], counts["OL-R039"]] == [len(table) for table in tables]
