"""The graph in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape

from streamt_ol.lineage.graph import DATASET, Graph, Key
from streamt_ol.lineage.rendering.style import (
    Picture,
    Style,
    columns_drawn,
    frames,
    namespaces,
    visible,
)

_HEAD = """digraph lineage {
  rankdir=%s;
  node [fontname="sans-serif", fontsize=11, style=filled];
  edge [color="#57606a", arrowsize=0.7];
"""
_SHAPES = {
    DATASET: 'shape=cylinder, fillcolor="#ddf4ff", color="#0969da"',
    "job": 'shape=box, fillcolor="#fff8c5", color="#9a6700"',
}


def dot(graph: Graph, style: Style) -> Picture:
    """Return the graph as a ``digraph``; columns are rows of a table, edges end at them."""
    return Picture("".join(_lines(graph, style)))


def _lines(graph: Graph, style: Style) -> Iterator[str]:
    yield _HEAD % style.direction
    names = {key: f"n{at}" for at, key in enumerate(graph.nodes)}
    columns = columns_drawn(graph) if style.columns else {}
    single = {kind for kind, found in namespaces(graph).items() if len(found) == 1}

    framed = frames(graph) if style.group else {}

    def statement(key: Key) -> str:
        plain = framed.get(key) == key.namespace or key.kind in single
        where = "" if plain else key.namespace
        return f"{names[key]} [{_attributes(key, where, columns.get(key, []), style)}];\n"

    yield from _clusters(framed, statement)
    yield from (f"  {statement(key)}" for key in graph.nodes if key not in framed)
    for edge in graph.edges:
        yield f"  {names[edge.source]} -> {names[edge.target]};\n"
    ports = {key: {name: at for at, name in enumerate(found)} for key, found in columns.items()}
    for line in graph.column_edges if style.columns else ():
        source = f"{names[line.source]}:c{ports[line.source][line.source_column]}"
        target = names[line.target]
        if line.target_column:
            target += f":c{ports[line.target][line.target_column]}"
        yield f'  {source} -> {target} [style=dashed, color="#8250df"];\n'
    yield "}\n"


def _clusters(framed: Mapping[Key, str], statement: Callable[[Key], str]) -> Iterator[str]:
    groups: dict[str, list[Key]] = {}
    for key, namespace in framed.items():
        groups.setdefault(namespace, []).append(key)
    for at, (namespace, keys) in enumerate(sorted(groups.items())):
        yield f'  subgraph cluster_{at} {{\n    label={_quoted(namespace)};\n    color="#8c959f";\n'
        yield from (f"    {statement(key)}" for key in keys)
        yield "  }\n"


def _attributes(key: Key, where: str, columns: list[str], style: Style) -> str:
    focus = ", penwidth=3" if key == style.focus else ""
    if columns:
        rows = "".join(
            f'<tr><td port="c{at}" align="left">{_html(name)}</td></tr>'
            for at, name in enumerate(columns)
        )
        under = f'<br/><font point-size="9">{_html(where)}</font>' if where else ""
        table = (
            '<table border="0" cellborder="1" cellspacing="0" cellpadding="4" color="#0969da" '
            f'bgcolor="#ddf4ff"><tr><td><b>{_html(key.name)}</b>{under}</td></tr>{rows}</table>'
        )
        return f'label=<{table}>, shape=plain, style=""{focus}'
    label = _escaped(key.name) + (f"\\n{_escaped(where)}" if where else "")
    return f'label="{label}", {_SHAPES[key.kind]}{focus}'


def _html(text: str) -> str:
    return escape(visible(text))


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Return text for a quoted label, where Graphviz reads escapes and entities of HTML."""
    shown = visible(text).replace("&", "&amp;")
    return shown.replace("\\", "\\\\").replace('"', '\\"')
