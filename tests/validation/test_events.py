"""One event: what deep nesting, odd keys and large values do to the words of a finding."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from support.openlineage_events import Event, dataset_event, facet, job_event, run_event

from streamt_ol.validation.accept.local import accepts_besides
from streamt_ol.validation.events import check_event
from streamt_ol.validation.explain import depth
from streamt_ol.validation.explain.registry import reference_validator, registry
from streamt_ol.validation.findings import Finding


def nested_fields(levels: int, innermost: Any) -> list[Event]:
    fields: list[Event] = [{"name": innermost}]
    for _ in range(levels):
        fields = [{"name": "a", "fields": fields}]
    return fields


def test_a_fault_480_fields_deep_is_named() -> None:
    event = dataset_event(schema=facet("dataset", "schema", fields=nested_fields(480, 7)))
    limit = sys.getrecursionlimit()
    (one,) = check_event(event)
    assert (one.rule, one.message) == ("OL-R021", "expected a string, found the number 7")
    assert one.pointer.startswith("/dataset/facets/schema/fields/0/fields/0/fields/0/")
    assert one.pointer.endswith("/fields/0/name")
    assert sys.getrecursionlimit() == limit
    event["dataset"]["facets"]["schema"]["fields"] = nested_fields(480, "a")
    assert check_event(event) == []


def test_where_even_a_large_stack_is_too_small_one_finding_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(depth, "_FRAMES", 1000)
    event = dataset_event(schema=facet("dataset", "schema", fields=nested_fields(480, 7)))
    (one,) = check_event(event)
    assert (one.rule, one.pointer) == ("OL-R011", "")


def test_pointers_escape_keys() -> None:
    event = dataset_event("orders", **{"a/b~c": None})
    (one,) = check_event(event)
    assert (one.rule, one.pointer) == ("OL-R023", "/dataset/facets/a~1b~0c")


def test_a_message_is_short_whatever_it_found() -> None:
    event = job_event("x" * 100_000 + "\n")
    event["eventTime"] = "y" * 1_000_000
    event["producer"] = {"z" * 1000: list(range(10_000))}
    found = check_event(event)
    assert {one.rule for one in found} == {"OL-R011", "OL-R013"}
    assert max(len(one.message) for one in found) < 200


@pytest.mark.parametrize("value", [None, 7, "x", [], [{}]])
def test_what_is_no_object_is_no_event(value: object) -> None:
    assert [one.rule for one in check_event(value)] == ["OL-R008"]


def test_all_faults_of_an_event_are_found_each_at_its_field() -> None:
    event = job_event("ok")
    event |= {"eventTime": "now", "producer": 1, "inputs": [{"name": ""}, {"namespace": "n"}]}
    del event["job"]["namespace"]
    assert [(one.rule, one.pointer) for one in check_event(event)] == [
        ("OL-R013", "/eventTime"),
        ("OL-R011", "/producer"),
        ("OL-R011", "/job/namespace"),
        ("OL-R011", "/inputs/0/namespace"),
        ("OL-R012", "/inputs/0/name"),
        ("OL-R011", "/inputs/1/name"),
    ]


@pytest.mark.parametrize("value", [None, 1, "NONE"])
def test_a_value_out_of_an_enumeration_is_one_finding(value: object) -> None:
    event = {**run_event(), "producer": "https://example.com/p", "eventType": value}
    (one,) = [found for found in check_event(event) if found.pointer == "/eventType"]
    assert (one.rule, one.severity) == ("OL-R011", "error")
    assert one.message.startswith("expected START or RUNNING or COMPLETE")


def dataset_with(key: str, url: str, **body: Any) -> Event:
    event = dataset_event()
    event["dataset"]["facets"][key] = {**facet("dataset", key, **body), "_schemaURL": url}
    return {**event, "producer": "https://example.com/p"}


SPEC = "https://openlineage.io/spec/facets"


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        (f"{SPEC}/1-0-1/OwnershipDatasetFacet.json#/$defs/OwnershipDatasetFacet", False),
        (f"{SPEC}/1-0-0/OwnershipDatasetFacet.json", False),
        ("https://example.com/mine.json", False),
        (f"{SPEC}/1-0-0/MineDatasetFacet.json", False),
        (f"{SPEC}/1-0-1/OwnershipJobFacet.json#/$defs/OwnershipJobFacet", True),
        (f"{SPEC}/1-2-0/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet", True),
        (f"{SPEC}/9-9-9/SchemaDatasetFacet.json", True),
    ],
)
def test_a_standard_facet_with_the_url_of_another_is_a_warning(url: str, warned: bool) -> None:
    event = dataset_with("ownership", url, owners=[{"name": "team"}])
    found = [(one.rule, one.severity, one.pointer) for one in check_event(event)]
    where = "/dataset/facets/ownership/_schemaURL"
    assert found == ([("OL-R024", "warning", where)] if warned else [])
    assert accepts_besides()("DatasetEvent", event) is not warned


def test_references_to_older_cores_resolve_to_the_pinned_one() -> None:
    closed = registry("SchemaDatasetFacet.json")
    for release in ("1-0-2", "1-0-3", "2-0-2"):
        uri = f"https://openlineage.io/spec/{release}/OpenLineage.json#/$defs/DatasetFacet"
        resolved = closed.resolver().lookup(uri)
        assert "_deleted" in str(resolved.contents)


def test_an_unknown_reference_is_an_error_and_nothing_is_fetched() -> None:
    from referencing.exceptions import Unresolvable

    with pytest.raises(Unresolvable):
        registry("SchemaDatasetFacet.json").resolver().lookup("https://example.com/x.json")
    validator = reference_validator("OpenLineage.json", "RunEvent").evolve(
        schema={"$ref": "https://openlineage.io/spec/9-9-9/OpenLineage.json"}
    )
    with pytest.raises(Exception, match="9-9-9"):
        list(validator.iter_errors({}))


def test_a_finding_is_a_plain_value() -> None:
    assert Finding("OL-R001", "error", "", "x") == ("OL-R001", "error", "", "x")
