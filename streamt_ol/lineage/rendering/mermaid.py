"""The graph as a Mermaid flowchart, within the limits of the pages that draw it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from streamt_ol.lineage.graph import DATASET, Edge, Graph, Key
from streamt_ol.lineage.rendering.style import (
    Picture,
    Style,
    columns_drawn,
    counts,
    frames,
    namespaces,
    visible,
)
from streamt_ol.lineage.selection import reached
from streamt_ol.redaction import name_line

_CLASSES = {
    DATASET: "fill:#ddf4ff,stroke:#0969da,color:#1f2328",
    "job": "fill:#fff8c5,stroke:#9a6700,color:#1f2328",
    "added": "fill:#dafbe1,stroke:#1a7f37,color:#1f2328,stroke-width:3px",
    "removed": "fill:#ffebe9,stroke:#cf222e,color:#1f2328,stroke-width:3px,stroke-dasharray:5 3",
    "changed": "fill:#fff1e5,stroke:#bc4c00,color:#1f2328,stroke-width:3px",
    "focus": "stroke-width:4px",
}
_PLACEHOLDERS = "ﬂ¶"
_SIGNS = f"{_PLACEHOLDERS}$\\"
# What the head, the classes and the note about what was left out may take.
_RESERVED = 1_200


def mermaid(graph: Graph, style: Style, order: Iterable[Key] = ()) -> Picture:
    """Return the flowchart; nodes of ``order`` come first where not all of them fit.

    A dataset is drawn without its columns, and a node left out with all of its edges, where they
    do not fit into ``max_edges`` and ``max_characters`` (of UTF-16, as Mermaid counts). What was
    left out stands in the picture.
    """
    chart = _Chart(graph, style)
    first = [] if style.focus is None else [style.focus]
    for key in dict.fromkeys([*first, *order, *_connected(graph)]):
        chart.take(key)
    return chart.picture()


class _Flow(NamedTuple):
    """An edge, or one between columns, as a line of the chart."""

    source: Key
    target: Key
    line: str
    of_columns: bool


class _Chart:
    """A flowchart that grows node by node while there is room for them."""

    def __init__(self, graph: Graph, style: Style) -> None:
        self._graph = graph
        self._style = style
        self._ids = {key: f"n{at}" for at, key in enumerate(graph.nodes)}
        self._columns = columns_drawn(graph) if style.columns else {}
        self._single = {kind for kind, names in namespaces(graph).items() if len(names) == 1}
        self._frames = frames(graph) if style.group else {}
        self._nodes: dict[Key, str] = {}
        self._refused: set[Key] = set()
        self._plain: set[Key] = set()  # those whose columns did not fit
        self._edge_count = 0
        self._room = style.max_characters - _RESERVED
        self._groups: dict[str, str] = {}
        self._flows: dict[Key, list[_Flow]] = {key: [] for key in graph.nodes}
        for flow in self._all_edges():
            for end in {flow.source, flow.target}:
                self._flows[end].append(flow)

    def take(self, key: Key) -> None:
        """Add a node and its edges to nodes that are there, where all of this fits.

        Nothing goes on behind a node that was left out: it would look as if it began there.
        """
        neighbours = {end for flow in self._flows[key] for end in (flow.source, flow.target)}
        if not self._refused.isdisjoint(neighbours) or not (
            self._fits(key) or (key in self._columns and self._fits(key, plain=True))
        ):
            self._refused.add(key)

    def _fits(self, key: Key, *, plain: bool = False) -> bool:
        """Add a node, ``plain`` without its columns, if there is room for it and its edges."""
        node = self._node(key, plain=plain)
        nodes, without = self._nodes.keys() | {key}, self._plain | ({key} if plain else set())
        edges = [flow.line for flow in self._flows[key] if _is_drawn(flow, nodes, without)]
        group, name = "", self._frames.get(key)
        if name is not None and name not in self._groups:
            group = f'  subgraph g{len(self._groups)}["{self._label(name)}"]\n  end\n'
        size = sum(map(_length, (node, *edges, group)))
        if size > self._room or self._edge_count + len(edges) > self._style.max_edges:
            return False
        self._room -= size
        self._nodes[key] = node
        self._plain = without
        self._edge_count += len(edges)
        if name is not None and group:
            self._groups[name] = group.partition("\n")[0]
        return True

    def picture(self) -> Picture:
        """Return the chart of all that fitted."""
        left_out = self._left_out()
        lines = [f"flowchart {self._style.direction}\n", *self._body(), *self._edges()]
        if left_out:
            lines.append(f'  left_out["{label(f"left out: {left_out}")}"]\n')
        used = {self._style.marks.get(key, key.kind) for key in self._nodes}
        if self._style.focus in self._nodes:
            used.add("focus")
            lines.append(f"  class {self._ids[self._style.focus]} focus\n")
        lines += [f"  classDef {name} {css}\n" for name, css in _CLASSES.items() if name in used]
        return Picture("".join(lines), left_out)

    def _body(self) -> Iterator[str]:
        ordered = [key for key in self._graph.nodes if key in self._nodes]
        inside: dict[str | None, list[str]] = {}
        for key in ordered:
            inside.setdefault(self._frames.get(key), []).append(self._nodes[key])
        for namespace, opening in sorted(self._groups.items()):
            yield from (f"{opening}\n", *inside[namespace], "  end\n")
        yield from inside.get(None, ())

    def _edges(self) -> Iterator[str]:
        """Yield the edges between the nodes that are there, in the graph's order."""
        for flow in self._all_edges():
            if _is_drawn(flow, self._nodes.keys(), self._plain):
                yield flow.line

    def _node(self, key: Key, *, plain: bool) -> str:
        text = self._label(key.name)
        framed = self._frames.get(key) == key.namespace
        if not framed and key.kind not in self._single and key.namespace:
            text += f"<br/>{self._label(key.namespace)}"
        name, shown = self._ids[key], self._style.marks.get(key, key.kind)
        if not plain and (columns := self._columns.get(key)):
            inner = "".join(f'    {name}c{at}["{label(c)}"]\n' for at, c in enumerate(columns))
            return f'  subgraph {name}["{text}"]\n{inner}  end\n  class {name} {shown}\n'
        shape = f'[("{text}")]' if key.kind == DATASET else f'["{text}"]'
        return f"  {name}{shape}:::{shown}\n"

    def _all_edges(self) -> Iterator[_Flow]:
        for edge in self._graph.edges:
            line = f"  {self._ids[edge.source]} {self._arrow(edge)} {self._ids[edge.target]}\n"
            yield _Flow(edge.source, edge.target, line, of_columns=False)
        ids = {
            (key, column): f"{self._ids[key]}c{at}"
            for key, columns in self._columns.items()
            for at, column in enumerate(columns)
        }
        for one in self._graph.column_edges if self._style.columns else ():
            target = ids.get((one.target, one.target_column), self._ids[one.target])
            line = f"  {ids[one.source, one.source_column]} -.-> {target}\n"
            yield _Flow(one.source, one.target, line, of_columns=True)

    def _arrow(self, edge: Edge) -> str:
        if edge in self._style.removed:
            return "-.->"
        return "==>" if edge in self._style.added else "-->"

    def _label(self, text: str) -> str:
        limit = self._style.longest_name
        return label(text if limit is None else name_line(text, limit)) or " "

    def _left_out(self) -> str:
        missing = [key for key in self._graph.nodes if key not in self._nodes]
        columns = self._graph.column_edges if self._style.columns else ()
        edges = len(self._graph.edges) + len(columns) - self._edge_count
        return counts(missing, edges) if missing or edges else ""


