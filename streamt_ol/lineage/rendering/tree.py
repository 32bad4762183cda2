"""The graph as an indented tree for a terminal: what flows where, from the sources on."""

from __future__ import annotations

from collections.abc import Iterator

from streamt_ol.lineage.graph import ColumnEdge, Graph, Key
from streamt_ol.lineage.rendering.style import Picture, Style, counts, namespaces
from streamt_ol.redaction import name_line, printable_line

# A longer branch goes on at the left edge, so that the tree stays readable and small.
_DEEPEST = 16
_LONGEST = 400  # characters of a name


def tree(graph: Graph, style: Style) -> Picture:
    """Return the tree; a node that several branches reach is followed once."""
    lines = [counts(graph.nodes, len(graph.edges))]
    known = namespaces(graph)
    single = {kind: names[0] for kind, names in known.items() if len(names) == 1}
    if not style.group:
        lines += [f"{kind}s in {_shown(name)}" for kind, name in single.items() if name]
    lines += _Tree(graph, style, single).lines()
    return Picture("".join(f"{printable_line(line)}\n" for line in lines))


def _shown(name: str) -> str:
    return name_line(name, _LONGEST)


class _Tree:
    """The lines of one tree. ``_followed`` are the nodes whose branches are drawn."""

    def __init__(self, graph: Graph, style: Style, single: dict[str, str]) -> None:
        self._graph = graph
        self._style = style
        self._single = single
        self._followed: set[Key] = set()
        self._columns: dict[Key, list[ColumnEdge]] = {}
        for edge in graph.column_edges if style.columns else ():
            self._columns.setdefault(edge.target, []).append(edge)

    def lines(self) -> Iterator[str]:
        """Yield the branches of all sources, then those of circles that no source leads into."""
        heading = None
        starts = [key for key in self._graph.nodes if not self._graph.upstream[key]]
        for start in [*starts, *self._graph.nodes]:
            if start in self._followed:
                continue
            yield ""
            if self._style.group and start.namespace != heading:
                heading = start.namespace
                yield f"{_shown(heading) or '(no namespace)'}:"
            continued = [start]
            while continued:
                yield from self._branch(continued.pop(0), continued)

    def _branch(self, start: Key, continued: list[Key]) -> Iterator[str]:
        waiting = [(start, "", "", 0)]
        while waiting:
            key, before, indent, depth = waiting.pop()
            below = self._graph.downstream[key]
            if key in self._followed:
                yield f"{before}{self._label(key)}{' (see above)' if below else ''}"
                continue
            if depth == _DEEPEST and below:
                continued.append(key)
                yield f"{before}{self._label(key)} (continued below)"
                continue
            self._followed.add(key)
            yield f"{before}{self._label(key)}"
            for line in self._column_lines(key):
                yield f"{indent}{'│  ' if below else '   '}{line}"
            last = len(below) - 1
            waiting += [
                (
                    other,
                    f"{indent}{'└─ ' if at == last else '├─ '}",
                    f"{indent}{'   ' if at == last else '│  '}",
                    depth + 1,
                )
                for at, other in reversed(list(enumerate(below)))
            ]

    def _label(self, key: Key) -> str:
        plain = key.kind in self._single and not self._style.group
        where = "" if plain or not key.namespace else f"  [{_shown(key.namespace)}]"
        mark = "  <- focus" if key == self._style.focus else ""
        return f"{key.kind} {_shown(key.name)}{where}{mark}"

    def _column_lines(self, key: Key) -> Iterator[str]:
        for edge in self._columns.get(key, ()):
            plain = edge.source.kind in self._single
            where = "" if plain else f"  [{_shown(edge.source.namespace)}]"
            target = _shown(edge.target_column) or "(all columns)"
            source = f"{_shown(edge.source.name)}: {_shown(edge.source_column)}"
            yield f"{target} <- {source}{where}"
