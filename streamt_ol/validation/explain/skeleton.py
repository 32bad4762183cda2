"""The part of an event that breaks its schema, by which findings are remembered.

Faults repeat: a producer that writes a field wrongly does so in each event. What the fast path
accepts for itself is replaced by the same stand-in in all events (a facet is left out), and so is
a text that has not the format of its field; events with the same faults have the same skeleton
then, and the reference validator need look at one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson

from streamt_ol.openlineage.formats import FORMATS
from streamt_ol.redaction import shown
from streamt_ol.validation.accept.flatten import full_schema
from streamt_ol.validation.accept.schema import compiled_with

if TYPE_CHECKING:
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


# The fields that have a format: where they stand, and what stands for a text that has not its own.
_FORMATS = {"eventTime": "date-time", "producer": "uri", "schemaURL": "uri", "runId": "uuid"}
_POINTERS = {"/run/runId" if name == "runId" else f"/{name}": name for name in _FORMATS}
_FAULTY = {name: f"no {name}" for name in _FORMATS}
_FAULTY_SHOWN = {name: shown(text) for name, text in _FAULTY.items()}


_known: dict[bytes, Callable[[Any], bool]] = {}  # what accepts a schema, by its text


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of an event: what accepts it, its own parts by name, the facets that it contains."""

    name: str
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
        faulty: dict[str, str] = {}
        reduced = _members(_parts(kind), event, faulty)
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
        return [_quoting(one, faulty) for one in found] if faulty else found


def _members(parts: dict[str, _Part], value: dict[str, Any], faulty: dict[str, str]) -> Any:
    """Return an object with stand-ins for all that its ``parts`` accept of its members."""
    return {
        name: _reduced(parts[name], one, faulty) if name in parts else one
        for name, one in value.items()
    }


def _reduced(part: _Part, value: Any, faulty: dict[str, str]) -> Any:
    """Return ``value`` with stand-ins for all that ``part`` accepts of it.

    ``faulty`` takes the text of a field that has not the format of it.
    """
    if part.accepts(value):
        return part.stand_in
    if isinstance(value, list) and _ITEM in part.parts:
        return [_reduced(part.parts[_ITEM], one, faulty) for one in value]
    if isinstance(value, str) and part.name in _FORMATS:
        if FORMATS[_FORMATS[part.name]](value):
            return value
        faulty[part.name] = value
        return _FAULTY[part.name]
    if not isinstance(value, dict):
        return value
    if part.facets is not None:
        known, others = part.facets, part.facets[""]
        return {key: one for key, one in value.items() if not known.get(key, others)(one)}
    return _members(part.parts, value, faulty)


def _quoting(finding: Finding, faulty: dict[str, str]) -> Finding:
    """Return a finding with the text of an event in the place of the one that stands for it."""
    name = _POINTERS.get(finding.pointer)
    if name not in faulty:
        return finding
    message = finding.message.replace(_FAULTY_SHOWN[name], shown(faulty[name]))
    return finding._replace(message=message)


@cache
def _parts(kind: str) -> dict[str, _Part]:
    """Return the parts of an event of ``kind``."""
    schema = full_schema(kind)
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
        return _Part(name, accepts, {}, {}, facets)
    parts = _parts_of(schema, definitions)
    if "items" in schema:
        parts[_ITEM] = _part(_ITEM, schema["items"], definitions)
    return _Part(name, accepts, _STAND_INS[name], parts, None)


def _accepts(schema: dict[str, Any], definitions: dict[str, Any]) -> Callable[[Any], bool]:
    """Return what accepts ``schema``, compiled when it is first asked, once for all kinds."""
    key = orjson.dumps(schema)
    known = _known.get(key)
    if known is not None:
        return known
    is_valid: Callable[[Any], bool] | None = None

    def accepts(value: Any) -> bool:
        nonlocal is_valid
        if is_valid is None:
            is_valid = compiled_with(schema, definitions).is_valid
        return is_valid(value)

    return _known.setdefault(key, accepts)
