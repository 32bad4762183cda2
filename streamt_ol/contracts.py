"""The contracts of the stages: one JSON Schema for each state of the pipeline.

Implements "What passes between the stages" of the design. The schemas are checked in tests,
when a stage runs alone, and around a replacement stage; the built-in chain does not pay for
them. ``PROJECTION`` is the secret boundary: it closes every object, so that nothing of SQL,
configuration or artifacts can pass it under any name.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from streamt_ol.manifest.locations import SCHEMA as LOCATIONS
from streamt_ol.manifest.shape import SHAPE
from streamt_ol.problems import WarningRecord

State = dict[str, Any]


class Identity(TypedDict):
    """The identity of a dataset or a job."""

    namespace: str
    name: str


class ProjectedColumn(TypedDict):
    """A declared column; ``type`` and ``description`` only where declared."""

    name: str
    type: NotRequired[str]
    description: NotRequired[str]


class ProjectedDataset(TypedDict):
    """A declared dataset and the metadata declared for it; ``columns`` is never empty."""

    namespace: str
    name: str
    declared_at: str
    description: NotRequired[str]
    owner: NotRequired[str]
    columns: NotRequired[list[ProjectedColumn]]


class ProjectedJob(TypedDict):
    """A model that compiles to a process, with its direct inputs and its outputs."""

    namespace: str
    name: str
    declared_at: str
    description: NotRequired[str]
    owner: NotRequired[str]
    inputs: list[Identity]
    outputs: list[Identity]


class Counts(TypedDict):
    """The number of events, by kind."""

    total: int
    datasets: int
    jobs: int


class Canonical(TypedDict):
    """The state behind ``canonicalize``: valid events in canonical order, each with its line."""

    events: list[dict[str, Any]]
    lines: list[str]
    counts: Counts
    warnings: list[WarningRecord]


class Emitted(TypedDict):
    """The state behind ``emit``: what was written; ``output_file`` is None for a stream."""

    counts: Counts
    bytes: int
    output_file: str | None
    warnings: list[WarningRecord]


_TEXT = {"type": "string"}
_OPTIONAL_TEXT = {"type": ["string", "null"]}


def _closed(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **optional},
        "additionalProperties": False,
    }


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


_OPTIONS = _closed(
    {},
    manifest=_OPTIONAL_TEXT,
    job_namespace=_OPTIONAL_TEXT,
    kafka_namespace=_OPTIONAL_TEXT,
    gateway_namespace=_OPTIONAL_TEXT,
    event_time=_OPTIONAL_TEXT,
    project_dir=_OPTIONAL_TEXT,
    env=_OPTIONAL_TEXT,
)
_LOCATED = {
    "location": _TEXT,
    "file": _TEXT,
    "line": {"type": "integer", "minimum": 1},
    "pointer": _TEXT,
    "option": _TEXT,
}
_WARNINGS = _list(_closed({"code": _TEXT, "message": _TEXT}, **_LOCATED))
_IDENTITY = _closed({"namespace": _TEXT, "name": _TEXT})
_COLUMN = _closed({"name": _TEXT}, type=_TEXT, description=_TEXT)
_DECLARED = {"namespace": _TEXT, "name": _TEXT, "declared_at": _TEXT}
_NAMED = {
    "type": "object",
    "required": ["namespace", "name"],
    "properties": {"namespace": _TEXT, "name": _TEXT},
}
_EVENT = {
    "type": "object",
    "required": ["eventTime", "producer", "schemaURL"],
    "properties": {
        "eventTime": _TEXT,
        "producer": _TEXT,
        "schemaURL": _TEXT,
        "dataset": _NAMED,
        "job": _NAMED,
        "inputs": {"type": "array"},
        "outputs": {"type": "array"},
        "run": False,
        "eventType": False,
    },
    "oneOf": [{"required": ["dataset"]}, {"required": ["job"]}],
}
_COUNT = {"type": "integer", "minimum": 0}
_COUNTS = _closed({"total": _COUNT, "datasets": _COUNT, "jobs": _COUNT})

OPTIONS = _closed({"options": _OPTIONS})
LOADED = _closed({"options": _OPTIONS, "manifest": SHAPE}, locations=LOCATIONS, warnings=_WARNINGS)
PROJECTION = _closed(
    {
        "project": _TEXT,
        "event_time": _TEXT,
        "datasets": _list(
            _closed(_DECLARED, description=_TEXT, owner=_TEXT, columns=_list(_COLUMN))
        ),
        "jobs": _list(
            _closed(
                {**_DECLARED, "inputs": _list(_IDENTITY), "outputs": _list(_IDENTITY)},
                description=_TEXT,
                owner=_TEXT,
            )
        ),
        "warnings": _WARNINGS,
    }
)
EVENTS = _closed({"events": _list(_EVENT), "warnings": _WARNINGS})
CANONICAL = _closed(
    {"events": _list(_EVENT), "lines": _list(_TEXT), "counts": _COUNTS, "warnings": _WARNINGS}
)
EMITTED = _closed(
    {"counts": _COUNTS, "bytes": _COUNT, "warnings": _WARNINGS}, output_file=_OPTIONAL_TEXT
)
