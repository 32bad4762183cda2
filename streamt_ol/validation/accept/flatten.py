"""Derive from the pinned schemas one flattened schema per kind of event.

The published schemas are spread over ``$ref`` and ``allOf``, and the core lets any body stand
in a facet. The flattened schema says the same in one place: references are written out
(recursive ones and containers of facets are kept as local ``$defs``), ``allOf`` is merged,
formats become the patterns of ``streamt_ol.openlineage.formats``, each standard facet stands
under its key at its place, and every other facet is a base facet. Names and namespaces are not
blank.
It is at least as strict as the reference validator: a test compares the two on mutated events.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

from streamt_ol.openlineage import facets, schemas
from streamt_ol.openlineage.events import DATASET_EVENT, JOB_EVENT, RUN_EVENT
from streamt_ol.openlineage.formats import NOT_BLANK, PATTERNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Schema = dict[str, Any]
# "documentation" is not a keyword of JSON Schema, so it says nothing; one published schema has it.
_ANNOTATIONS = frozenset(
    {"description", "documentation", "example", "deprecated", "$schema", "$id", "$defs"}
)
_PLACE_OF = {f"/$defs/{definition}": place for place, definition in facets.PLACES.items()}
# Objects whose ``namespace`` and ``name`` (or ``name`` alone) identify something.
_NAMED = frozenset(
    {
        (schemas.CORE, "/$defs/Job"),
        (schemas.CORE, "/$defs/Dataset"),
        ("ParentRunFacet.json", "/$defs/RootJob"),
        ("ParentRunFacet.json", "/$defs/ParentRunFacet/allOf/1/properties/job"),
        ("SchemaDatasetFacet.json", "/$defs/SchemaDatasetFacetFields"),
    }
)
_NAMES = ("namespace", "name")
_BRANCHES = frozenset({"allOf", "anyOf", "oneOf"})
_NESTED = frozenset({"items", "additionalProperties", "not"})
_ASSERTIONS = frozenset({"type", "required", "enum", "const", "minimum", "dependentRequired"})


def event_schema(kind: str, standard: Iterable[facets.StandardFacet]) -> Schema:
    """Return the flattened schema of an event ``kind`` that knows the facets ``standard``."""
    flat = Flattener(standard)
    event = flat.definition(schemas.CORE, kind)
    if kind != RUN_EVENT:
        event = merged(event, {"properties": {"run": False, "eventType": False}})
    if kind == JOB_EVENT:
        event = merged(event, {"properties": {"dataset": False}})
    if kind == DATASET_EVENT:
        event = merged(event, {"properties": {"job": False}})
    event.pop("not", None)  # what the core forbids is forbidden above, by name
    return {**event, "$defs": flat.definitions}


@cache
def full_schema(kind: str) -> Schema:
    """Return the flattened schema of an event ``kind`` that knows all standard facets."""
    return event_schema(kind, facets.STANDARD_FACETS)


def facet_schema(facet: facets.StandardFacet, standard: Iterable[facets.StandardFacet]) -> Schema:
    """Return the flattened schema of one standard facet; facets within it may be ``standard``."""
    flat = Flattener(standard)
    return {**flat.facet(facet), "$defs": flat.definitions}


class Flattener:
    """Flattens definitions of the pinned documents; ``definitions`` collects local ``$defs``."""

    def __init__(self, standard: Iterable[facets.StandardFacet]) -> None:
        self.definitions: dict[str, Schema] = {}
        self._standard = tuple(standard)
        self._active: list[tuple[str, str]] = []

    def definition(self, document: str, name: str) -> Schema:
        """Return the flattened schema of ``#/$defs/name`` in the pinned ``document``."""
        return self._reference(document, f"#/$defs/{name}")

    def facet(self, standard: facets.StandardFacet) -> Schema:
        """Return the flattened schema of a standard facet."""
        return self.definition(standard.document, standard.definition)

    def _reference(self, document: str, reference: str) -> Schema:
        target, _, path = reference.partition("#")
        document = target.rsplit("/", 1)[-1] or document
        place = (document, path)
        if place in self._active:
            return self._shared(f"{document}{path}".replace("/", "."), partial(self._node, *place))
        self._active.append(place)
        try:
            return self._node(document, path)
        finally:
            self._active.pop()

    def _shared(self, name: str, make: Callable[[], Schema]) -> Schema:
        """Return a reference to the local definition ``name``, made once."""
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = make()
        return {"$ref": f"#/$defs/{name}"}

    def _node(self, document: str, path: str) -> Schema:
        """Return the flattened schema of the node at ``path`` of ``document``."""
        node = _at(schemas.document(document), path)
        if place := _facet_place(node):
            return self._shared(f"{place}Facets", partial(self._facets, place))
        own: Schema = {}
        parts: list[Schema] = []
        for keyword in node:
            self._keyword(document, path, keyword, node[keyword], own, parts)
        if (document, path) in _NAMED:
            own = merged(own, _not_blank(own))
        for part in parts:
            own = merged(own, part)
        return own

    def _keyword(
        self, document: str, path: str, keyword: str, value: Any, own: Schema, parts: list[Schema]
    ) -> None:
        """Flatten one keyword: into ``own``, or into ``parts`` where it applies in place."""
        here = f"{path}/{keyword}"
        if keyword in _ANNOTATIONS or (keyword == "additionalProperties" and value is True):
            return
        if keyword == "$ref":
            parts.append(self._reference(document, value))
        elif keyword in _BRANCHES:
            branches = [self._node(document, f"{here}/{index}") for index in range(len(value))]
            if keyword == "allOf" or len(branches) == 1:
                parts.extend(branches)
            else:
                own[keyword] = branches
        elif keyword == "properties":
            own[keyword] = {name: self._node(document, f"{here}/{name}") for name in value}
        elif isinstance(value, dict) and keyword in _NESTED:
            own[keyword] = self._node(document, here)
        elif keyword == "format":
            own["pattern"] = PATTERNS[value]
        elif keyword in _ASSERTIONS or value is False:
            own[keyword] = value
        else:
            raise NotImplementedError(f"keyword {keyword} at {document}#{here}")

    def _facets(self, place: str) -> Schema:
        """Return the schema of a container of facets: the standard ones by key, the rest base."""
        base = self.definition(schemas.CORE, facets.PLACES[place])
        known = {one.key: self.facet(one) for one in self._standard if one.place == place}
        if place in facets.DELETABLE:
            withdrawn = {"properties": {"_deleted": {"const": True}}, "required": ["_deleted"]}
            deleted = merged(base, withdrawn)
            known = {key: {"anyOf": [schema, deleted]} for key, schema in known.items()}
        return {"type": "object", "properties": known, "additionalProperties": base}


