"""Events become a graph."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from support.lineage_events import BROKER, JOBS, column_lineage, dataset, job, run

from streamt_ol.lineage.events import build
from streamt_ol.lineage.graph import Column, ColumnEdge, Edge, Graph, Key, Owner
from streamt_ol.problems import INVALID, StreamtOlError


def d(name: str) -> Key:
    return Key("dataset", BROKER, name)


def j(name: str) -> Key:
    return Key("job", JOBS, name)


def of(*events: Any) -> Graph:
    return build(events)


class TestEdges:
    def test_go_from_inputs_through_the_job_to_outputs(self) -> None:
        graph = of(job("clean", ("raw",), ("good", "bad")))
        assert list(graph.nodes) == [d("bad"), d("good"), d("raw"), j("clean")]
        assert graph.edges == (
            Edge(d("raw"), j("clean")),
            Edge(j("clean"), d("bad")),
            Edge(j("clean"), d("good")),
        )

    def test_a_job_that_reads_what_it_writes_is_a_circle(self) -> None:
        graph = of(job("compact", ("log",), ("log",)))
        assert graph.edges == (Edge(d("log"), j("compact")), Edge(j("compact"), d("log")))

    def test_the_latest_job_event_is_the_design(self) -> None:
        old = job("j", ("a",), time="2026-03-01T08:00:00Z")
        new = job("j", ("b",), time="2026-03-01T09:00:00.5+00:30")  # 08:30:00.5Z
        for events in permutations((old, new)):
            assert of(*events).edges == (Edge(d("b"), j("j")),)

    def test_job_events_of_one_time_are_read_together(self) -> None:
        events = (
            job("j", ("a",)),
            job("j", ("b",)),
            job("j", ("old",), time="2026-01-01T00:00:00Z"),
        )
        for order in permutations(events):
            assert of(*order).edges == (Edge(d("a"), j("j")), Edge(d("b"), j("j")))

    def test_all_runs_count(self) -> None:
        graph = of(
            run("j", ("a",), time="2026-03-01T08:00:00Z"),
            run("j", (), ("b",), time="2026-03-01T09:00:00Z"),
            job("j", ("c",), time="2026-03-01T07:00:00Z"),
        )
        assert graph.edges == (
            Edge(d("a"), j("j")),
            Edge(d("c"), j("j")),
            Edge(j("j"), d("b")),
        )

    def test_columns_come_from_column_lineage(self) -> None:
        facet = column_lineage(total=[("raw", "price"), ("raw", "count")])
        facet["dataset"] = [{"namespace": BROKER, "name": "raw", "field": "day"}]
        graph = of(dataset("sums", columnLineage=facet))
        assert graph.column_edges == (
            ColumnEdge(d("raw"), "count", d("sums"), "total"),
            ColumnEdge(d("raw"), "day", d("sums"), ""),
            ColumnEdge(d("raw"), "price", d("sums"), "total"),
        )
        assert list(graph.nodes) == [d("raw"), d("sums")]

    def test_a_job_has_no_columns(self) -> None:
        facet = column_lineage(total=[("raw", "price")])
        assert of(job("x", columnLineage=facet)).column_edges == ()

    @pytest.mark.parametrize(
        "facet",
        [
            {},
            {"fields": []},
            {"fields": {"a": None}},
            {"fields": {"a": {"inputFields": [1, {}]}}},
            {"fields": {"": {"inputFields": [{"namespace": "n", "name": "x", "field": "f"}]}}},
            {"fields": {"a": {"inputFields": [{"namespace": "n", "name": "x", "field": ""}]}}},
            {"dataset": [{"namespace": "n", "name": "x", "field": ""}]},
        ],
    )
    def test_malformed_column_lineage_is_omitted(self, facet: Any) -> None:
        assert of(dataset("x", columnLineage=facet)).column_edges == ()


class TestFacets:
    def test_the_latest_of_each_counts_whatever_the_order(self) -> None:
        events = (
            dataset("x", [("a", "INT")], owners=("old",), time="2026-03-01T08:00:00Z"),
            dataset("x", owners=("new", "also"), time="2026-03-01T08:00:01Z"),
        )
        for order in permutations(events):
            node = of(*order).nodes[d("x")]
            assert node.owners == [Owner("also"), Owner("new")]
            assert node.columns == [Column(("a",), "INT")]

    def test_of_two_at_one_time_the_order_does_not_decide(self) -> None:
        events = (dataset("x", description="one"), dataset("x", description="two"))
        assert of(*events) == of(*reversed(events))

    def test_a_withdrawn_one_is_gone(self) -> None:
        graph = of(
            dataset("x", description="text", time="2026-03-01T08:00:00Z"),
            dataset("x", documentation={"_deleted": True}, time="2026-03-01T09:00:00Z"),
        )
        assert graph.nodes[d("x")].description == ""

    def test_facets_in_inputs_describe_the_dataset(self) -> None:
        event = run("j", ("x",))
        event["inputs"][0]["facets"] = {"documentation": {"description": "text"}}
        assert of(event).nodes[d("x")].description == "text"

    def test_columns_are_flattened_in_their_order(self) -> None:
        fields = [
            {"name": "b", "type": "INT", "ordinal_position": 2},
            {
                "name": "a",
                "type": "ROW",
                "ordinal_position": 1,
                "fields": [{"name": "y", "type": "INT"}, {"name": "x", "description": "deep"}],
            },
        ]
        assert of(dataset("d", schema={"fields": fields})).nodes[d("d")].columns == [
            Column(("a",), "ROW"),
            Column(("a", "y"), "INT"),
            Column(("a", "x"), "", "deep"),
            Column(("b",), "INT"),
        ]

    @pytest.mark.parametrize("fields", [None, 3, [1, {}, {"name": 4}], {}])
    def test_malformed_columns_are_omitted(self, fields: Any) -> None:
        assert of(dataset("x", schema={"fields": fields})).nodes[d("x")].columns == []


class TestRefusals:
    @pytest.mark.parametrize(
        ("event", "pointer"),
        [
            (3, None),
            ({}, None),
            ({"job": {}, "dataset": {}}, None),
            ({"run": {}}, None),
            ({"job": None}, "/job"),
            ({"job": {"namespace": "n"}}, "/job/name"),
            ({"dataset": {"namespace": 1, "name": "x"}}, "/dataset/namespace"),
            ({"job": {"namespace": "n", "name": "x"}, "inputs": {}}, "/inputs"),
            ({"job": {"namespace": "n", "name": "x"}, "outputs": [{}]}, "/outputs/0/namespace"),
        ],
    )
    def test_what_is_not_an_event_is_named(self, event: Any, pointer: str | None) -> None:
        with pytest.raises(StreamtOlError) as caught:
            of(event)
        assert caught.value.code == INVALID
        assert caught.value.location is not None
        assert caught.value.location.pointer == pointer
