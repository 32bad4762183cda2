"""The part of an event that breaks its schema, by which findings are remembered.

Faults repeat: a producer that writes a field wrongly does so in each event. What the fast path
accepts for itself is replaced by the same stand-in in all events (a facet is left out), so that
events with the same faults have the same skeleton, and the reference validator need look at one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from streamt_ol.openlineage.facets import STANDARD_FACETS
from streamt_ol.validation.accept.flatten import event_schema
from streamt_ol.validation.accept.schema import compiled

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamt_ol.validation.findings import Finding

_REMEMBERED = 2_000  # skeletons
_LONGEST = 8_192  # bytes of a skeleton that is remembered
_MOST = 20  # findings of one
_ITEM = "[]"
_ENTITY = {"namespace": "x", "name": "x"}
_RUN_ID = "00000000-0000-0000-0000-000000000000"
# What stands for each part of an event that its schema accepts.
_STAND_INS: dict[str, Any] = {
    "eventTime": "2000-01-01T00:00:00Z",
    "producer": "urn:x",
    "schemaURL": "urn:x",
    "eventType": "OTHER",
    "runId": _RUN_ID,
    "run": {"runId": _RUN_ID},
    "job": _ENTITY,
    "dataset": _ENTITY,
    "inputs": [],
    "outputs": [],
    _ITEM: _ENTITY,
    **_ENTITY,
}


class _Part(NamedTuple):
    """A part of an event: what accepts it, its own parts by name, the facets that it contains."""

    accepts: Callable[[Any], bool]
    stand_in: Any
    parts: dict[str, _Part]
    facets: dict[str, Callable[[Any], bool]] | None


class Remembered:
    """The findings of the events that a function has judged, by kind and skeleton."""

    def __init__(self, judge: Callable[[str, dict[str, Any]], list[Finding]]) -> None:
        self._judge = judge
        self._known: dict[tuple[str, bytes], list[Finding]] = {}

    def findings(self, kind: str, event: dict[str, Any]) -> list[Finding]:
        """Return what the function finds in ``event`` of ``kind``."""
        parts = _parts(kind)
        reduced = {
            name: _reduced(parts[name], value) if name in parts else value
            for name, value in event.items()
        }
        try:
            key = kind, orjson.dumps(reduced)
        except TypeError:  # nested deeper than orjson writes
            return self._judge(kind, event)
        found = self._known.get(key)
        if found is None:
            found = self._judge(kind, reduced)
            if len(key[1]) <= _LONGEST and len(found) <= _MOST:
                if len(self._known) == _REMEMBERED:
                    self._known.clear()
                self._known[key] = found
        return found


def _reduced(part: _Part, value: Any) -> Any:
    """Return ``value`` with stand-ins for all that ``part`` accepts of it."""
    if part.accepts(value):
        return part.stand_in
    if isinstance(value, list) and _ITEM in part.parts:
        return [_reduced(part.parts[_ITEM], one) for one in value]
    if not isinstance(value, dict):
        return value
    if part.facets is not None:
        known, others = part.facets, part.facets[""]
        return {key: one for key, one in value.items() if not known.get(key, others)(one)}
    parts = part.parts
    return {
        name: _reduced(parts[name], one) if name in parts else one for name, one in value.items()
    }


@cache
def _parts(kind: str) -> dict[str, _Part]:
    """Return the parts of an event of ``kind``."""
    schema = event_schema(kind, STANDARD_FACETS)
    return _parts_of(schema, schema["$defs"])


def _parts_of(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, _Part]:
    return {
        name: _part(name, inner, definitions)
        for name, inner in schema.get("properties", {}).items()
        if inner is not False
    }


def _part(name: str, schema: dict[str, Any], definitions: dict[str, Any]) -> _Part:
    accepts = _accepts(schema, definitions)
    if "$ref" in schema:  # a container of facets
        container = definitions[schema["$ref"].removeprefix("#/$defs/")]
        facets = {
            key: _accepts(inner, definitions)
            for key, inner in {
                **container["properties"],
                "": container["additionalProperties"],
            }.items()
        }
        return _Part(accepts, {}, {}, facets)
    parts = _parts_of(schema, definitions)
    if "items" in schema:
        parts[_ITEM] = _part(_ITEM, schema["items"], definitions)
    return _Part(accepts, _STAND_INS[name], parts, None)


def _accepts(schema: dict[str, Any], definitions: dict[str, Any]) -> Callable[[Any], bool]:
    """Return what accepts ``schema``, compiled when it is first asked."""

    @cache
    def made() -> Callable[[Any], bool]:
        return compiled({**schema, "$defs": definitions}).is_valid

    def accepts(value: Any) -> bool:
        return made()(value)

    return accepts
