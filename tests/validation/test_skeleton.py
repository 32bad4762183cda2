"""Findings remembered by the skeleton of an event are those of the reference validator."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from support.openlineage_events import Event, job_event, mutated, random_event, run_event

from streamt_ol.openlineage.events import kind_of
from streamt_ol.validation.accept.schema import accepts
from streamt_ol.validation.explain import skeleton
from streamt_ol.validation.explain.schema import schema_findings
from streamt_ol.validation.explain.skeleton import Remembered

if TYPE_CHECKING:
    from streamt_ol.validation.findings import Finding


class Counted:
    """The reference validator, with the number of events that it was asked about."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, kind: str, event: Event) -> list[Finding]:
        self.asked += 1
        return schema_findings(kind, event)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_remembered_is_what_the_reference_validator_finds(seed: int) -> None:
    random, remembered, compared = Random(5000 + seed), Remembered(schema_findings), 0
    for _ in range(500):
        event = mutated(random, random_event(random))
        kind = kind_of(event)
        if kind is None or accepts(kind)(event):
            continue
        expected = sorted(schema_findings(kind, event))
        assert sorted(remembered.findings(kind, event)) == expected, event
        assert sorted(remembered.findings(kind, event)) == expected, event
        compared += 1
    assert compared > 150


def test_events_with_the_same_fault_are_judged_once() -> None:
    counted = Counted()
    remembered = Remembered(counted)
    for number in range(50):
        event = run_event("DONE", inputs=[{"namespace": "a", "name": f"n{number}"}])
        event["run"]["runId"] = f"d46e465b-d358-4d32-83d4-df660ff614{number:02}"
        event["job"]["name"] = f"job {number}"
        (found,) = remembered.findings("RunEvent", event)
        assert (found.rule, found.pointer) == ("OL-R011", "/eventType")
    assert counted.asked == 1


FAULTY_TEXTS = ["yesterday", "", "no eventTime", "x" * 500, "password=hunter2", "a\nb"]


@pytest.mark.parametrize(
    ("pointer", "rule"),
    [
        ("/eventTime", "OL-R013"),
        ("/producer", "OL-R014"),
        ("/schemaURL", "OL-R014"),
        ("/run/runId", "OL-R015"),
    ],
)
def test_texts_without_their_format_are_judged_once_and_each_is_shown(
    pointer: str, rule: str
) -> None:
    counted = Counted()
    remembered = Remembered(counted)
    *within, name = pointer.split("/")[1:]
    for text in FAULTY_TEXTS:
        event = run_event()
        entity = event["run"] if within else event
        entity[name] = text
        event["run"]["facets"] = {"producer": "no producer"}  # no text of the fault's field
        found = remembered.findings("RunEvent", event)
        assert sorted(found) == sorted(schema_findings("RunEvent", event))
        assert rule in {one.rule for one in found}
    assert counted.asked == 1


def test_a_fault_in_an_element_keeps_its_index_and_its_value() -> None:
    remembered = Remembered(schema_findings)
    for index in (0, 1, 2, 1):
        inputs = [{"namespace": "a", "name": f"n{number}"} for number in range(3)]
        inputs[index]["name"] = " " * (index + 1)
        (found,) = remembered.findings("JobEvent", job_event(inputs=inputs))
        assert found.pointer == f"/inputs/{index}/name"
        assert f"'{' ' * (index + 1)}'" in found.message


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skeleton, "_REMEMBERED", 10)
    counted = Counted()
    remembered = Remembered(counted)
    for number in range(100):
        remembered.findings("RunEvent", run_event(f"DONE {number}"))
        assert len(remembered._known) <= 10
    remembered.findings("RunEvent", run_event("DONE 99"))
    assert counted.asked == 100
    for _ in range(2):  # longer than is worth remembering
        remembered.findings("RunEvent", run_event("x" * 10_000))
    assert counted.asked == 102
