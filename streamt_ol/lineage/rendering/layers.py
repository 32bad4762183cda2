"""A graph as the library takes it in seconds: in parts, and simpler where it is large.

The library's time grows with the square of the nodes, with the places that lines take in layers,
and with the lines between two layers, which cross. Beyond a bound, a job and what it writes are one
box, and edges that cost most are drawn straight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import ceil, sqrt
from typing import NamedTuple

from streamt_ol.lineage.graph import DATASET, JOB, Edge, Graph, Key
from streamt_ol.lineage.selection import reached

_PAIRED = 5_000  # nodes
_PLACES = 20_000  # of lines in layers, in one part
_CROWDED = 1_500  # lines between two layers
_FLAT = 0.5  # of a box and the space around it: height by width, and how much wider all may be


def writers(
    graph: Graph, sizes: Mapping[Key, tuple[int, int]], framed: Mapping[Key, str]
) -> dict[Key, Key]:
    """Return the datasets of a large graph that are drawn in one box with the job that writes them.

    No other job writes to such a dataset, the job writes to no other and does not read it, and
    nothing in the picture keeps them apart: no frame, and no height.
    """
    found = {}
    for dataset, above in graph.upstream.items() if len(graph.nodes) > _PAIRED else ():
        if dataset.kind == DATASET and [one.kind for one in above] == [JOB]:
            [job] = above
            alone = len(graph.downstream[job]) == 1 and job not in graph.downstream[dataset]
            alike = framed.get(job) == framed.get(dataset) and sizes[job][1] == sizes[dataset][1]
            if alone and alike:
                found[dataset] = job
    return found


def joined(graph: Graph, pairs: Mapping[Key, Key]) -> Graph:
    """Return the graph without the datasets in ``pairs``; their jobs lead to what reads them."""
    return Graph(
        {key: node for key, node in graph.nodes.items() if key not in pairs},
        tuple(
            Edge(pairs.get(edge.source, edge.source), edge.target)
            for edge in graph.edges
            if edge.target not in pairs
        ),
    )


def connected(
    keys: Iterable[Key], graph: Graph, framed: Mapping[Key, str] | None = None
) -> list[list[Key]]:
    """Return the parts between which there is no edge; a frame is in one part.

    ``keys`` are all nodes of the graph, or those of some parts of it.
    """
    both = {key: [*graph.upstream[key], *graph.downstream[key]] for key in keys}
    first: dict[str, Key] = {}
    for key, name in (framed or {}).items():
        one = first.setdefault(name, key)
        both[one].append(key)
        both[key].append(one)
    parts: list[list[Key]] = []
    seen: set[Key] = set()
    for key in both:
        if key not in seen:
            part = sorted(reached(both, [key]))
            seen.update(part)
            parts.append(part)
    return parts


def rows(keys: Sequence[Key], graph: Graph, framed: Mapping[Key, str], *, flat: bool) -> list[Edge]:
    """Return edges, not to be drawn, that put what nothing connects within one frame into rows.

    Without them all of that begins in the first layer, one below the other.
    """
    inside: dict[str, list[list[Key]]] = {}
    for part in connected(keys, graph) if framed else ():
        names = {framed.get(key) for key in part}
        if len(names) == 1 and (name := names.pop()) is not None:
            inside.setdefault(name, []).append(part)
    found = []
    for _, parts in sorted(inside.items()):
        ends = [_ends(part, graph) for part in parts]
        depth = sum(end.depth for end in ends) / len(ends)
        length = ceil(sqrt(len(ends) / depth * (_FLAT if flat else 1)))
        for at, (one, other) in enumerate(pairwise(ends), 1):
            if at % length:
                found.append(Edge(one.last, other.first))
    return found


class _Ends(NamedTuple):
    """A node of the first layer of a part, one of its last, and the number of its layers."""

    first: Key
    last: Key
    depth: int


def _ends(part: Sequence[Key], graph: Graph) -> _Ends:
    layers = _layers(part, graph)
    first = min(part, key=lambda key: (layers[key], key))
    last = max(part, key=lambda key: (layers[key], key))
    return _Ends(first, last, layers[last] - layers[first] + 1)


def routed(
    edges: Sequence[Edge], keys: Sequence[Key], graph: Graph
) -> tuple[list[Edge], list[Edge]]:
    """Return the edges that are led around boxes, and those that are drawn straight."""
    layers = _layers(keys, graph)
    spans = {edge: abs(layers[edge.target] - layers[edge.source]) for edge in edges}
    straight = _longest(edges, spans)
    rest = [edge for edge in edges if edge not in straight]
    if _most_lines(rest, layers) > _CROWDED:
        straight |= _closing_circles(sorted(rest, key=lambda edge: (spans[edge], edge)))
    return [edge for edge in edges if edge not in straight], sorted(straight)


def _most_lines(edges: Iterable[Edge], layers: Mapping[Key, int]) -> int:
    """Return how many lines there are between the two layers with the most."""
    begins: Counter[int] = Counter()
    for edge in edges:
        first, last = sorted((layers[edge.source], layers[edge.target]))
        begins[first] += 1
        begins[last] -= 1
    return max(accumulate(begins[layer] for layer in sorted(begins)), default=0)


def _longest(edges: Iterable[Edge], spans: dict[Edge, int]) -> set[Edge]:
    """Return the edges over the most layers, as many as exceed the bound of places."""
    places = sum(spans.values())
    found: set[Edge] = set()
    for edge in sorted(edges, key=lambda edge: (-spans[edge], edge)):
        if places <= _PLACES or spans[edge] <= 1:
            break
        places -= spans[edge]
        found.add(edge)
    return found


def _closing_circles(edges: Iterable[Edge]) -> set[Edge]:
    """Return the edges whose ends edges before them connect already, in any direction."""
    above: dict[Key, Key] = {}

    def top(key: Key) -> Key:
        while key in above:
            above[key] = key = above.get(above[key], above[key])
        return key

    found = set()
    for edge in edges:
        source, target = top(edge.source), top(edge.target)
        if source == target:
            found.add(edge)
        else:
            above[source] = target
    return found


def _layers(keys: Sequence[Key], graph: Graph) -> dict[Key, int]:
    """Return the layer of each node: behind all that lead into it, a source just before its first.

    Circles are cut anywhere.
    """
    waits = {key: len(graph.upstream[key]) for key in keys}
    layers = dict.fromkeys(keys, 0)
    ready = [key for key in keys if not waits[key]]
    done: set[Key] = set()
    rest = iter(keys)
    while len(done) < len(keys):
        key = ready.pop() if ready else next(one for one in rest if one not in done)
        if key in done:
            continue
        done.add(key)
        for other in graph.downstream[key]:
            if other not in done:
                layers[other] = max(layers[other], layers[key] + 1)
                waits[other] -= 1
                if not waits[other]:
                    ready.append(other)
    for key in keys:
        if graph.downstream[key] and not graph.upstream[key]:
            layers[key] = min(layers[other] for other in graph.downstream[key]) - 1
    return layers
