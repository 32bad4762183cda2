"""Options of a picture, its result, and the words for what is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from streamt_ol.lineage.graph import DATASET, JOB, Edge, Graph, Key
from streamt_ol.redaction import printable, redact_name

DIRECTIONS = ("LR", "TB", "RL", "BT")
# What GitHub, and Mermaid itself, take if nothing else is set.
MAX_EDGES = 500
MAX_CHARACTERS = 50_000


@dataclass(frozen=True)
class Style:
    """Options of a picture.

    ``direction`` is one of ``DIRECTIONS``; ``group`` draws a frame around each namespace;
    ``columns`` draws the edges between columns; ``focus`` is a node to be marked. The limits are
    Mermaid's. For the picture of a difference, ``marks`` maps nodes to a word of what happened to
    them, ``added`` and ``removed`` are edges, and names are redacted and cut to ``longest_name``.
    """

    direction: str = "LR"
    group: bool = False
    columns: bool = False
    focus: Key | None = None
    title: str = "Lineage"
    max_edges: int = MAX_EDGES
    max_characters: int = MAX_CHARACTERS
    marks: Mapping[Key, str] = field(default_factory=dict)
    added: frozenset[Edge] = frozenset()
    removed: frozenset[Edge] = frozenset()
    longest_name: int | None = None


class Picture(NamedTuple):
    """A picture as text; ``left_out`` says what did not fit, ``""`` if all did."""

    text: str
    left_out: str = ""


def visible(text: str) -> str:
    """Return ``text`` redacted, with characters that cannot be seen, or move others, as escapes."""
    shown = redact_name(text)
    return printable(shown, len(shown))


def masked_type(text: str) -> str:
    """Return the type of a column as a document shows it, without a credential of an address.

    A structure may have a field named ``password`` or ``token``: its type is not a secret.
    """
    return redact_name(text) if "@" in text else text


def counted(number: int, what: str) -> str:
    """Return e.g. ``1 job`` or ``2 jobs``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def counts(keys: Iterable[Key], edges: int) -> str:
    """Return e.g. ``3 datasets, 2 jobs, 5 edges``; a kind that is absent is not named.

    Of nothing it is ``no datasets and no jobs``.
    """
    kinds = [key.kind for key in keys]
    if not kinds and not edges:
        return "no datasets and no jobs"
    found = [counted(kinds.count(kind), kind) for kind in (DATASET, JOB) if kind in kinds]
    return ", ".join([*found, counted(edges, "edge")])


def namespaces(graph: Graph) -> dict[str, list[str]]:
    """Return the namespaces of each kind of node, sorted."""
    found: dict[str, set[str]] = {}
    for key in graph.nodes:
        found.setdefault(key.kind, set()).add(key.namespace)
    return {kind: sorted(names) for kind, names in sorted(found.items())}


def frames(graph: Graph) -> dict[Key, str]:
    """Return the namespace in whose frame a node is drawn, where it is drawn in one.

    A dataset is in that of its namespace. So is a job of its own where there are no datasets;
    else it is in that of its datasets, if all are of one: jobs have namespaces apart from those
    of datasets, and frames around both would tear every flow in two.
    """
    alone = all(key.kind == JOB for key in graph.nodes)
    found = {}
    for key in graph.nodes:
        if alone or key.kind == DATASET:
            found[key] = key.namespace
            continue
        near = {one.namespace for one in (*graph.upstream[key], *graph.downstream[key])}
        if len(near) == 1:
            found[key] = near.pop()
    return found


def columns_drawn(graph: Graph) -> dict[Key, list[str]]:
    """Return the columns of each dataset that an edge between columns begins or ends at.

    They stand in the order of the dataset's schema, others behind them by name.
    """
    ends: dict[Key, set[str]] = {}
    for edge in graph.column_edges:
        ends.setdefault(edge.source, set()).add(edge.source_column)
        ends.setdefault(edge.target, set()).add(edge.target_column)
    found = {}
    for key, names in sorted(ends.items()):
        order = {column.name: at for at, column in enumerate(graph.nodes[key].columns)}
        found[key] = sorted(names - {""}, key=lambda name: (order.get(name, len(order)), name))
    return found
