"""Events: their three kinds, and the identities that they carry.

The kind follows "A serialized RunEvent has both run and job; JobEvent has job but no run or
dataset; DatasetEvent has dataset but no run or job" of OpenLineage's core schema, decided by keys
alone, so that an event that misses a part is still judged by the schema that it means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from streamt_ol.openlineage.release import CORE_ID

# What is parsed is a dict: asking for it first costs a tenth of asking an abstract class.
_OBJECT = (dict, Mapping)
RUN_EVENT = "RunEvent"
JOB_EVENT = "JobEvent"
DATASET_EVENT = "DatasetEvent"
EVENT_KINDS = (RUN_EVENT, JOB_EVENT, DATASET_EVENT)
EVENT_SCHEMA_URLS = {kind: f"{CORE_ID}#/$defs/{kind}" for kind in EVENT_KINDS}
# The keys that hold the entities of an event of each kind; others mean nothing there.
ENTITIES = {
    RUN_EVENT: ("run", "job", "inputs", "outputs"),
    JOB_EVENT: ("job", "inputs", "outputs"),
    DATASET_EVENT: ("dataset",),
}


def kind_of(event: Mapping[str, Any]) -> str | None:
    """Return the kind that the keys of ``event`` make it, or None where there is none, or two.

    Keys count, never their values: ``"run": null`` is a run key.
    """
    if "job" in event:
        if "run" in event:
            return RUN_EVENT
        return None if "dataset" in event else JOB_EVENT
    if "dataset" in event:
        return DATASET_EVENT
    return RUN_EVENT if "run" in event else None


def entity_of(event: Mapping[str, Any]) -> Any:
    """Return what an event is about: the dataset of a DatasetEvent, else the job."""
    return event.get("dataset" if kind_of(event) == DATASET_EVENT else "job")


def identity_of(entity: object) -> tuple[str, str]:
    """Return namespace and name of a job or dataset object, "" for what is not text."""
    if not isinstance(entity, _OBJECT):
        return "", ""
    namespace, name = entity.get("namespace"), entity.get("name")
    return namespace if isinstance(namespace, str) else "", name if isinstance(name, str) else ""


class Outline(NamedTuple):
    """The kind of an event, None of what is none; its ``eventType`` and identity, "" if absent."""

    kind: str | None
    event_type: str
    namespace: str
    name: str


def outline_of(event: Mapping[str, Any]) -> Outline:
    """Return the outline of an event; what is not text counts as absent."""
    event_type = event.get("eventType")
    state = event_type if isinstance(event_type, str) else ""
    return Outline(kind_of(event), state, *identity_of(entity_of(event)))


def run_id_of(event: Mapping[str, Any]) -> str | None:
    """Return the run id of an event, or None where it has none that is text."""
    run = event.get("run")
    run_id = run.get("runId") if isinstance(run, _OBJECT) else None
    return run_id if isinstance(run_id, str) else None


def at(value: object, *keys: str) -> object:
    """Return what stands at ``keys``, one within the other, None where there is nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, _OBJECT) else None
    return value
