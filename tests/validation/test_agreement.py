"""The fast path against the reference validator, on random and mutated events."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
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

from streamt_ol.openlineage.events import kind_of
from streamt_ol.validation import generated
from streamt_ol.validation.accept import local as quick
from streamt_ol.validation.accept import schema as compiled
from streamt_ol.validation.events import check_event
from streamt_ol.validation.explain import local
from streamt_ol.validation.explain.generated import exact_findings
from streamt_ol.validation.explain.schema import schema_findings
from streamt_ol.validation.findings import ERROR

# What the patterns leave to the reference validator: leap seconds, hosts in brackets, rare signs.
LEFT_OVER = (":60", "[::1]", "\U0001f600")


def left_over(event: Event) -> bool:
    text = repr(event)
    return any(mark in text for mark in LEFT_OVER)


@pytest.mark.parametrize("seed", range(20))
def test_the_fast_yes_and_the_authority_agree(seed: int) -> None:
    random = Random(seed)
    said = {True: 0, False: 0}
    for _ in range(1000):
        event = random_event(random)
        if random.random() < 0.75:
            event = mutated(random, event)
        kind = kind_of(event)
        if kind is None:
            continue
        fast = compiled.accepts(kind)(event)
        found = schema_findings(kind, event, trusting=False)
        assert schema_findings(kind, event) == found, event
        assert not (fast and found), (event, found)
        assert fast or found or left_over(event), (event, "refused without a reason")
        said[fast] += 1
    assert min(said.values()) > 150, said


@pytest.mark.parametrize("seed", range(4))
def test_the_quick_look_for_repetitions_agrees_with_the_words(seed: int) -> None:
    random = Random(1000 + seed)
    for _ in range(1000):
        event = mutated(random, random_event(random))
        kind = kind_of(event)
        if kind and compiled.accepts(kind)(event):
            assert quick.is_unique(kind, event) == (not [*local.repeated(kind, event)]), event


def generated_event(random: Random) -> Event:
    """Return a valid event of streamt's own, of any kind, with optional parts at random."""
    some: dict[str, Any] = {"inputs": [topic("a"), topic("b")]} if random.random() < 0.7 else {}
    kind = random.randrange(3)
    if kind == 0:
        return run_event(random.choice(("START", "COMPLETE", "FAIL", "ABORT")), **some)
    if kind == 1:
        outputs = {"outputs": [topic("c")]} if random.random() < 0.7 else {}
        return job_event("streamt/shop/models/orders", **some, **outputs)
    fields = [
        {"name": "id", "type": "BIGINT", "ordinal_position": 1},
        {"name": "x", "description": "an x", "ordinal_position": 2},
    ]
    return dataset_event(
        schema=facet("dataset", "schema", fields=fields),
        ownership=facet("dataset", "ownership", owners=[{"name": "team"}]),
        documentation=facet("dataset", "documentation", description="orders"),
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_strict_yes_is_at_least_as_strict_as_the_words(seed: int) -> None:
    random = Random(2000 + seed)
    said = {True: 0, False: 0}
    for _ in range(1000):
        event = generated_event(random)
        if random.random() < 0.75:
            event = mutated(random, event)
        kind = kind_of(event)
        if kind is None:
            continue
        fast = generated.accepts(kind, event)
        errors = [one for one in check_event(event) if one.severity == ERROR]
        found = errors + exact_findings(kind, event)
        assert not (fast and found), (event, found)
        # What the words let pass is another producer's facet, or a host in brackets.
        foreign = any(name in repr(event) for name in ("'_producer'", "[::1]"))
        assert fast or found or foreign, event
        said[fast] += 1
    assert min(said.values()) > 100, said
