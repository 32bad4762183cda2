"""Check one event alone: the fast path first, the reference validator where it refuses."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from streamt_ol.openlineage.events import kind_of
from streamt_ol.validation.accept.schema import accepts
from streamt_ol.validation.explain import local
from streamt_ol.validation.rules import finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamt_ol.validation.explain.skeleton import Remembered
    from streamt_ol.validation.findings import Finding


def check_event(event: Any) -> list[Finding]:
    """Return every finding about one parsed event, errors, warnings and notes; [] if none.

    Raises ``StreamtOlError`` only where a pinned schema is damaged.
    """
    if not isinstance(event, dict):
        return [finding("OL-R008", "", "expected an event, which is a JSON object")]
    kind = kind_of(event)
    if kind is None:
        return [local.kind_finding(event)]
    return judge(kind, event)[1]


def judge(kind: str, event: dict[str, Any]) -> tuple[bool, list[Finding]]:
    """Return whether an event of ``kind`` certainly meets its schema, and every finding."""
    trusted = accepts(kind)(event)
    return trusted, [*(() if trusted else refused(kind, event)), *local.explain(kind, event)]


def refused(kind: str, event: dict[str, Any]) -> list[Finding]:
    """Return what the reference validator finds in an event that the fast path refused."""
    try:
        return _remembered().findings(kind, event)
    except RecursionError:
        from streamt_ol.validation.explain.schema import schema_findings

        return _deep(lambda: schema_findings(kind, event))


@cache
def _remembered() -> Remembered:
    # Imports jsonschema, which a run without faults need not.
    from streamt_ol.validation.explain.schema import schema_findings
    from streamt_ol.validation.explain.skeleton import Remembered

    return Remembered(schema_findings)


def _deep(call: Callable[[], list[Finding]]) -> list[Finding]:
    """Return the findings of ``call`` for an event that is nested unusually deep."""
    from streamt_ol.validation.explain.depth import with_room

    try:
        return with_room(call)
    except RecursionError:
        message = "breaks its schema in a place nested too deeply to name"
        return [finding("OL-R011", "", message)]
