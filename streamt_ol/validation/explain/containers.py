"""Explain containers of facets, remembered by the bytes that write them, since facets repeat."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from streamt_ol.openlineage import facets
from streamt_ol.reading import json_scan
from streamt_ol.reading.faults import FaultKind
from streamt_ol.reading.strict_json import is_plain
from streamt_ol.validation.accept.local import FACETS_RULES
from streamt_ol.validation.accept.verdicts import Verdicts
from streamt_ol.validation.explain import judging
from streamt_ol.validation.explain.explanation import Said, explanation
from streamt_ol.validation.explain.forms import form_of
from streamt_ol.validation.explain.reduction import reduced
from streamt_ol.validation.rules import fault_finding
from streamt_ol.validation.stream.facts import processing_type

if TYPE_CHECKING:
    from msgspec import Raw

    from streamt_ol.validation.explain.judging import Remembered

_RELATIVE = frozenset({FaultKind.DUPLICATE_KEY, FaultKind.NUMBER})


class UnknownError(Exception):
    """Only a parser can tell what is wrong with an event."""


class Facets(NamedTuple):
    """All that is said of a container of facets, and the processing type that it states."""

    said: tuple[Said, ...]
    processing_type: str | None


class Containers:
    """All that is said of containers of facets, by their places and bytes."""

    def __init__(self, remembered: Remembered) -> None:
        self._remembered = remembered
        self._known = {
            place: Verdicts(partial(self._judged, place), _weight) for place in facets.PLACES
        }

    def of(self, place: str, within: str, data: Raw) -> Facets:
        """Return what is said of a container at the pointer ``within``. Raises ``UnknownError``."""
        found = self._known[place].of(data)
        if found is None:
            raise UnknownError
        if not found.said:
            return found
        said = tuple(
            Said(explained, pointers, ((within, values),))
            for explained, pointers, ((_, values),) in found.said
        )
        return Facets(said, found.processing_type)

    def _judged(self, place: str, data: bytes) -> Facets | None:
        """Return what is said of a container of facets; None where only a parser can tell."""
        said: list[Said] = []
        try:
            container = orjson.loads(data)
            if not is_plain(data, container):
                orjson.dumps(container)  # what is nested deeper than orjson writes is left
                unplain = [*json_scan.faults(data)]
                if any(fault.kind not in _RELATIVE for fault in unplain):
                    return None
                said.append(Said(explanation([fault_finding(fault) for fault in unplain])))
        except (orjson.JSONDecodeError, TypeError):
            return None
        said += self._object(place, container) if type(container) is dict else ()
        if type(container) is not dict:
            forms = (form_of(container),)
            found = self._remembered.of(judging.container_of_form, place, forms)
            said.append(Said(found, ("",), (("", (container,)),)))
        stated = processing_type({"facets": container}) if place == facets.JOB else None
        return Facets(tuple(one for one in said if one.rules), stated)

    def _object(self, place: str, container: dict[str, Any]) -> list[Said]:
        said = []
        wrong, values = reduced(place, container)
        if wrong:
            found = self._remembered.of(judging.container, place, orjson.dumps(wrong))
            said.append(Said(found, (*values,), (("", (*values.values(),)),)))
        if not _rules_hold(place, container):
            said.append(Said(explanation(judging.rules(place, container))))
        return said


def _rules_hold(place: str, container: dict[str, Any]) -> bool:
    """Tell whether the rules about facets hold, for sure, in a container that may be wrong."""
    try:
        return all(holds(place, container) for holds in FACETS_RULES.values())
    except (AttributeError, KeyError, TypeError):
        return False


def _weight(found: Facets | None) -> int:
    """Return about how many bytes the findings take that are remembered of a container."""
    return sum(judging.weight(one.explanation) for one in found.said) if found else 0
