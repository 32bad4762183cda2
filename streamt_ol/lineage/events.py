"""From events to the graph: what is declared, and what all runs of a job read and wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from streamt_ol.lineage.graph import DATASET, JOB, ColumnEdge, Edge, Graph, Key, Node, graph_of
from streamt_ol.openlineage.formats import instant
from streamt_ol.problems import INVALID, Location, StreamtOlError, pointer

Event = Mapping[str, Any]
Time = tuple[int, bool, str]
_NO_TIME: Time = (-1, False, "")
_DIRECTIONS = ("inputs", "outputs")


class _Version(NamedTuple):
    """A facet as one event has it. Of two at one time the order of the events does not decide."""

    time: Time
    body: Mapping[str, Any]

    def is_newer_than(self, other: _Version) -> bool:
        """Tell whether this one describes the node rather than ``other``."""
        if self.time != other.time:
            return self.time > other.time
        return self.body != other.body and _canonical(self.body) > _canonical(other.body)


class _Design(NamedTuple):
    """The inputs and outputs of a JobEvent, and its time."""

    time: Time
    edges: frozenset[Edge]


class GraphBuilder:
    """Takes events one after the other, in any order, and builds their graph.

    The latest JobEvent tells what a job is designed to read and write; each run adds what it has
    read and written. A node has the latest facets of all events, by ``eventTime``; one that is
    withdrawn with ``_deleted`` is left out, as are facets of runs, inputs and outputs.
    """

    def __init__(self) -> None:
        self._facets: dict[Key, dict[str, _Version]] = {}
        self._designs: dict[Key, _Design] = {}
        self._runs: set[Edge] = set()

    def add(self, event: object) -> None:
        """Add one event.

        Raises ``StreamtOlError`` (E506, at a pointer into the event) for what is not an event of
        one of the three kinds, or has no names.
        """
        if not isinstance(event, Mapping):
            raise StreamtOlError(INVALID, "the event is not an object", location=Location())
        time = _time(event)
        if "dataset" in event and "job" not in event and "run" not in event:
            self._node(DATASET, event["dataset"], time, Location(pointer="/dataset"))
            return
        if "job" not in event or "dataset" in event:
            message = "the event is not a run event, a job event or a dataset event"
            raise StreamtOlError(INVALID, message, location=Location())
        job = self._node(JOB, event["job"], time, Location(pointer="/job"))
        edges = {edge for name in _DIRECTIONS for edge in self._edges(job, event, name, time)}
        if "run" in event:
            self._runs |= edges
        else:
            self._design(job, time, edges)

    def graph(self) -> Graph:
        """Return the graph of the events added so far."""
        nodes = {key: Node(key, _current(facets)) for key, facets in self._facets.items()}
        edges = self._runs.union(*(design.edges for design in self._designs.values()))
        columns = (edge for node in nodes.values() for edge in _column_edges(node))
        return graph_of(nodes, edges, columns)

    def _design(self, job: Key, time: Time, edges: set[Edge]) -> None:
        known = self._designs.get(job)
        if known is not None and known.time == time:
            edges |= known.edges
        if known is None or known.time <= time:
            self._designs[job] = _Design(time, frozenset(edges))

    def _edges(self, job: Key, event: Event, name: str, time: Time) -> Iterable[Edge]:
        entries = event.get(name)
        if entries is None:
            return
        if not isinstance(entries, list):
            raise StreamtOlError(
                INVALID, f"{name} is not a list", location=Location(pointer=pointer(name))
            )
        for index, entry in enumerate(entries):
            dataset = self._node(DATASET, entry, time, Location(pointer=pointer(name, index)))
            yield Edge(dataset, job) if name == "inputs" else Edge(job, dataset)

    def _node(self, kind: str, entity: object, time: Time, location: Location) -> Key:
        key = _key(kind, entity, location)
        known = self._facets.setdefault(key, {})
        facets = entity.get("facets") if isinstance(entity, Mapping) else None
        for name, body in facets.items() if isinstance(facets, Mapping) else ():
            if isinstance(body, Mapping):
                version = _Version(time, body)
                if name not in known or version.is_newer_than(known[name]):
                    known[name] = version
        return key


def build(events: Iterable[object]) -> Graph:
    """Return the graph of ``events``; see ``GraphBuilder``."""
    builder = GraphBuilder()
    for event in events:
        builder.add(event)
    return builder.graph()


def _time(event: Event) -> Time:
    text = event.get("eventTime")
    found = instant(text) if isinstance(text, str) else None
    return _NO_TIME if found is None else (found.seconds, found.leap, found.fraction)


def _key(kind: str, entity: object, location: Location) -> Key:
    if not isinstance(entity, Mapping):
        raise StreamtOlError(INVALID, f"the {kind} is not an object", location=location)
    for part in ("namespace", "name"):
        if not isinstance(entity.get(part), str):
            message = f"the {kind} has no {part} that is a text"
            raise StreamtOlError(INVALID, message, location=location.below(part))
    return Key(kind, entity["namespace"], entity["name"])


def _canonical(body: Mapping[str, Any]) -> bytes:
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS)


def _current(facets: Mapping[str, _Version]) -> dict[str, Mapping[str, Any]]:
    return {
        name: version.body
        for name, version in sorted(facets.items())
        if version.body.get("_deleted") is not True
    }


def _column_edges(node: Node) -> Iterable[ColumnEdge]:
    """Yield the edges of the ``columnLineage`` facet, which only datasets have.

    What is malformed is omitted, as is a column whose name is empty: it names nothing.
    """
    if node.key.kind != DATASET:
        return
    facet = node.facets.get("columnLineage", {})
    fields = facet.get("fields")
    for column, entry in fields.items() if isinstance(fields, Mapping) else ():
        if not column:
            continue
        inputs = entry.get("inputFields") if isinstance(entry, Mapping) else None
        yield from _from_columns(inputs, node.key, column)
    yield from _from_columns(facet.get("dataset"), node.key, "")


def _from_columns(inputs: object, target: Key, column: str) -> Iterable[ColumnEdge]:
    for one in inputs if isinstance(inputs, list) else ():
        if isinstance(one, Mapping):
            parts = [one.get(part) for part in ("namespace", "name", "field")]
            if all(isinstance(part, str) for part in parts) and parts[2]:
                namespace, name, source = map(str, parts)
                yield ColumnEdge(Key(DATASET, namespace, name), source, target, column)
