"""Parts of a graph are selected."""

from __future__ import annotations

import pytest
from support.lineage_events import BROKER, JOBS, dataset, job

from streamt_ol.lineage.events import build
from streamt_ol.lineage.graph import Edge, Graph, Key
from streamt_ol.lineage.selection import around, find, only
from streamt_ol.problems import USAGE, StreamtOlError


def d(name: str) -> Key:
    return Key("dataset", BROKER, name)


def j(name: str) -> Key:
    return Key("job", JOBS, name)


# a -> J1 -> b -> J2 -> c;  a -> J3 -> e;  c -> J4 (a sink)
GRAPH = build([job("J1", ("a",), ("b",)), job("J2", ("b",), ("c",)), job("J3", ("a",), ("e",)),
               job("J4", ("c",))])  # fmt: skip


def names(graph: Graph) -> str:
    return " ".join(sorted(key.name for key in graph.nodes))


class TestOnly:
    def test_datasets(self) -> None:
        graph = only(GRAPH, "dataset")
        assert graph.edges == (Edge(d("a"), d("b")), Edge(d("a"), d("e")), Edge(d("b"), d("c")))

    def test_jobs(self) -> None:
        graph = only(GRAPH, "job")
        assert graph.edges == (Edge(j("J1"), j("J2")), Edge(j("J2"), j("J4")))
        assert names(graph) == "J1 J2 J3 J4"


class TestAround:
    @pytest.mark.parametrize(
        ("up", "down", "expected"),
        [
            (None, None, "J1 J2 J4 a b c"),
            (0, None, "J2 J4 b c"),
            (None, 0, "J1 a b"),
            (1, 1, "J1 J2 b"),
            (0, 0, "b"),
            (9, 2, "J1 J2 a b c"),
        ],
    )
    def test_steps(self, up: int | None, down: int | None, expected: str) -> None:
        assert names(around(GRAPH, d("b"), up, down)) == expected

    def test_what_shares_a_source_only_is_not_there(self) -> None:
        assert "e" not in names(around(GRAPH, d("b"), None, None)).split()

    def test_a_circle_ends(self) -> None:
        graph = build([job("J", ("x",), ("y",)), job("K", ("y",), ("x",))])
        assert names(around(graph, d("x"), None, None)) == "J K x y"


class TestFind:
    @pytest.mark.parametrize("focus", ["b", f"{BROKER}/b", "dataset:b", f"dataset:{BROKER}/b"])
    def test_by_name_or_in_full(self, focus: str) -> None:
        assert find(GRAPH, focus) == d("b")

    def test_the_full_name_comes_first(self) -> None:
        graph = build([dataset("b/c", namespace="a"), dataset("a/b/c", namespace="x")])
        assert find(graph, "a/b/c") == Key("dataset", "a", "b/c")
        assert find(graph, "x/a/b/c") == Key("dataset", "x", "a/b/c")

    def test_the_kind_decides_between_a_job_and_a_dataset(self) -> None:
        graph = build([job("same", ("same",))])
        assert find(graph, "job:same") == j("same")
        assert find(graph, "dataset:same") == d("same")
        with pytest.raises(StreamtOlError) as caught:
            find(graph, "same")
        assert caught.value.code == USAGE
        assert caught.value.message == (
            f"'same' is ambiguous: 'dataset:{BROKER}/same', 'job:{JOBS}/same'"
        )

    def test_a_name_that_begins_like_a_kind(self) -> None:
        assert find(build([dataset("job:x")]), "job:x") == d("job:x")

    def test_many_candidates_are_cut(self) -> None:
        graph = build([dataset("t", namespace=f"ns{n}") for n in range(8)])
        with pytest.raises(StreamtOlError, match="'dataset:ns4/t' and 3 more"):
            find(graph, "t")

    @pytest.mark.parametrize(
        ("focus", "nearest"), [("ordres.v1", "orders.v1"), ("orders", "orders.v1"), ("J9", "J1")]
    )
    def test_nothing_names_the_nearest(self, focus: str, nearest: str) -> None:
        graph = build([job("J1", ("orders.v1",), ("payments",))])
        with pytest.raises(StreamtOlError) as caught:
            find(graph, focus)
        assert caught.value.code == USAGE
        assert caught.value.message == f"no dataset or job is named '{focus}'"
        assert caught.value.suggestion is not None
        assert f"/{nearest}'" in caught.value.suggestion.split(", ")[0]

    def test_something_is_the_nearest_even_if_nothing_is_near(self) -> None:
        with pytest.raises(StreamtOlError) as caught:
            find(build([job("J1", ("orders.v1",))]), "zzzzv")
        assert caught.value.suggestion == f"the nearest: 'dataset:{BROKER}/orders.v1'"
        with pytest.raises(StreamtOlError) as caught:
            find(build([]), "zzzzzz")
        assert caught.value.suggestion is None
