"""The second stage: the manifest becomes the projection, and is gone from the pipeline.

This is the secret boundary: from here on there is no SQL, no runtime or connector
configuration and no artifact, only names, identities, descriptions, owners, declared columns.
"""

from __future__ import annotations

from operator import itemgetter

from streamt_ol import contracts
from streamt_ol.codes import SINK_OUTPUT_OMITTED
from streamt_ol.contracts import ProjectedJob, State
from streamt_ol.manifest.locations import Locations
from streamt_ol.problems import WarningRecord, warning
from streamt_ol.redaction import shown
from streamt_ol.resolution.artifacts import Artifacts
from streamt_ol.resolution.dag import Dag
from streamt_ol.resolution.datasets import Inventory
from streamt_ol.resolution.declarations import Declaration, Declarations, required_name
from streamt_ol.resolution.dependencies import Dependencies
from streamt_ol.resolution.jobs import Jobs
from streamt_ol.resolution.outputs import CompiledModel, Topic, compiled
from streamt_ol.resolution.settings import Namespaces, event_time
from streamt_ol.templates import one_process

TAKES = contracts.LOADED
RETURNS = contracts.PROJECTION
_IDENTITY = itemgetter("namespace", "name")


@one_process()
def resolve_identities(state: State) -> State:
    """Take ``options`` and ``manifest``; return the projection, in canonical order.

    Raises E506 with the location in the manifest, or the option, for everything that
    has no valid, unambiguous identity. Implements "Dataset identity", "Stable job identity",
    "Dataset inventory" and "Direct inputs and outputs" of the specification.
    """
    manifest, options = state["manifest"], state["options"]
    locations = Locations(state.get("locations"))
    namespaces = Namespaces(options, manifest.get("runtime"), locations)
    time = event_time(options.get("event_time"), manifest)
    project = required_name(manifest["project"], locations, "project")
    declarations = Declarations(manifest, locations)
    artifacts = Artifacts(manifest, declarations)
    models = [compiled(model, artifacts) for model in declarations.models.values()]
    topics = _topics(declarations, models)
    inventory = Inventory(namespaces.of)
    for name, topic in topics.items():
        inventory.add(declarations.by_name[name], topic)
    dependencies, dag = Dependencies(declarations, topics), Dag(manifest, locations)
    builder = Jobs(project, namespaces.job, topics, inventory.identities)
    jobs: list[ProjectedJob] = []
    for model in models:
        found = dependencies.of(model)
        dag.check(model.model, found)
        if model.process is not None:
            jobs.append(builder.job(model, model.process, found))
    return {
        "project": project,
        "event_time": time,
        "datasets": sorted(inventory.datasets, key=_IDENTITY),
        "jobs": sorted(jobs, key=_IDENTITY),
        "warnings": [
            *state.get("warnings", ()),
            *inventory.warnings,
            *_omitted_outputs(models),
        ],
    }


def _topics(declarations: Declarations, models: list[CompiledModel]) -> dict[str, Topic]:
    """Return the topic of every declaration that has one, by the declaration's name."""
    topics = {source.name: _source_topic(source) for source in declarations.sources.values()}
    topics.update((m.model.name, m.topic) for m in models if m.topic is not None)
    return topics


def _source_topic(source: Declaration) -> Topic:
    return Topic("kafka", required_name(source.body["topic"], source, "topic"))


def _omitted_outputs(models: list[CompiledModel]) -> list[WarningRecord]:
    return [
        warning(
            SINK_OUTPUT_OMITTED,
            f"the sink {shown(m.model.name)} writes outside Kafka, so its job has no outputs",
            m.model.at(),
        )
        for m in models
        if m.topic is None
    ]