def _is_drawn(flow: _Flow, nodes: Container[Key], plain: Container[Key]) -> bool:
    """Tell whether both ends of an edge are there, and the columns of one between columns."""
    ends = (flow.source, flow.target)
    return all(end in nodes and not (flow.of_columns and end in plain) for end in ends)


def label(text: str) -> str:
    """Return text for a quoted label, in which Mermaid sees neither syntax, Markdown nor HTML.

    Anything but letters, digits and harmless marks between them is written as ``#CODE;``.
    """
    # Mermaid's own placeholders for entities; and its math between two $$ and its \n for a new
    # line, which entities do not hide: what follows a sign of them must not complete one.
    shown = "".join(f"{c}\u200b" if c in _SIGNS else c for c in visible(text))
    last = len(shown) - 1
    return "".join(
        character
        if _is_plain(character) or (character in " -_/." and 0 < at < last
                                    and _is_plain(shown[at - 1]) and _is_plain(shown[at + 1]))
        else f"#{ord(character)};"
        for at, character in enumerate(shown)
    )  # fmt: skip


def _is_plain(character: str) -> bool:
    return character.isalnum() and character not in _PLACEHOLDERS


def _length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _connected(graph: Graph) -> Iterator[Key]:
    """Yield all nodes so that each is near those before it, as far as the graph is connected."""
    both = {key: [*graph.upstream[key], *graph.downstream[key]] for key in graph.nodes}
    seen: set[Key] = set()
    for start in graph.nodes:
        if start not in seen:
            found = reached(both, [start])
            seen.update(found)
            yield from found
