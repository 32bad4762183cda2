"""Accept an event beyond its schema: one function for each row of rules. Made for speed.

Every function takes an event that meets its schema; True says that there is nothing to explain.

``streamt_ol.validation.explain.local`` has a function of the same name for each.
"""

from __future__ import annotations

from functools import lru_cache
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

_DOCUMENTS = frozenset(one.document for one in STANDARD_FACETS)


def accepts(kind: str, event: Any) -> bool:
    """Tell of an event that meets its schema whether no rule beyond it finds anything, for sure."""
    return (
        schema_url(kind, event)
        and event_type(kind, event)
        and duplicates(kind, event)
        and other_schemas(kind, event)
    )


def schema_url(kind: str, event: Any) -> bool:
    """Tell whether the ``schemaURL`` is the pinned one (OL-R016, OL-R017, OL-R018)."""
    return bool(event["schemaURL"] == EVENT_SCHEMA_URLS[kind])


def event_type(kind: str, event: Any) -> bool:
    """Tell whether a RunEvent has an ``eventType`` (OL-R019)."""
    return kind != RUN_EVENT or "eventType" in event


_FACETS_OF = {
    RUN_EVENT: (("run", RUN), ("job", JOB)),
    JOB_EVENT: (("job", JOB),),
    DATASET_EVENT: (("dataset", DATASET),),
}
_REFERENCES = (
    ("inputs", "inputFacets", INPUT_DATASET),
    ("outputs", "outputFacets", OUTPUT_DATASET),
)


def other_schemas(kind: str, event: Any) -> bool:
    """Tell whether no standard facet names the schema of another one (OL-R024)."""
    for name, place in _FACETS_OF[kind]:
        if name in event and any_borrowed(place, event[name].get("facets")):
            return False
    for name, key, place in _REFERENCES if kind != DATASET_EVENT else ():
        for entry in event.get(name, ()):
            if any_borrowed(DATASET, entry.get("facets")) or any_borrowed(place, entry.get(key)):
                return False
    return True


def any_borrowed(place: str, facets: Any) -> bool:
    """Tell whether a standard facet at ``place`` names the schema of another one (OL-R024)."""
    return bool(facets) and any(
        is_borrowed(place, key, facet["_schemaURL"]) for key, facet in facets.items()
    )


@lru_cache(maxsize=4096)
def is_borrowed(place: str, key: str, url: str) -> bool:
    """Tell whether ``url`` names another standard facet than the one of ``key`` at ``place``."""
    standard = by_place()[place].get(key)
    if standard is None:
        return False
    named = facet_document(url)
    return named != standard.document and named in _DOCUMENTS


def duplicates(kind: str, event: Any) -> bool:
    """Tell whether no dataset and no field name is duplicated (OL-R026, OL-R027)."""
    if kind == DATASET_EVENT:
        dataset = event["dataset"]
        return "facets" not in dataset or fields_unique(dataset["facets"])
    for name in ("inputs", "outputs"):
        entries = event.get(name)
        if entries:
            if len(entries) > 1 and len(
                {(entry["namespace"], entry["name"]) for entry in entries}
            ) != len(entries):
                return False
            for entry in entries:
                if "facets" in entry and not fields_unique(entry["facets"]):
                    return False
    return True


def fields_unique(facets: Any) -> bool:
    """Tell whether the schema facet of a dataset has no duplicate field name (OL-R027)."""
    schema = facets.get("schema")
    # What a withdrawn schema facet holds is not known to be a list of fields.
    if schema is None or "fields" not in schema or schema.get("_deleted") is True:
        return True
    pending = [schema["fields"]]
    for fields in pending:  # grows: the nesting may be deeper than Python's recursion
        if len({field["name"] for field in fields}) != len(fields):
            return False
        pending += [field["fields"] for field in fields if "fields" in field]
    return True
