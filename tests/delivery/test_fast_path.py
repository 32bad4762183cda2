"""The fast path in `check` and `send`: verdicts and decisions are equal with and without it."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.delivery.events import dataset, facet, job, refs, run
from support.delivery.generated_events import sound_events
from support.fuzzed_lines import fuzzed_lines
from support.switches import Always, Never

from streamt_ol.delivery import reading
from streamt_ol.delivery.checks import check
from streamt_ol.delivery.items import lane_of
from streamt_ol.delivery.plan import Plan, Rules
from streamt_ol.delivery.reading import Events, RunMaking
from streamt_ol.delivery.receivers import CHECKED, RECEIVERS
from streamt_ol.delivery.source import Source
from streamt_ol.delivery.validity import Validity

if TYPE_CHECKING:
    from pathlib import Path

    from streamt_ol.validation.switch import Switch

# A quarter of those that `validate` is tried with: each is judged for all receivers.
MANY_LINES = int(os.environ.get("FUZZED_LINES", "20000")) // 4
AT_ONCE = 500
VALIDITIES = [
    Validity(),
    Validity(on=False),
    Validity(refuses_invalid=True),
    Validity(frozenset({"OL-R012", "OL-R017"}), refuses_invalid=True),
]
DATASET = dataset("a.b.c", schema=facet("SchemaDatasetFacet", fields=[{"name": "a"}]))
JOB = job("j", inputs=refs("a.b.c"), outputs=refs("a.b.d"))
FLAT = orjson.dumps(run("r", inputs=refs("a.b.c"), outputs=refs("a.b.d")))
DEEP = b'"x":' + b'{"a":' * 300 + b"1" + b"}" * 300
FACETS = b'"facets":{"f":{"_producer":"urn:a","_schemaURL":"urn:b",'
ODD = [
    b"", b" \t", b"\xef\xbb\xbf", b"\xef\xbb\xbf" + FLAT, b" " + FLAT + b" \r", b"null",
    b"[]", b"{}", b"\0\0\0\0\7" + FLAT,
    FLAT.replace(b'"r"', b'"\xff"'), FLAT.replace(b'"r"', b'"\\ud800"'),
    FLAT.replace(b'"r"', b'"\\u00e9\\n"'), FLAT.replace(b'"r"', b'""'),
    FLAT.replace(b'"inputs"', b'"name":"q","inputs"'),
    FLAT.replace(b'"name":"r"', b'"name":"r","name":"q"'),
    FLAT.replace(b'"name":"r"', FACETS + b'"n":NaN}},"name":"r"'),
    FLAT.replace(b'"name":"r"', FACETS + b'"n":1e999}},"name":"r"'),
    FLAT.replace(b'"name":"r"', FACETS + b'"n":123456789012345678901}},"name":"r"'),
    FLAT.replace(b'"name":"r"', FACETS + b'"n":1,"n":2}},"name":"r"'),
    FLAT.replace(b'"name":"r"', FACETS + DEEP + b'}},"name":"r"'),
    FLAT.replace(b'"name":"r"', FACETS + b'"d":' + b"[" * 2000 + b"]" * 2000 + b'}},"name":"r"'),
    FLAT.replace(b'"name":"r"', b'"facets": { "jobType" : {} } , "name":"r"'),
    FLAT.replace(b"2-0-2", b"1-0-5"), FLAT.replace(b"#/$defs/RunEvent", b""),
    FLAT.replace(b"2026", b"9"), FLAT.replace(b'"eventType"', b'"\r  eventType"'),
]  # fmt: skip


def judged(path: Path, used: Switch, monkeypatch: pytest.MonkeyPatch, as_runs: bool) -> Any:
    """Return all that `check` finds, and all that `send` decides, of the events in a file."""
    monkeypatch.setattr(reading, "shared", lambda: used)
    receivers = [RECEIVERS[name] for name in CHECKED]
    making = RunMaking.of(receivers, lambda number, _digest: f"{number}") if as_runs else None
    with Source(str(path)) as source:
        events = Events(source, making)
        for validity in VALIDITIES:
            yield from check(events, receivers, validity)
            for receiver in receivers:
                plan = Plan(events, Rules(receiver, validity))
                for choice, item, *why in plan.survey():
                    of_item = item.number, item.part, item.pointer, item.source, item.body
                    lane = None if item.fault else lane_of(item.outline)
                    yield choice, item.line, item.name, item.fault, of_item, lane, why
                if validity is VALIDITIES[0]:
                    yield [(item.number, item.body, item.lane) for item in plan.items()]


def is_equal(path: Path, always: Always, patch: pytest.MonkeyPatch, *, as_runs: bool) -> bool:
    fast = judged(path, always, patch, as_runs)
    full = judged(path, Never(), patch, as_runs)
    # Not side by side: each has its own switch while it runs.
    return list(fast) == list(full)


@pytest.mark.parametrize("count", [400, pytest.param(MANY_LINES, marks=pytest.mark.slow)])
def test_fuzzed_lines(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, always = tmp_path / "events.jsonl", Always()
    at_once = min(AT_ONCE, count // 2)
    for seed in range(count // at_once):
        path.write_bytes(b"".join(fuzzed_lines(Random(seed), at_once)))
        assert is_equal(path, always, monkeypatch, as_runs=seed % 4 == 1), f"seed {seed}"
    assert always.passed > count, "of several times as many"


@pytest.mark.parametrize("as_runs", [False, True])
def test_odd_lines(as_runs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [*ODD, *map(orjson.dumps, (DATASET, JOB)), FLAT]
    path, always = tmp_path / "events.jsonl", Always()
    path.write_bytes(b"\n".join(lines))
    assert is_equal(path, always, monkeypatch, as_runs=as_runs)
    assert always.passed
    path.write_bytes(b"[%b,\n%b]" % (FLAT, orjson.dumps(JOB, option=orjson.OPT_INDENT_2)))
    passed = always.passed
    assert is_equal(path, always, monkeypatch, as_runs=as_runs)
    assert always.passed > passed


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(sound_events(), min_size=20, max_size=40))
def test_events_near_the_rules_of_receivers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: list[Any]
) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, found)))
    assert is_equal(path, Always(), monkeypatch, as_runs=False)
