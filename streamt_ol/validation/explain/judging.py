"""Judge a part of an event that is wrong: within an event that is right otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from streamt_ol.openlineage import facets
from streamt_ol.openlineage.events import DATASET_EVENT, JOB_EVENT, RUN_EVENT
from streamt_ol.validation.accept.local import FACETS_RULES
from streamt_ol.validation.accept.schema import accepts
from streamt_ol.validation.explain import local
from streamt_ol.validation.explain.explanation import Explanation, explanation
from streamt_ol.validation.explain.forms import ABSENT, RIGHT, STAND_INS, Forms

if TYPE_CHECKING:
    from streamt_ol.validation.findings import Finding

ENTITY = {"namespace": "x", "name": "x"}
RUN = {"runId": "00000000-0000-0000-0000-000000000000"}
# What stands for the members of an event that are right.
HEAD: dict[str, Any] = {
    "eventTime": "2000-01-01T00:00:00Z", "producer": "urn:x", "schemaURL": "urn:x",
    "eventType": "OTHER", "run": RUN, "job": ENTITY, "dataset": ENTITY, "inputs": [], "outputs": [],
}  # fmt: skip
_PARTS = {"run": RUN, "job": ENTITY, "dataset": ENTITY, "inputs": ENTITY, "outputs": ENTITY}
PART_POINTERS = {part: tuple(f"/{name}" for name in right) for part, right in _PARTS.items()}
_NEEDED = {RUN_EVENT: ("run", "job"), JOB_EVENT: ("job",), DATASET_EVENT: ("dataset",)}
# The kind of event, and the pointer, in which a part is judged.
_AT = {
    "run": (RUN_EVENT, "/run"),
    "job": (JOB_EVENT, "/job"),
    "dataset": (DATASET_EVENT, "/dataset"),
    "inputs": (JOB_EVENT, "/inputs/0"),
    "outputs": (JOB_EVENT, "/outputs/0"),
}
# The part in which a container of facets is judged, and its key there.
_FACETS_AT = {
    facets.RUN: ("run", "facets"),
    facets.JOB: ("job", "facets"),
    facets.DATASET: ("dataset", "facets"),
    facets.INPUT_DATASET: ("inputs", "inputFacets"),
    facets.OUTPUT_DATASET: ("outputs", "outputFacets"),
}
REMEMBERED = 16 << 20  # bytes, about
_ENTRY, _FINDING = 500, 500  # bytes of an entry, and of each of its findings, about


class Remembered:
    """Explanations by what was judged: a function of this module, and what it was given."""

    def __init__(self) -> None:
        self._known: dict[object, Explanation] = {}
        self._size = 0

    def of(self, *question: Any) -> Explanation:
        """Return what a function, the first of ``question``, says of the rest, as remembered."""
        found = self._known.get(question)
        if found is None:
            judge, *given = question
            found = explanation(judge(*given))
            size = weight(found) + sum(len(one) for one in given if isinstance(one, bytes))
            self._size += size
            if self._size > REMEMBERED:
                self._known.clear()
                self._size = size
            if size <= REMEMBERED:
                self._known[question] = found
        return found


def weight(found: Explanation) -> int:
    """Return about how many bytes it takes to remember an explanation."""
    return _ENTRY + _FINDING * len(found.findings)


def _of_schemas(kind: str, event: dict[str, Any]) -> list[Finding]:
    if accepts(kind)(event):
        return []
    # Imports jsonschema, which a run without faults need not.
    from streamt_ol.validation.explain.schema import schema_findings

    return schema_findings(kind, event)


def head(kind: str, forms: Forms) -> list[Finding]:
    """Return what is wrong with the members of an event itself, by their forms."""
    members = _members(HEAD, forms)
    return [*_of_schemas(kind, members), *local.event_type(kind, members)]


def part(name: str, forms: Forms) -> list[Finding]:
    """Return what is wrong with a part, by the forms of its members, or by its own."""
    right = _PARTS[name]
    return _judged(
        name, _members(right, forms) if len(forms) == len(right) else STAND_INS[forms[0]]
    )


def _judged(name: str, value: Any) -> list[Finding]:
    """Return what is wrong with ``value`` in the place of a part; pointers begin there."""
    kind, pointer = _AT[name]
    found = _of_schemas(kind, _event(kind, name, value))
    return [one._replace(pointer=one.pointer.removeprefix(pointer)) for one in found]


def _members(right: dict[str, Any], forms: Forms) -> dict[str, Any]:
    return {
        name: one if form == RIGHT else STAND_INS[form]
        for (name, one), form in zip(right.items(), forms, strict=True)
        if form != ABSENT
    }


def container_of_form(place: str, forms: Forms) -> list[Finding]:
    """Return what is wrong with a value in the place of a container of facets."""
    return _of_container(place, STAND_INS[forms[0]])


def container(place: str, data: bytes) -> list[Finding]:
    """Return in which way a container of facets at ``place``, as JSON, breaks its schema."""
    return _of_container(place, orjson.loads(data))


def _of_container(place: str, value: Any) -> list[Finding]:
    name, key = _FACETS_AT[place]
    return _within(key, _judged(name, {**_PARTS[name], key: value}))


def rules(place: str, value: Any) -> list[Finding]:
    """Return what the rules that no schema expresses find in a container of facets."""
    name, key = _FACETS_AT[place]
    kind, pointer = _AT[name]
    event = _event(kind, name, {key: value})
    asked = dict.fromkeys(local.RULES[rule] for rule in FACETS_RULES)
    found = [one for words in asked for one in words(kind, event)]
    inside = [one._replace(pointer=one.pointer.removeprefix(pointer)) for one in found]
    return _within(key, inside)


def _within(key: str, found: list[Finding]) -> list[Finding]:
    return [one._replace(pointer=one.pointer.removeprefix(f"/{key}")) for one in found]


def _event(kind: str, name: str, value: Any) -> dict[str, Any]:
    """Return an event that is right but for ``value`` in the place of a part."""
    right = {key: HEAD[key] for key in ("eventTime", "producer", "schemaURL", *_NEEDED[kind])}
    return {**right, name: [value] if name in ("inputs", "outputs") else value}
