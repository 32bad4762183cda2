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
    event: Event, facets: Facets, run_id: str, engine: tuple[str, str] | None
) -> list[bytes]:
    """Return the START and the COMPLETE event of a JobEvent, canonical JSON.

    ``engine`` is the name and version of a ``processing_engine`` run facet, None for no facet.
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
        if isinstance(event.get(side), list):
            described[side] = [_with_facets(dataset, facets) for dataset in event[side]]
    described |= {"run": run, "producer": producer, "schemaURL": EVENT_SCHEMA_URLS[RUN_EVENT]}
    return [
        orjson.dumps(described | {"eventType": state}, option=orjson.OPT_SORT_KEYS)
        for state in STATES
    ]


def _with_facets(dataset: Any, facets: Facets) -> Any:
    known = facets.get(identity(dataset))
    if known is None or not isinstance(dataset, Mapping):
        return dataset
    own = dataset.get("facets")
    return {**dataset, "facets": {**known, **(own if isinstance(own, Mapping) else {})}}
