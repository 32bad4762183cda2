"""The graph of lineage: datasets and jobs, who reads and writes what, and columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

DATASET, JOB = "dataset", "job"


class Key(NamedTuple):
    """The identity of a node; keys sort datasets before jobs, then by namespace and name."""

    kind: str
    namespace: str
    name: str


class Column(NamedTuple):
    """A column of a dataset; ``path`` leads to it through the structures around it."""

    path: tuple[str, ...]
    type: str = ""
    description: str = ""

    @property
    def name(self) -> str:
        """The steps of the path, joined by dots."""
        return ".".join(self.path)


class Owner(NamedTuple):
    """An owner and, where it is declared, the type of the ownership."""

    name: str
    type: str = ""


class Edge(NamedTuple):
    """A flow of data: a dataset into a job that reads it, or a job into what it writes."""

    source: Key
    target: Key


class ColumnEdge(NamedTuple):
    """A column made from another one; an empty ``target_column`` is the dataset as a whole."""

    source: Key
    source_column: str
    target: Key
    target_column: str


@dataclass(slots=True)
class Node:
    """A dataset or a job, with the facets that describe it, by their keys."""

    key: Key
    facets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """The text of the ``documentation`` facet, or ``""``."""
        return _text(self.facets.get("documentation"), "description")

    @property
    def owners(self) -> list[Owner]:
        """The owners of the ``ownership`` facet, sorted, each once."""
        owners = {
            Owner(name, _text(entry, "type"))
            for entry in _objects(self.facets.get("ownership"), "owners")
            if (name := _text(entry, "name"))
        }
        return sorted(owners)

    @property
    def columns(self) -> list[Column]:
        """The columns of the ``schema`` facet, nested ones behind the one that holds them."""
        columns: dict[tuple[str, ...], Column] = {}
        waiting: list[tuple[tuple[str, ...], Mapping[str, Any]]]
        waiting = [((), entry) for entry in reversed(_fields(self.facets.get("schema")))]
        while waiting:
            above, entry = waiting.pop()
            path: tuple[str, ...] = (*above, _text(entry, "name"))
            if path in columns:  # duplicated: the first one counts
                continue
            columns[path] = Column(path, _text(entry, "type"), _text(entry, "description"))
            waiting += [(path, below) for below in reversed(_fields(entry))]
        return list(columns.values())

    @property
    def type(self) -> str:
        """The ``datasetType`` of a dataset, the ``jobType`` of a job, or ``""``."""
        name = "datasetType" if self.key.kind == DATASET else "jobType"
        return _text(self.facets.get(name), name)


@dataclass(frozen=True)
class Graph:
    """Nodes by their keys, and edges; both in canonical order.

    Every end of an edge is a node.
    """

    nodes: dict[Key, Node]
    edges: tuple[Edge, ...]
    column_edges: tuple[ColumnEdge, ...] = ()

    @cached_property
    def downstream(self) -> dict[Key, list[Key]]:
        """The targets of each node, sorted."""
        return self._neighbours((edge.source, edge.target) for edge in self.edges)

    @cached_property
    def upstream(self) -> dict[Key, list[Key]]:
        """The sources of each node, sorted."""
        return self._neighbours((edge.target, edge.source) for edge in self.edges)

    def _neighbours(self, pairs: Iterable[tuple[Key, Key]]) -> dict[Key, list[Key]]:
        found: dict[Key, list[Key]] = {key: [] for key in self.nodes}
        for one, other in pairs:
            found[one].append(other)
        return found

    def induced(self, keys: Iterable[Key]) -> Graph:
        """Return the part of the graph that consists of the nodes ``keys``."""
        kept = set(keys)
        return Graph(
            {key: node for key, node in self.nodes.items() if key in kept},
            tuple(e for e in self.edges if e.source in kept and e.target in kept),
            tuple(e for e in self.column_edges if e.source in kept and e.target in kept),
        )


def graph_of(
    nodes: Mapping[Key, Node], edges: Iterable[Edge], column_edges: Iterable[ColumnEdge] = ()
) -> Graph:
    """Return the graph in canonical order, with a bare node for every other end of an edge."""
    edges, column_edges = sorted(set(edges)), sorted(set(column_edges))
    ends = {end for edge in edges for end in edge}
    ends.update(end for edge in column_edges for end in (edge.source, edge.target))
    keys = sorted(ends.union(nodes))
    return Graph(
        {key: nodes.get(key) or Node(key) for key in keys}, tuple(edges), tuple(column_edges)
    )


def _text(value: object, name: str) -> str:
    text = value.get(name) if isinstance(value, Mapping) else None
    return text if isinstance(text, str) else ""


def _objects(value: object, name: str) -> list[Mapping[str, Any]]:
    entries = value.get(name) if isinstance(value, Mapping) else None
    return [e for e in entries if isinstance(e, Mapping)] if isinstance(entries, list) else []


def _fields(holder: object) -> list[Mapping[str, Any]]:
    """Return the fields of a schema or structure; ``ordinal_position`` decides where all have one.

    Implements ``SchemaDatasetFacetFields`` of the facet's schema.
    """
    fields = [entry for entry in _objects(holder, "fields") if _text(entry, "name")]
    positions = [entry.get("ordinal_position") for entry in fields]
    if all(type(one) is int for one in positions) and len(set(positions)) == len(positions):
        fields.sort(key=lambda entry: entry["ordinal_position"])
    return fields
