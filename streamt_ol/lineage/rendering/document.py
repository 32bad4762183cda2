"""The graph as JSON, for other programs: ``graph.schema.json`` describes it."""

from __future__ import annotations

from typing import Any

import orjson

from streamt_ol.lineage.graph import DATASET, Column, Graph, Node
from streamt_ol.lineage.rendering.style import Picture, Style, masked_type
from streamt_ol.redaction import printable_json, redact_name

VERSION = 1


def document(graph: Graph, style: Style) -> Picture:
    """Return the graph as indented JSON."""
    data = orjson.dumps(graph_document(graph, style), option=orjson.OPT_INDENT_2)
    return Picture(printable_json(data).decode() + "\n")


def graph_document(graph: Graph, style: Style) -> dict[str, Any]:
    """Return the graph as a JSON object; edges name nodes by their position in ``nodes``.

    Names and texts are redacted; two that differ in a credential alone look the same.
    Edges between columns are there with ``style.columns``; an absent ``target_column`` stands for
    the dataset as a whole.
    """
    at = {key: position for position, key in enumerate(graph.nodes)}
    shown: dict[str, Any] = {
        "version": VERSION,
        "nodes": [_node(node) for node in graph.nodes.values()],
        "edges": [{"source": at[edge.source], "target": at[edge.target]} for edge in graph.edges],
    }
    if style.columns:
        shown["column_edges"] = [
            _filled(
                source=at[edge.source],
                source_column=redact_name(edge.source_column),
                target=at[edge.target],
                target_column=redact_name(edge.target_column),
            )
            for edge in graph.column_edges
        ]
    if style.focus is not None:
        shown["focus"] = at[style.focus]
    return shown


def _node(node: Node) -> dict[str, Any]:
    kind, namespace, name = node.key
    described = _filled(
        type=redact_name(node.type),
        description=redact_name(node.description),
        owners=[
            _filled(name=redact_name(owner.name), type=redact_name(owner.type))
            for owner in node.owners
        ],
        columns=[_column(column) for column in node.columns] if kind == DATASET else [],
    )
    return {
        "kind": kind,
        "namespace": redact_name(namespace),
        "name": redact_name(name),
        **described,
    }


def _column(column: Column) -> dict[str, Any]:
    return _filled(
        name=redact_name(column.name),
        path=[redact_name(step) for step in column.path] if len(column.path) > 1 else [],
        type=masked_type(column.type),
        description=redact_name(column.description),
    )


def _filled(**values: Any) -> dict[str, Any]:
    """Return the values that are not empty; what is not declared is omitted."""
    return {name: value for name, value in values.items() if value not in ("", [])}
