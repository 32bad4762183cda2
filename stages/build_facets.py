"""The third stage: each dataset and job of the projection becomes one OpenLineage event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamt_ol import contracts
from streamt_ol.contracts import ProjectedColumn, ProjectedDataset, ProjectedJob, State
from streamt_ol.openlineage.events import EVENT_SCHEMA_URLS
from streamt_ol.openlineage.facets import DATASET, JOB, schema_url
from streamt_ol.openlineage.release import PRODUCER

TAKES = contracts.PROJECTION
RETURNS = contracts.EVENTS

Event = dict[str, Any]
Facet = dict[str, Any]


def _base(place: str, key: str) -> Facet:
    return {"_producer": PRODUCER, "_schemaURL": schema_url(place, key)}


# What a facet has besides its body, for each facet that the exporter knows.
_BASE = {
    (place, key): _base(place, key)
    for place, keys in {
        DATASET: ("datasetType", "documentation", "ownership", "schema"),
        JOB: ("documentation", "jobType", "ownership"),
    }.items()
    for key in keys
}
_TOPIC = {**_BASE[DATASET, "datasetType"], "datasetType": "TOPIC"}
_MODEL = {
    **_BASE[JOB, "jobType"],
    "processingType": "STREAMING",
    "integration": "STREAMT",
    "jobType": "MODEL",
}


def build_facets(state: State) -> State:
    """Take the projection; return ``events``: a DatasetEvent or a JobEvent for each entry.

    A facet stands only where something is declared for it. Implements "Dataset facet mapping",
    "Static job mapping" and "Producer and schema URLs" of the specification.
    """
    time = state["event_time"]
    events = [_dataset_event(dataset, time) for dataset in state["datasets"]]
    events += [_job_event(job, time) for job in state["jobs"]]
    return {"events": events, "warnings": state["warnings"]}


def _dataset_event(dataset: ProjectedDataset, time: str) -> Event:
    facets: dict[str, Facet] = {"datasetType": _TOPIC}
    _add_declared(facets, DATASET, dataset)
    if columns := dataset.get("columns"):
        facets["schema"] = {**_BASE[DATASET, "schema"], "fields": _fields(columns)}
    return {
        "eventTime": time,
        "producer": PRODUCER,
        "schemaURL": EVENT_SCHEMA_URLS["DatasetEvent"],
        "dataset": {"namespace": dataset["namespace"], "name": dataset["name"], "facets": facets},
    }


def _fields(columns: list[ProjectedColumn]) -> list[Facet]:
    return [
        {**column, "ordinal_position": position} for position, column in enumerate(columns, start=1)
    ]


def _job_event(job: ProjectedJob, time: str) -> Event:
    facets: dict[str, Facet] = {"jobType": _MODEL}
    _add_declared(facets, JOB, job)
    event: Event = {
        "eventTime": time,
        "producer": PRODUCER,
        "schemaURL": EVENT_SCHEMA_URLS["JobEvent"],
        "job": {"namespace": job["namespace"], "name": job["name"], "facets": facets},
    }
    if job["inputs"]:
        event["inputs"] = job["inputs"]
    if job["outputs"]:
        event["outputs"] = job["outputs"]
    return event


def _add_declared(facets: dict[str, Facet], place: str, entity: Mapping[str, Any]) -> None:
    if description := entity.get("description"):
        facets["documentation"] = {**_BASE[place, "documentation"], "description": description}
    if owner := entity.get("owner"):
        facets["ownership"] = {**_BASE[place, "ownership"], "owners": [{"name": owner}]}
