"""Reduce a container of facets to what breaks its schema, by which findings are remembered.

Faults repeat: a producer that writes a field wrongly does so in each event. What its schema accepts
is replaced by the same stand-in in all containers (a facet is left out), and so is a wrong text or
number; containers with the same faults are the same then, and the reference validator need look at
one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from streamt_ol.openlineage.events import RUN_EVENT
from streamt_ol.openlineage.formats import FORMATS, NOT_BLANK, PATTERNS
from streamt_ol.problems import pointer
from streamt_ol.validation.accept.flatten import full_schema
from streamt_ol.validation.accept.schema import compiled_with
from streamt_ol.validation.explain.explanation import stand_in

if TYPE_CHECKING:
    from streamt_ol.validation.accept.flatten import Schema
    from streamt_ol.validation.walk import Path

_RIGHT = {"date-time": "2000-01-01T00:00:00Z", "uri": "urn:x"}
_RIGHT["uuid"] = "00000000-0000-0000-0000-000000000000"
# What tells whether a text is right, and what stands for it then.
_PATTERNS: dict[str, tuple[Callable[[str], object], str]] = {
    NOT_BLANK: (str.strip, "x"),
    **{PATTERNS[name]: (FORMATS[name], right) for name, right in _RIGHT.items()},
}
_BRANCHES = frozenset({"anyOf", "oneOf", "allOf"})
_KEPT = "_schemaURL"  # a message may quote it whatever is wrong
_OF_TEXTS = frozenset({"type", "pattern", "enum"})


def reduced(place: str, container: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is wrong in a container of facets at ``place``, and wrong values by pointer."""
    schema = _definitions()[f"{place}Facets"]
    values: dict[str, Any] = {}
    kept = {}
    for key, facet in container.items():
        inner = schema["properties"].get(key, schema["additionalProperties"])
        if not _accepts(place, key if key in schema["properties"] else "")(facet):
            kept[key] = _reduced(inner, facet, (key,), values)
    return kept, values


def _reduced(schema: Schema, value: Any, path: Path, values: dict[str, Any]) -> Any:
    """Return ``value`` with stand-ins; ``values`` takes those that messages quote."""
    while "$ref" in schema:
        schema = _definitions()[schema["$ref"].removeprefix("#/$defs/")]
    if _is_deletable(schema):
        schema = schema["anyOf"][isinstance(value, dict) and value.get("_deleted") is True]
    if not _BRANCHES.isdisjoint(schema):
        return value
    if isinstance(value, dict):
        return _members(schema, value, path, values)
    if isinstance(value, list):
        inner = schema.get("items", {})
        return [_reduced(inner, one, (*path, at), values) for at, one in enumerate(value)]
    if isinstance(value, str):
        return _text(schema, value, path, values)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(schema, value, path, values)
    return value


def _is_deletable(schema: Schema) -> bool:
    """Tell whether a facet with this schema may be withdrawn: see ``flatten.Flattener``."""
    branches = schema.get("anyOf", ())
    return len(branches) > 1 and "_deleted" in branches[1].get("required", ())


def _members(schema: Schema, value: dict[str, Any], path: Path, values: dict[str, Any]) -> Any:
    """Return an object; of members without a schema the values mean nothing."""
    properties, others = schema.get("properties", {}), schema.get("additionalProperties")
    found = {}
    for name, one in value.items():
        inner = properties.get(name, others)
        known = isinstance(inner, dict)
        if name == _KEPT:
            found[name] = one
        else:
            found[name] = _reduced(inner, one, (*path, name), values) if known else None
    return found


def _text(schema: Schema, value: str, path: Path, values: dict[str, Any]) -> str:
    expected, pattern = schema.get("type"), schema.get("pattern")
    if not isinstance(expected, str) or (expected == "string" and not schema.keys() <= _OF_TEXTS):
        return value
    if expected == "string":
        if value in schema.get("enum", ()) or (pattern is not None and pattern not in _PATTERNS):
            return value
        is_right, right = _PATTERNS.get(pattern or "", (_any, "x"))
        if "enum" not in schema and is_right(value):
            return right
    values[pointer(*path)] = value
    return str(stand_in(value))


def _any(_text: str) -> bool:
    return True


def _number(schema: Schema, value: float, path: Path, values: dict[str, Any]) -> float:
    expected = schema.get("type")
    if not isinstance(expected, str) or "minimum" in schema:
        return value
    if expected in {"integer", "number"}:
        return 0 if expected == "number" or value == int(value) else value
    values[pointer(*path)] = value
    return int(stand_in(value))


@cache
def _definitions() -> Schema:
    definitions: Schema = full_schema(RUN_EVENT)["$defs"]
    return definitions


@cache
def _accepts(place: str, key: str) -> Callable[[Any], bool]:
    """Return what accepts a facet: the standard one of ``key``, or for "" any other."""
    container = _definitions()[f"{place}Facets"]
    schema = container["properties"][key] if key else container["additionalProperties"]
    return compiled_with(schema, _definitions()).is_valid
