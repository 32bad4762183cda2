"""The difference of two graphs, for a reviewer: what changed, and what lies behind it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from streamt_ol.lineage.changes import Affected, Change, of_node
from streamt_ol.lineage.comparison import changed_values
from streamt_ol.lineage.graph import (
    DATASET,
    Column,
    ColumnEdge,
    Edge,
    Graph,
    Key,
    Node,
    graph_of,
)
from streamt_ol.lineage.renames import renames
from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown

_COMPARED_APART = frozenset({"schema", "ownership", "documentation", "columnLineage"})
_ABOUT_THE_FACET = frozenset({"_producer", "_schemaURL"})


@dataclass(frozen=True)
class Difference:
    """Changes in the order of their importance.

    ``old`` is the former graph with the new names of what was renamed, ``new`` the new one.
    ``renamed`` maps former identities to new ones.
    """

    old: Graph
    new: Graph
    renamed: Mapping[Key, Key]
    changes: tuple[Change, ...]

    @property
    def added_edges(self) -> list[Edge]:
        """The edges that only the new graph has."""
        return sorted(set(self.new.edges) - set(self.old.edges))

    @property
    def removed_edges(self) -> list[Edge]:
        """The edges that only the former graph has."""
        return sorted(set(self.old.edges) - set(self.new.edges))

    @property
    def affected(self) -> list[Affected]:
        """The nodes downstream of datasets that are gone, or lost or retyped a column.

        Each once, with the cause that is nearest; only what is still there.
        """
        breaking = {"dataset-removed", "column-removed", "column-retyped"}
        causes = dict.fromkeys(c.key for c in self.changes if c.kind in breaking)
        return sorted(_downstream(self, causes), key=lambda one: (one.steps, one.key))


def compare(old: Graph, new: Graph) -> Difference:
    """Return the difference of two graphs. The order of events and their times do not matter."""
    renamed = renames(old, new)
    former = relabelled(old, lambda key: renamed.get(key, key))
    changes = [
        Change(of_node(key, "renamed"), key, other=before) for before, key in renamed.items()
    ]
    changes += [
        Change(of_node(key, "removed"), key) for key in former.nodes.keys() - new.nodes.keys()
    ]
    changes += [
        Change(of_node(key, "added"), key) for key in new.nodes.keys() - former.nodes.keys()
    ]
    both = former.nodes.keys() & new.nodes.keys()
    for key in both:
        changes += _node_changes(former.nodes[key], new.nodes[key])
    changes += _edge_changes(former, new, both)
    changes += _column_edge_changes(former, new, both)
    ordered = sorted(changes, key=lambda change: change.order)
    return Difference(former, new, renamed, tuple(ordered))


def relabelled(graph: Graph, label: Callable[[Key], Key]) -> Graph:
    """Return the graph with other identities.

    Raises ``StreamtOlError`` (E506) where two nodes would become one.
    """
    nodes: dict[Key, Node] = {}
    labels = {key: label(key) for key in graph.nodes}
    for key, node in graph.nodes.items():
        other = labels[key]
        if other in nodes:
            message = f"two {key.kind}s would become one, {shown(other.name, 200)} in "
            raise StreamtOlError(INVALID, message + shown(other.namespace, 200))
        nodes[other] = Node(other, node.facets)
    return graph_of(
        nodes,
        (Edge(labels[edge.source], labels[edge.target]) for edge in graph.edges),
        (
            edge._replace(source=labels[edge.source], target=labels[edge.target])
            for edge in graph.column_edges
        ),
    )


def _node_changes(old: Node, new: Node) -> Iterator[Change]:
    if old.facets == new.facets:
        return
    key = new.key
    if old.owners != new.owners:
        yield Change("owner-changed", key, old=tuple(old.owners), new=tuple(new.owners))
    if old.description != new.description:
        texts = (old.description or None, new.description or None)
        yield Change("description-changed", key, old=texts[0], new=texts[1])
    if key.kind == DATASET:
        yield from _column_changes(key, old.columns, new.columns)
    for name in sorted((old.facets.keys() | new.facets.keys()) - _COMPARED_APART):
        one, other = (_own_part(node, name) for node in (old, new))
        if difference := next(changed_values(one, other), ""):
            yield Change("facet-changed", key, facet=name, new=difference)


def _own_part(node: Node, facet: str) -> object:
    body = node.facets.get(facet)
    return body and {name: part for name, part in body.items() if name not in _ABOUT_THE_FACET}


def _column_changes(key: Key, old: list[Column], new: list[Column]) -> Iterator[Change]:
    before, after = ({column.path: column for column in columns} for columns in (old, new))
    for path in before.keys() - after.keys():
        column = before[path]
        yield Change("column-removed", key, column.name, old=column.type or None)
    for path in after.keys() - before.keys():
        column = after[path]
        yield Change("column-added", key, column.name, new=column.type or None)
    for path in before.keys() & after.keys():
        one, other = before[path], after[path]
        if one.type != other.type:
            types = (one.type or None, other.type or None)
            yield Change("column-retyped", key, one.name, old=types[0], new=types[1])
        if one.description != other.description:
            texts = (one.description or None, other.description or None)
            yield Change("description-changed", key, one.name, old=texts[0], new=texts[1])
    yield from _moves(key, list(before), list(after))


def _moves(key: Key, old: list[tuple[str, ...]], new: list[tuple[str, ...]]) -> Iterator[Change]:
    """Yield the columns that moved within what holds them: as few as explain the new order."""
    holders = dict.fromkeys(path[:-1] for path in old)
    for holder in holders:
        before, after = ([p for p in paths if p[:-1] == holder] for paths in (old, new))
        common = set(before) & set(after)
        one, other = ([p for p in paths if p in common] for paths in (before, after))
        if one == other:
            continue
        for path in sorted(common - _longest_common(*sorted((one, other)))):
            places = (before.index(path) + 1, after.index(path) + 1)
            yield Change("column-moved", key, ".".join(path), old=places[0], new=places[1])


def _longest_common(
    one: list[tuple[str, ...]], other: list[tuple[str, ...]]
) -> set[tuple[str, ...]]:
    """Return a longest common subsequence of two orders of the same paths."""
    at = {path: place for place, path in enumerate(one)}
    tails: list[int] = []  # the smallest end of a rising run of each length
    before: dict[int, int] = {}
    for place in (at[path] for path in other):
        length = bisect_left(tails, place)
        tails[length : length + 1] = [place]
        before[place] = tails[length - 1] if length else -1
    place = tails[-1]
    kept = set()
    while place >= 0:
        kept.add(one[place])
        place = before[place]
    return kept


def _edge_changes(old: Graph, new: Graph, both: set[Key]) -> Iterator[Change]:
    was, now = set(old.edges), set(new.edges)
    for edge in was ^ now:
        reads = edge.source.kind == DATASET
        job, dataset = (edge.target, edge.source) if reads else edge
        if job in both:
            kind = "input-changed" if reads else "output-changed"
            yield _appeared(kind, job, "", dataset, dataset.name, added=edge in now)


def _column_edge_changes(old: Graph, new: Graph, both: set[Key]) -> Iterator[Change]:
    now: set[ColumnEdge] = set(new.column_edges)
    for edge in now ^ set(old.column_edges):
        if edge.target in both:
            yield _appeared(
                "column-lineage-changed",
                edge.target,
                edge.target_column,
                edge.source,
                edge.source_column,
                added=edge in now,
            )


def _appeared(kind: str, key: Key, column: str, other: Key, value: str, *, added: bool) -> Change:
    old, new = (None, value) if added else (value, None)
    return Change(kind, key, column, other, old=old, new=new)


def _downstream(difference: Difference, causes: Iterable[Key]) -> Iterator[Affected]:
    new, old = difference.new, difference.old
    seen: set[Key] = set()
    front = [(key, key) for key in causes]
    steps = 0
    while front:
        steps += 1
        ahead = []
        for key, cause in front:
            behind = new.downstream[key] if key in new.nodes else old.downstream[key]
            for other in behind:
                if other in new.nodes and other not in seen and other != cause:
                    seen.add(other)
                    ahead.append((other, cause))
                    yield Affected(other, new.nodes[other].owners, steps, cause)
        front = ahead
