"""The official Python client of OpenLineage as an independent writer and reader of our events.

Its classes and its serializer come from the same release, 1.53.0, and know nothing of this
project. It writes empty lists and objects where a member is absent here; that is its own addition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from openlineage.client import event_v2, facet_v2
from openlineage.client.generated import base
from openlineage.client.serde import Serde
from support.exporting import after, exported
from support.manifests import FIXTURES

from streamt_ol.contracts import ProjectedColumn, ProjectedDataset, ProjectedJob

Json = dict[str, Any]
PRODUCER = "https://github.com/conduktor/streamt"
MANIFESTS = sorted((FIXTURES / "manifests").glob("*.json"))


@pytest.fixture(autouse=True)
def _producer() -> Iterator[None]:
    before = base.PRODUCER
    event_v2.set_producer(PRODUCER)
    yield
    event_v2.set_producer(before)


@pytest.fixture(params=MANIFESTS, ids=lambda path: path.stem)
def manifest(request: pytest.FixtureRequest) -> Path:
    return cast("Path", request.param)


def events_of(manifest: Path) -> list[Json]:
    return [json.loads(line) for line in exported(manifest).splitlines()]


def pruned(value: Any) -> Any:
    """Return a JSON value without the empty lists and objects in it, however deep."""
    if isinstance(value, dict):
        members = {key: pruned(member) for key, member in value.items()}
        return {key: member for key, member in members.items() if member not in ([], {})}
    if isinstance(value, list):
        return [pruned(item) for item in value]
    return value


def written(event: event_v2.DatasetEvent | event_v2.JobEvent) -> Any:
    """Return what the client writes for an event, without its own additions."""
    return pruned(json.loads(Serde.to_json(event)))


# The writer: the client's classes, filled from the projection.


def dataset_event(dataset: ProjectedDataset, time: str) -> event_v2.DatasetEvent:
    facets: dict[str, facet_v2.DatasetFacet] = {
        "datasetType": facet_v2.dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="TOPIC")
    }
    if "description" in dataset:
        facets["documentation"] = facet_v2.documentation_dataset.DocumentationDatasetFacet(
            description=dataset["description"]
        )
    if "owner" in dataset:
        facets["ownership"] = facet_v2.ownership_dataset.OwnershipDatasetFacet(
            owners=[facet_v2.ownership_dataset.Owner(name=dataset["owner"])]
        )
    if "columns" in dataset:
        facets["schema"] = facet_v2.schema_dataset.SchemaDatasetFacet(
            fields=[field(column, n) for n, column in enumerate(dataset["columns"], start=1)]
        )
    static = event_v2.StaticDataset(dataset["namespace"], dataset["name"], facets=facets)
    return event_v2.DatasetEvent(eventTime=time, dataset=static)


def field(
    column: ProjectedColumn, position: int
) -> facet_v2.schema_dataset.SchemaDatasetFacetFields:
    return facet_v2.schema_dataset.SchemaDatasetFacetFields(
        name=column["name"],
        type=column.get("type"),
        description=column.get("description"),
        ordinal_position=position,
    )


def job_event(job: ProjectedJob, time: str) -> event_v2.JobEvent:
    facets: dict[str, facet_v2.JobFacet] = {
        "jobType": facet_v2.job_type_job.JobTypeJobFacet(
            processingType="STREAMING", integration="STREAMT", jobType="MODEL"
        )
    }
    if "description" in job:
        facets["documentation"] = facet_v2.documentation_job.DocumentationJobFacet(
            description=job["description"]
        )
    if "owner" in job:
        facets["ownership"] = facet_v2.ownership_job.OwnershipJobFacet(
            owners=[facet_v2.ownership_job.Owner(name=job["owner"])]
        )
    return event_v2.JobEvent(
        eventTime=time,
        job=event_v2.Job(job["namespace"], job["name"], facets=facets),
        inputs=[event_v2.InputDataset(i["namespace"], i["name"]) for i in job["inputs"]],
        outputs=[event_v2.OutputDataset(o["namespace"], o["name"]) for o in job["outputs"]],
    )


def test_the_client_writes_the_same_events_from_the_projection(manifest: Path) -> None:
    state = after("resolve_identities", manifest)
    time = state["event_time"]
    by_client = [written(dataset_event(dataset, time)) for dataset in state["datasets"]]
    by_client += [written(job_event(job, time)) for job in state["jobs"]]
    assert by_client == events_of(manifest)


def test_nothing_is_empty_that_the_client_could_have_added(manifest: Path) -> None:
    """Otherwise the comparison above would hide it."""
    events = events_of(manifest)
    assert pruned(events) == events


# The reader: for each facet the client's own class with that _schemaURL, filled from the line.


@cache
def facet_classes() -> dict[str, type[facet_v2.BaseFacet]]:
    """Return the client's facet classes by the schema URL that each names."""
    waiting: list[type[facet_v2.BaseFacet]] = [facet_v2.BaseFacet]
    for cls in waiting:  # grows
        waiting += cls.__subclasses__()
    return {cls._get_schema(): cls for cls in waiting}


def read_facets(facets: Mapping[str, Json]) -> Json:
    classes = facet_classes()
    read: Json = {}
    for key, facet in facets.items():
        members = {name: value for name, value in facet.items() if not name.startswith("_")}
        read[key] = classes[facet["_schemaURL"]](producer=facet["_producer"], **members)
    return read


def read(line: Json) -> event_v2.DatasetEvent | event_v2.JobEvent:
    common = {"eventTime": line["eventTime"], "producer": line["producer"]}
    if "dataset" in line:
        dataset = {**line["dataset"], "facets": read_facets(line["dataset"]["facets"])}
        return event_v2.DatasetEvent(dataset=event_v2.StaticDataset(**dataset), **common)
    job = {**line["job"], "facets": read_facets(line["job"]["facets"])}
    return event_v2.JobEvent(
        job=event_v2.Job(**job),
        inputs=[event_v2.InputDataset(**entry) for entry in line.get("inputs", ())],
        outputs=[event_v2.OutputDataset(**entry) for entry in line.get("outputs", ())],
        **common,
    )


def test_the_client_reads_every_line_and_loses_nothing(manifest: Path) -> None:
    events = events_of(manifest)
    assert [written(read(event)) for event in events] == events


def test_the_fixtures_leave_something_to_compare() -> None:
    """Every kind of event and every facet of the export occurs among the fixtures."""
    facets = {
        (kind, key)
        for path in MANIFESTS
        for event in events_of(path)
        for kind in ("dataset", "job")
        if kind in event
        for key in event[kind]["facets"]
    }
    assert facets == {
        *(("dataset", key) for key in ("datasetType", "documentation", "ownership", "schema")),
        *(("job", key) for key in ("documentation", "jobType", "ownership")),
    }