def merged(one: Schema, other: Schema) -> Schema:
    """Return a schema that accepts exactly what both accept; what cannot merge stays ``allOf``."""
    closed = "additionalProperties" in one or "additionalProperties" in other
    if closed and ("properties" in one or "properties" in other):
        return {"allOf": [one, other]} if one and other else one or other
    result = dict(one)
    for keyword, value in other.items():
        if keyword not in result:
            result[keyword] = value
        elif keyword == "properties":
            result[keyword] = _merged_properties(result[keyword], value)
        elif keyword == "required":
            result[keyword] = [*result[keyword], *(n for n in value if n not in result[keyword])]
        elif result[keyword] != value:
            result["allOf"] = [*result.get("allOf", ()), {keyword: value}]
    return result


def _merged_properties(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    result = dict(one)
    for name, schema in other.items():
        if name not in result or schema is False:
            result[name] = schema
        elif result[name] is not False:
            result[name] = merged(result[name], schema)
    return result


def _not_blank(schema: Schema) -> Schema:
    names = [name for name in _NAMES if name in schema["properties"]]
    return {"properties": {name: {"pattern": NOT_BLANK} for name in names}}


def _facet_place(node: Schema) -> str | None:
    """Return the place whose facets the object schema ``node`` contains, if it does."""
    inner = node.get("additionalProperties")
    reference = inner.get("$ref", "") if isinstance(inner, dict) else ""
    return _PLACE_OF.get(reference.partition("#")[2])


def _at(document: Schema, path: str) -> Any:
    node: Any = document
    for part in path.split("/")[1:]:
        node = node[int(part)] if isinstance(node, list) else node[part]
    return node
