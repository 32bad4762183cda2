"""Parts of a graph: what lies around a focus, datasets alone, jobs alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from streamt_ol.lineage.graph import DATASET, JOB, Edge, Graph, Key
from streamt_ol.problems import USAGE, Location, StreamtOlError
from streamt_ol.redaction import name_line, shown

_SHOWN = 5
_LONG = 200


def only(graph: Graph, kind: str) -> Graph:
    """Return the nodes of one kind; what flows through a node of the other kind is an edge."""
    edges = {
        Edge(source, target)
        for key in graph.nodes
        if key.kind != kind
        for source in graph.upstream[key]
        for target in graph.downstream[key]
    }
    nodes = {key: node for key, node in graph.nodes.items() if key.kind == kind}
    return Graph(nodes, tuple(sorted(edges)), graph.column_edges if kind == DATASET else ())


def around(graph: Graph, focus: Key, up: int | None, down: int | None) -> Graph:
    """Return what lies within ``up`` steps before and ``down`` steps behind ``focus``.

    None is without limit; 0 is nothing in that direction.
    """
    before = reached(graph.upstream, [focus], up)
    return graph.induced({*before, *reached(graph.downstream, [focus], down)})


def reached(
    neighbours: Mapping[Key, Iterable[Key]], starts: Iterable[Key], steps: int | None = None
) -> dict[Key, int]:
    """Return what is reached from ``starts``, themselves included, with the number of steps."""
    found = dict.fromkeys(starts, 0)
    front = list(found)
    distance = 0
    while front and (steps is None or distance < steps):
        distance += 1
        ahead = dict.fromkeys(other for key in front for other in neighbours[key])
        front = [key for key in ahead if key not in found]
        found.update(dict.fromkeys(front, distance))
    return found


def find(graph: Graph, focus: str) -> Key:
    """Return the node that ``focus`` names: ``NAMESPACE/NAME``, or a name alone.

    Either may have ``dataset:`` or ``job:`` before it. Raises ``StreamtOlError`` (E500) where
    nothing has that name, with the nearest names, or several have, with all of them.
    """
    kind, separator, rest = focus.partition(":")
    kinds, wanted = ((kind,), rest) if separator and kind in (DATASET, JOB) else ((), focus)
    for text, asked in ((wanted, kinds), *([(focus, ())] if kinds else [])):
        candidates = [key for key in graph.nodes if not asked or key.kind in asked]
        for matching in (_full, _name):
            found = [key for key in candidates if matching(key) == text]
            if len(found) == 1:
                return found[0]
            if found:
                raise _several(focus, found)
    raise _nothing(graph, focus, wanted)


def _full(key: Key) -> str:
    return f"{key.namespace}/{key.name}"


def _name(key: Key) -> str:
    return key.name


def _called(key: Key) -> str:
    return f"'{key.kind}:{name_line(_full(key), _LONG)}'"


def _several(focus: str, found: list[Key]) -> StreamtOlError:
    listed = ", ".join(map(_called, found[:_SHOWN]))
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return StreamtOlError(
        USAGE,
        f"{shown(focus, _LONG)} is ambiguous: {listed}{more}",
        location=Location(option="focus"),
        suggestion="name one of them in full",
    )


def _nothing(graph: Graph, focus: str, wanted: str) -> StreamtOlError:
    message = f"no dataset or job is named {shown(focus, _LONG)}"
    near = _nearest(graph, wanted)
    suggestion = f"the nearest: {', '.join(map(_called, near))}" if near else None
    return StreamtOlError(USAGE, message, location=Location(option="focus"), suggestion=suggestion)


def _nearest(graph: Graph, wanted: str) -> list[Key]:
    """Return a few nodes whose names hold ``wanted``, or else resemble it most."""
    lowered = wanted.lower()
    holding = [key for key in graph.nodes if lowered and lowered in _full(key).lower()]
    if holding:
        return sorted(holding, key=lambda key: (len(_full(key)), key))[:_SHOWN]
    names: dict[str, Key] = {}
    for key in graph.nodes:
        for text in (key.name.rpartition("/")[2], key.name, _full(key)):
            names.setdefault(text.lower(), key)
    close = get_close_matches(lowered, names, _SHOWN, 0.5)
    if not close:  # nothing resembles it: the least unlike one is still a name to go on from
        close = get_close_matches(lowered, names, 1, 0.0)
    return list(dict.fromkeys(names[text] for text in close))
