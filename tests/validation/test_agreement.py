"""The fast path against the reference validator, on random and mutated events."""

from __future__ import annotations

from random import Random
from typing import Any

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

from streamt_ol.openlineage.events import kind_of
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.validation.accept import generated, local, schema
from streamt_ol.validation.events import check_event, said_of_whole
from streamt_ol.validation.explain import generated as explain_generated
from streamt_ol.validation.explain import local as explain_local
from streamt_ol.validation.explain.schema import schema_findings
from streamt_ol.validation.fast_path import FastPath
from streamt_ol.validation.findings import ERROR
from streamt_ol.validation.rules import RULES
from streamt_ol.validation.stream.state import StreamState

# What the patterns leave to the reference validator: leap seconds, hosts in brackets, rare signs.
LEFT_OVER = (":60", "[::1]", "\U0001f600")


def left_over(event: Event) -> bool:
    text = repr(event)
    return any(mark in text for mark in LEFT_OVER)


@pytest.mark.parametrize("seed", range(20))
def test_the_fast_path_and_the_reference_validator_agree(seed: int) -> None:
    random = Random(seed)
    said = {True: 0, False: 0}
    for _ in range(1000):
        event = random_event(random)
        if random.random() < 0.75:
            event = mutated(random, event)
        kind = kind_of(event)
        if kind is None:
            continue
        fast = schema.accepts(kind)(event)
        found = schema_findings(kind, event, trusting=False)
        assert schema_findings(kind, event) == found, event
        assert not (fast and found), (event, found)
        assert fast or found or left_over(event), (event, "refused without a reason")
        said[fast] += 1
    assert min(said.values()) > 150, said


@pytest.mark.parametrize("seed", range(4))
def test_the_fast_look_for_duplicates_agrees_with_the_words(seed: int) -> None:
    random = Random(1000 + seed)
    for _ in range(1000):
        event = mutated(random, random_event(random))
        kind = kind_of(event)
        if kind and schema.accepts(kind)(event):
            for rule in ("OL-R026", "OL-R027"):
                explained = [*explain_local.RULES[rule](kind, event)]
                assert accepts(rule, kind, event) == (not explained), event


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
def test_the_fast_path_of_generated_events_is_as_strict_as_the_words(seed: int) -> None:
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
        found = errors + explain_generated.explain(kind, event)
        assert not (fast and found), (event, found)
        # What the words let pass is another producer's facet, or a host in brackets.
        foreign = any(name in repr(event) for name in ("'_producer'", "[::1]"))
        assert fast or found or foreign, event
        said[fast] += 1
    assert min(said.values()) > 100, said


def accepts(rule: str, kind: str, event: Event) -> bool:
    """Tell whether the function that is registered for ``rule`` accepts an event."""
    if rule in local.EVENT_RULES:
        return local.EVENT_RULES[rule](kind, event)
    holds = local.FACETS_RULES[rule]
    return all(holds(place, facets) for place, facets in local.containers(kind, event))


def test_each_rule_about_one_event_has_a_function_on_both_sides() -> None:
    accepted = [*local.EVENT_RULES, *local.FACETS_RULES]
    assert sorted(accepted) == sorted(explain_local.RULES)
    assert set(accepted) <= set(RULES)
    assert explain_generated.both_ways in explain_generated.RULES
    for name in ("both_ways", "order"):
        assert callable(getattr(generated, name))
        assert callable(getattr(explain_generated, name))


@settings(max_examples=1500)
@given(st.integers(0, 2**64 - 1), st.booleans())
def test_what_the_fast_path_accepts_has_nothing_to_explain(seed: int, own: bool) -> None:
    """The seed makes an event as it may come, one in four of them without a fault."""
    random = Random(seed)
    event = generated_event(random) if own else random_event(random)
    for _ in range(random.randrange(4)):
        event = mutated(random, event)
    kind = kind_of(event)
    if kind is None:
        return
    said_by = dict.fromkeys(explain_local.RULES.values())
    assert [*explain_local.explain(kind, event)] == [
        one for say in said_by for one in say(kind, event)
    ]
    if schema.accepts(kind)(event):
        assert schema_findings(kind, event, trusting=False) == []
        for rule, words in explain_local.RULES.items():
            explained = [one for one in words(kind, event) if one.rule == rule]
            assert not (accepts(rule, kind, event) and explained), (rule, event)
        if local.accepts_besides()(kind, event):
            assert check_event(event) == []
    if generated.accepts(kind, event):
        assert check_event(event) == []
        assert explain_generated.explain(kind, event) == []
        if generated.order(event):
            assert [*explain_generated.order(kind, event)] == []


@pytest.mark.parametrize("seed", range(4))
def test_what_is_said_of_what_passes_by_its_frame_is_all_there_is(seed: int) -> None:
    random, path, foreign, own = Random(3000 + seed), FastPath(), 0, 0
    faulty = 0
    for position in range(1000):
        event = generated_event(random) if random.random() < 0.2 else random_event(random)
        if random.random() < 0.75:
            event = mutated(random, event)
        passed = path.passes(orjson.dumps(event), position, StreamState())
        if passed is None:
            continue
        found = sorted(found for one in passed.said for found in one.findings())
        whole = said_of_whole(passed.kind, event)
        assert found == sorted(found for one in whole for found in one.findings())
        producer = event.get("producer")
        if producer == PRODUCER:
            assert explain_generated.explain(passed.kind, event) == []
            assert [*explain_generated.order(passed.kind, event)] == []
            own += 1
        foreign += producer != PRODUCER and not found
        faulty += bool(found)
    assert foreign > 100
    assert faulty > 100
    assert own > 30
