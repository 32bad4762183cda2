"""Accept an event beyond its schema: a function for each rule about one event. Made for speed.

A function is registered under the ids of its rules; True says that there is nothing to explain.
All who accept events ask all that is registered, but for what they know to hold.
``streamt_ol.validation.explain.local`` has a function for the same rules.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from streamt_ol.openlineage.events import DATASET_EVENT, EVENT_SCHEMA_URLS, JOB_EVENT, RUN_EVENT
from streamt_ol.openlineage.facets import (
    DATASET,
    INPUT_DATASET,
    JOB,
    OUTPUT_DATASET,
    RUN,
    STANDARD_FACETS,
    by_place,
)
from streamt_ol.openlineage.release import facet_document
from streamt_ol.validation.caching import LONGEST
from streamt_ol.validation.rules import registered

# Takes the kind of an event that meets its schema, and the event.
EventRule = Callable[[str, Any], bool]
# Takes the name of a place where facets are, and a container of facets that meets its schema.
FacetsRule = Callable[[str, Any], bool]
EVENT_RULES: dict[str, EventRule] = {}
FACETS_RULES: dict[str, FacetsRule] = {}
_DOCUMENTS = frozenset(one.document for one in STANDARD_FACETS)


@registered(EVENT_RULES, "OL-R016", "OL-R017", "OL-R018")
def schema_url(kind: str, event: Any) -> bool:
    """Tell whether the ``schemaURL`` is the pinned one."""
    return bool(event["schemaURL"] == EVENT_SCHEMA_URLS[kind])


@registered(EVENT_RULES, "OL-R019")
def event_type(kind: str, event: Any) -> bool:
    """Tell whether a RunEvent has an ``eventType``."""
    return kind != RUN_EVENT or "eventType" in event


@registered(EVENT_RULES, "OL-R026")
def datasets_unique(kind: str, event: Any) -> bool:
    """Tell whether no dataset is duplicated among the inputs or among the outputs."""
    for name in ("inputs", "outputs") if kind != DATASET_EVENT else ():
        entries = event.get(name, ())
        if len(entries) > 1 and len(
            {(entry["namespace"], entry["name"]) for entry in entries}
        ) != len(entries):
            return False
    return True


@registered(FACETS_RULES, "OL-R024")
def own_schemas(place: str, facets: Any) -> bool:
    """Tell whether no standard facet names the schema of another one."""
    standard = by_place()[place]
    for key, facet in facets.items():  # half the time of any()
        if key in standard and _is_borrowed(place, key, facet["_schemaURL"][:LONGEST]):
            break
    else:
        return True
    return False


def is_borrowed(place: str, key: str, url: str) -> bool:
    """Tell whether ``url`` names another standard facet than the one of ``key`` at ``place``."""
    return key in by_place()[place] and _is_borrowed(place, key, url[:LONGEST])


@lru_cache(maxsize=4096)  # the names of documents are shorter than what is kept of a URL
def _is_borrowed(place: str, key: str, url: str) -> bool:
    named = facet_document(url)
    return named != by_place()[place][key].document and named in _DOCUMENTS


@registered(FACETS_RULES, "OL-R027")
def fields_unique(place: str, facets: Any) -> bool:
    """Tell whether the schema facet of a dataset has no duplicate field name."""
    schema = facets.get("schema") if place == DATASET else None
    # What a withdrawn schema facet holds is not known to be a list of fields.
    if schema is None or "fields" not in schema or schema.get("_deleted") is True:
        return True
    pending = [schema["fields"]]
    for fields in pending:  # grows: the nesting may be deeper than Python's recursion
        if len({field["name"] for field in fields}) != len(fields):
            return False
        pending += [field["fields"] for field in fields if "fields" in field]
    return True


@cache
def accepts_besides(known: frozenset[str] = frozenset()) -> EventRule:
    """Return what tells of an event that meets its schema whether every rule holds, for sure.

    The rules ``known`` to hold are not asked.
    """
    of_event = _besides(EVENT_RULES, known)
    of_facets = _besides(FACETS_RULES, known)

    def accepts(kind: str, event: Any) -> bool:
        for holds in of_event:
            if not holds(kind, event):
                return False
        for place, facets in containers(kind, event) if of_facets else ():
            for holds in of_facets:
                if not holds(place, facets):
                    return False
        return True

    return accepts


def _besides(rules: dict[str, EventRule], known: frozenset[str]) -> tuple[EventRule, ...]:
    """Return the functions of ``rules``, each once, but for those of rules that are all known."""
    return tuple(dict.fromkeys(holds for rule, holds in rules.items() if rule not in known))


_FACETS_OF = {
    RUN_EVENT: (("run", RUN), ("job", JOB)),
    JOB_EVENT: (("job", JOB),),
    DATASET_EVENT: (("dataset", DATASET),),
}


def containers(kind: str, event: Any) -> list[tuple[str, Any]]:
    """Return the containers of facets, of an event that meets its schema, with their places."""
    found = [
        (place, event[name]["facets"])
        for name, place in _FACETS_OF[kind]
        if name in event and "facets" in event[name]
    ]
    if kind == DATASET_EVENT:
        return found
    for entry in event.get("inputs", ()):
        if "facets" in entry:
            found.append((DATASET, entry["facets"]))
        if "inputFacets" in entry:
            found.append((INPUT_DATASET, entry["inputFacets"]))
    for entry in event.get("outputs", ()):
        if "facets" in entry:
            found.append((DATASET, entry["facets"]))
        if "outputFacets" in entry:
            found.append((OUTPUT_DATASET, entry["outputFacets"]))
    return found
