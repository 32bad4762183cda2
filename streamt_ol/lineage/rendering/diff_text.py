"""A difference for a terminal: one line per change, then what lies downstream."""

from __future__ import annotations

from collections.abc import Iterator

from streamt_ol.lineage.difference import Difference
from streamt_ol.lineage.wording import named, owners, quoted, sentence, summary


def text(difference: Difference) -> str:
    """Return the report; its last line counts the changes."""
    return "".join(f"{line}\n" for line in _lines(difference))


def _lines(difference: Difference) -> Iterator[str]:
    for change in difference.changes:
        yield f"{change.kind}: {sentence(change)}"
    affected = difference.affected
    if affected:
        yield "downstream of what is gone or retyped:"
    for one in affected:
        who = f"{named(one.key, quoted)}, owned by {owners(one.owners)}"
        yield f"  {who}, behind {named(one.cause, quoted)}"
    yield summary(difference.changes)
