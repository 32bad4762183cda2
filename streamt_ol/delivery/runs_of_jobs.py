"""Static events as runs, for receivers that take nothing else (``--as-run-events``).

A JobEvent becomes one START and one COMPLETE RunEvent with its own event time; the facets that
DatasetEvents of the same input declare are copied onto its inputs and outputs. The job's facets
stay. It is a design in the form of a run: nothing ran, and nothing here says so by default.

streamt's own runs are operations, with rules that a design cannot meet ("Runtime command events"
of the specification), so a run made of streamt's design names this command as its producer. Facets
keep the producer that declared them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from streamt_ol.openlineage.events import DATASET_EVENT as DATASET
from streamt_ol.openlineage.events import EVENT_SCHEMA_URLS, RUN_EVENT, kind_of
from streamt_ol.openlineage.events import JOB_EVENT as JOB
from streamt_ol.openlineage.events import identity_of as identity
from streamt_ol.openlineage.facets import schema_url
from streamt_ol.openlineage.release import PRODUCER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streamt_ol.delivery.items import Event

MADE_HERE = "urn:streamt-ol:send"
STATES = ("START", "COMPLETE")
Facets = Mapping[tuple[str, str], Mapping[str, Any]]


def dataset_facets(events: Iterable[object]) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the facets of every dataset that a DatasetEvent describes; the last one counts."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for event in events:
        if isinstance(event, dict) and kind_of(event) == DATASET:
            dataset = event["dataset"]
            facets = dataset.get("facets") if isinstance(dataset, Mapping) else None
            if isinstance(facets, Mapping):
                found[identity(dataset)] = facets
    return found


def run_events(
    event: Event,
    facets: Facets,
    run_id: str,
    engine: tuple[str, str] | None,
    left_out: dict[tuple[str, str], None] | None = None,
) -> list[bytes]:
    """Return the START and the COMPLETE event of a JobEvent, canonical JSON.

    ``engine`` is the name and version of a ``processing_engine`` run facet, None for no facet;
    ``left_out`` gets the datasets whose schema facet is left out.
    """
    assert kind_of(event) == JOB, "only a JobEvent is a job's design"
    producer = event.get("producer")
    if producer == PRODUCER:
        producer = MADE_HERE
    run: dict[str, Any] = {"runId": run_id}
    if engine is not None:
        name, version = engine
        run["facets"] = {
            "processing_engine": {
                "_producer": producer,
                "_schemaURL": schema_url("run", "processing_engine"),
                "name": name,
                "version": version,
            }
        }
    described = dict(event)
    for side in ("inputs", "outputs"):
        # Some receivers drop a run without both keys.
        given = event.get(side, [])
        if isinstance(given, list):
            described[side] = [_with_facets(dataset, facets, left_out) for dataset in given]
    described |= {"run": run, "producer": producer, "schemaURL": EVENT_SCHEMA_URLS[RUN_EVENT]}
    return [
        orjson.dumps(described | {"eventType": state}, option=orjson.OPT_SORT_KEYS)
        for state in STATES
    ]


def _with_facets(dataset: Any, facets: Facets, left_out: dict[tuple[str, str], None] | None) -> Any:
    """Return a dataset with the facets that are declared of it.

    A schema with a field without a type is left out: the whole event would be refused for it, by
    OpenMetadata. The standard allows such a field.
    """
    known = facets.get(identity(dataset))
    if known is None or not isinstance(dataset, Mapping):
        return dataset
    own = dataset.get("facets")
    merged = {**known, **(own if isinstance(own, Mapping) else {})}
    if left_out is not None and _lacks_type(merged.get("schema")):
        del merged["schema"]
        left_out[identity(dataset)] = None
    return {**dataset, "facets": merged}


def _lacks_type(facet: object) -> bool:
    fields = facet.get("fields") if isinstance(facet, Mapping) else None
    if not isinstance(fields, list):
        return False
    return any(
        isinstance(one, Mapping)
        and (not isinstance(one.get("type"), str) or _lacks_type({"fields": one.get("fields")}))
        for one in fields
    )
