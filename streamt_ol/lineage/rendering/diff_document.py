"""A difference as JSON, for other programs: ``diff.schema.json`` describes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import orjson

from streamt_ol.lineage.changes import KINDS, Change
from streamt_ol.lineage.difference import Difference
from streamt_ol.lineage.graph import DATASET, Edge, Key, Owner
from streamt_ol.lineage.rendering.style import masked_type
from streamt_ol.redaction import printable_json, redact_name

VERSION = 1
_OF_TYPES = frozenset({"column-added", "column-removed", "column-retyped"})


def json(difference: Difference) -> str:
    """Return the difference as indented JSON."""
    data = orjson.dumps(diff_document(difference), option=orjson.OPT_INDENT_2)
    return printable_json(data).decode() + "\n"


def diff_document(difference: Difference) -> dict[str, Any]:
    """Return the difference as a JSON object.

    Names and texts are redacted. ``edges``, applied to the former lineage after what ``renamed``
    says, give the new one.
    """
    counts = Counter(change.kind for change in difference.changes)
    return {
        "version": VERSION,
        "counts": {kind: counts[kind] for kind in KINDS if counts[kind]},
        "changes": [_change(change) for change in difference.changes],
        "renamed": [
            {"old": _key(old), "new": _key(new)} for old, new in difference.renamed.items()
        ],
        "edges": {
            "added": [_edge(edge) for edge in difference.added_edges],
            "removed": [_edge(edge) for edge in difference.removed_edges],
        },
        "downstream": [
            {
                **_key(one.key),
                "owners": [_owner(owner) for owner in one.owners],
                "steps": one.steps,
                "cause": _key(one.cause),
            }
            for one in difference.affected
        ],
    }


def _change(change: Change) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": change.kind,
        change.key.kind: _identity(change.key),
    }
    if change.column:
        found["column"] = redact_name(change.column)
    if change.facet:
        found["facet"] = redact_name(change.facet)
        found["difference"] = change.new
        return found
    if change.other is not None and change.kind.endswith("-renamed"):
        return {**found, "old": redact_name(change.other.name), "new": redact_name(change.key.name)}
    if change.other is not None:
        other = _identity(change.other)
        found["change"] = "added" if change.old is None else "removed"
        if change.kind != "column-lineage-changed":
            return {**found, DATASET: other}
        return {**found, "source": {**other, "column": redact_name(str(change.new or change.old))}}
    mask = masked_type if change.kind in _OF_TYPES else redact_name
    values = {"old": _value(change.old, mask), "new": _value(change.new, mask)}
    return {**found, **{name: value for name, value in values.items() if value is not None}}


def _value(value: object, mask: Callable[[str], str]) -> object:
    if isinstance(value, tuple):
        return [_owner(owner) for owner in value]
    return mask(value) if isinstance(value, str) else value


def _owner(owner: Owner) -> dict[str, str]:
    return {
        "name": redact_name(owner.name),
        **({"type": redact_name(owner.type)} if owner.type else {}),
    }


def _key(key: Key) -> dict[str, str]:
    return {"kind": key.kind, **_identity(key)}


def _identity(key: Key) -> dict[str, str]:
    return {"namespace": redact_name(key.namespace), "name": redact_name(key.name)}


def _edge(edge: Edge) -> dict[str, Any]:
    return {"source": _key(edge.source), "target": _key(edge.target)}
