"""Changes of lineage in plain English, the same in every report for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from streamt_ol.lineage.changes import KINDS, Change
from streamt_ol.lineage.graph import Key, Owner
from streamt_ol.redaction import name_line

Quote = Callable[[str], str]
LONGEST = 200


def quoted(text: str) -> str:
    """Return user text for a line of plain text: redacted, on one line, in quotation marks."""
    return f"'{name_line(text, LONGEST)}'"


def named(key: Key, quote: Quote) -> str:
    """Return e.g. ``dataset 'orders' in 'kafka://broker:9092'``."""
    where = f" in {quote(key.namespace)}" if key.namespace else ""
    return f"{key.kind} {quote(key.name)}{where}"


def sentence(change: Change, quote: Quote = quoted) -> str:
    """Return what changed; ``quote`` makes user text safe where the sentence is shown."""
    who = named(change.key, quote)
    match change.kind.partition("-")[2]:
        case "removed" | "added" if not change.column:
            return f"{who} is {change.kind.partition('-')[2]}"
        case "renamed":
            assert change.other is not None
            return f"{who} was {quote(change.other.name)}"
        case "lineage-changed":
            return f"{who}: {_column_lineage(change, quote)}"
    if change.kind in ("input-changed", "output-changed"):
        verb = {"input-changed": "read", "output-changed": "write"}[change.kind]
        return f"{who} {_flow(change, verb, quote)}"
    return f"{who}: {_detail(change, quote)}"


def _flow(change: Change, verb: str, quote: Quote) -> str:
    assert change.other is not None
    dataset = named(change.other, quote)
    return f"now {verb}s {dataset}" if change.old is None else f"no longer {verb}s {dataset}"


def _column_lineage(change: Change, quote: Quote) -> str:
    assert change.other is not None
    target = f"column {quote(change.column)}" if change.column else "every column"
    source = f"column {quote(str(change.new or change.old))} of {named(change.other, quote)}"
    return f"{target} is {'now' if change.old is None else 'no longer'} made from {source}"


def _detail(change: Change, quote: Quote) -> str:
    column = f"column {quote(change.column)} " if change.column else ""
    values = f"from {_value(change.old, quote)} to {_value(change.new, quote)}"
    match change.kind:
        case "column-removed":
            return f"{column}is removed"
        case "column-added":
            return f"{column}is added"
        case "column-retyped":
            return f"{column}is retyped {values}"
        case "column-moved":
            return f"{column}moved from position {change.old} to {change.new}"
        case "owner-changed":
            return f"the owners changed {values}"
        case "description-changed":
            return f"the description of {column}changed {values}" if column else (
                f"the description changed {values}"
            )  # fmt: skip
    return f"the facet {quote(change.facet)} changed: {quote(str(change.new))}"


def _value(value: object, quote: Quote) -> str:
    if isinstance(value, tuple):
        return owners(value, quote)
    return "none" if value is None else quote(str(value))


def owners(found: Iterable[Owner], quote: Quote = quoted) -> str:
    """Return the owners with their types, or ``nobody``."""
    texts = [
        quote(owner.name) + (f" ({quote(owner.type)})" if owner.type else "") for owner in found
    ]
    return ", ".join(texts) or "nobody"


def summary(changes: Iterable[Change]) -> str:
    """Return how many changes of each kind there are, e.g. ``2 changes: 2 job-added``."""
    kinds = Counter(change.kind for change in changes)
    total = sum(kinds.values())
    if not total:
        return "no differences"
    listed = ", ".join(f"{kinds[kind]:,} {kind}" for kind in KINDS if kinds[kind])
    return f"{total:,} change{'' if total == 1 else 's'}: {listed}"
