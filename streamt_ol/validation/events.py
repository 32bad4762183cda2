"""Check one event alone: the fast path first, the reference validator where it refuses."""

from __future__ import annotations

from threading import local as of_thread
from typing import TYPE_CHECKING, Any

import orjson

from streamt_ol.openlineage.events import kind_of
from streamt_ol.validation.accept.local import FACETS_RULES, accepts_besides
from streamt_ol.validation.accept.schema import accepts
from streamt_ol.validation.explain import local
from streamt_ol.validation.explain.explanation import Said, explanation
from streamt_ol.validation.rules import finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamt_ol.validation.explain.parts import AnySaid
    from streamt_ol.validation.faulty_path import FaultyPath
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
    if accepts(kind)(event) and accepts_besides()(kind, event):
        return []
    return [found for one in said(kind, event) for found in one.findings()]


def said(kind: str, event: dict[str, Any]) -> list[AnySaid]:
    """Return what is said of an event of ``kind`` that is not accepted."""
    from streamt_ol.validation.explain.containers import UnknownError
    from streamt_ol.validation.explain.parts import OF_FRAMES

    try:
        found = faulty_path().said(kind, orjson.dumps(event))
    except (TypeError, UnknownError):  # nested deeper than orjson writes, or unusual
        return said_of_whole(kind, event)
    more = [*local.explain(kind, event, OF_FRAMES | FACETS_RULES.keys())]
    return [*found, Said(explanation(more))] if more else found


def said_of_whole(kind: str, event: dict[str, Any]) -> list[AnySaid]:
    """Return what is said of an event of ``kind``, without looking at its parts."""
    from streamt_ol.validation.explain.schema import schema_findings

    try:
        found = schema_findings(kind, event)
    except RecursionError:
        found = _deep(lambda: schema_findings(kind, event))
    return [Said(explanation([*found, *local.explain(kind, event)]))]


def said_of_own(event: dict[str, Any], ignored: frozenset[str]) -> AnySaid:
    """Return what is said of an event of streamt's own that is not accepted.

    The rules that are ``ignored`` hide no other one.
    """
    from streamt_ol.validation.explain import own

    try:
        return faulty_path().own.said(event, ignored, check_event)
    except TypeError:  # nested deeper than orjson writes
        return Said(explanation(own.findings(event, ignored, check_event)))


def faulty_path() -> FaultyPath:
    """Return what explains events in this thread."""
    try:
        path: FaultyPath = _of_thread.path
    except AttributeError:
        from streamt_ol.validation.faulty_path import FaultyPath

        path = _of_thread.path = FaultyPath()
    return path


_of_thread = of_thread()


def _deep(call: Callable[[], list[Finding]]) -> list[Finding]:
    """Return the findings of ``call`` for an event that is nested unusually deep."""
    from streamt_ol.validation.explain.depth import with_room

    try:
        return with_room(call)
    except RecursionError:
        message = "breaks its schema in a place nested too deeply to name"
        return [finding("OL-R011", "", message)]
