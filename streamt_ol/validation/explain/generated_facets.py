"""The specification's rules for the facets of generated events, in words.

Implements "standard facet keys match their exact ``_schemaURL`` and entity location".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamt_ol.openlineage.events import RUN_EVENT
from streamt_ol.openlineage.facets import RUN, by_place
from streamt_ol.openlineage.formats import is_blank
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.problems import pointer
from streamt_ol.redaction import shown
from streamt_ol.validation import walk
from streamt_ol.validation.explain.wording import kind_of_value
from streamt_ol.validation.generated_tables import (
    BODIES,
    COMMANDS,
    FACETS,
    FIELD_MEMBERS,
    command_of,
)
from streamt_ol.validation.rules import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamt_ol.validation.findings import Finding

_MESSAGE_LIMIT = 4096
_OUTERMOST = 2  # the length of a path like ``/job/facets``


def facets(kind: str, event: walk.Object, *, closed: bool) -> Iterator[Finding]:
    """Yield what breaks the rules for the facets of a generated event (OL-R051 to OL-R054).

    ``closed`` as in ``streamt_ol.validation.explain.generated.explain``.
    """
    for place, keys in FACETS[kind].items():
        container = walk.at(event, (place, "facets"))
        if place != RUN and (not walk.is_object(container) or keys[0] not in container):
            yield finding("OL-R052", pointer(place, "facets", keys[0]), "required, but missing")
    command = command_of(walk.at(event, ("job", "name"))) if kind == RUN_EVENT else None
    for path, place, container in walk.containers(event):
        emitted = FACETS[kind].get(place, ()) if len(path) == _OUTERMOST else ()
        for key, facet in container.items():
            if not walk.is_object(facet):
                continue
            if facet.get("_producer") == PRODUCER:
                yield from _own_facet(kind, (*path, key), place, facet, closed=closed)
            elif key in emitted and "_producer" in facet:
                found = kind_of_value(facet["_producer"])
                message = f"expected {PRODUCER}, found {found}"
                yield finding("OL-R051", pointer(*path, key, "_producer"), message)
            if key in emitted:
                yield from _body(kind, place, (*path, key), facet, command)


def _own_facet(
    kind: str, path: walk.Path, place: str, facet: walk.Object, *, closed: bool
) -> Iterator[Finding]:
    """Yield what is wrong with a facet that says it is streamt's."""
    key = str(path[-1])
    standard = by_place()[place].get(key)
    if standard and facet.get("_schemaURL") != standard.schema_url:
        found = kind_of_value(facet.get("_schemaURL"))
        message = f"expected {standard.schema_url}, found {found}"
        yield finding("OL-R053", pointer(*path, "_schemaURL"), message)
    if closed and key not in FACETS[kind].get(place, ()):
        message = f"a generated {kind} has no facet {shown(key)} here"
        yield finding("OL-R052", pointer(*path), message)


def _body(
    kind: str, place: str, path: walk.Path, facet: walk.Object, command: str | None
) -> Iterator[Finding]:
    """Yield what is wrong with the values of a facet of a run of ``command``, if it is one's."""
    body = BODIES[kind, place, str(path[-1])]
    if command is not None and path[-1] == "jobType":
        body = {**body, "jobType": (COMMANDS[command],)}
    for name in facet:
        if name not in {"_producer", "_schemaURL", *body}:
            message = f"the generated facet does not hold {shown(name)}"
            yield finding("OL-R054", pointer(*path, name), message)
    for name, values in body.items():
        value = facet.get(name)
        problem = _value_problem(name, value, values)
        if problem:
            yield finding("OL-R054", pointer(*path, name), problem)
        elif name == "fields" and isinstance(value, list):
            yield from _schema_fields((*path, name), value)


def _value_problem(name: str, value: Any, values: tuple[str, ...] | None) -> str | None:
    """Say what is wrong with the member ``name`` of a generated facet, or None."""
    if values and value not in values:
        return f"expected {' or '.join(values)}, found {kind_of_value(value)}"
    if name in {"description", "message"} and not _is_text(value):
        return "expected a text that is not blank"
    if name == "message" and len(value) > _MESSAGE_LIMIT:
        return f"longer than {_MESSAGE_LIMIT} characters"
    if name == "owners" and not _is_one_owner(value):
        return "expected one owner with a name and nothing else"
    if name == "fields" and not (isinstance(value, list) and value):
        return "expected a list of fields that is not empty"
    return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not is_blank(value)


def _is_one_owner(value: Any) -> bool:
    if not (isinstance(value, list) and len(value) == 1 and walk.is_object(value[0])):
        return False
    return [*value[0]] == ["name"] and _is_text(value[0]["name"])


def _schema_fields(path: walk.Path, fields: list[Any]) -> Iterator[Finding]:
    for index, field in enumerate(fields):
        if not walk.is_object(field):
            continue  # the facet's schema says it
        for name in field:
            if name not in FIELD_MEMBERS:
                message = f"a generated field does not hold {shown(name)}"
                yield finding("OL-R054", pointer(*path, index, name), message)
            elif name in {"type", "description"} and not _is_text(field[name]):
                message = "expected a text that is not blank"
                yield finding("OL-R054", pointer(*path, index, name), message)
        position = field.get("ordinal_position")
        if position != index + 1 or isinstance(position, bool):
            message = f"expected {index + 1}, the position in the declaration"
            yield finding("OL-R054", pointer(*path, index, "ordinal_position"), message)
