"""What the specification lets a generated event hold: the tables behind the rules for streamt."""

from __future__ import annotations

from streamt_ol.openlineage.events import DATASET_EVENT, JOB_EVENT, RUN_EVENT
from streamt_ol.openlineage.facets import DATASET, JOB, RUN

_PORT = "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
KAFKA_NAMESPACE = rf"^kafka://(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\]):{_PORT}$"
# What is never escaped, letters, digits and -._~, has no second spelling as an escape.
_ESCAPE = "%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])"
_SEGMENT = f"(?:[A-Za-z0-9._~-]|{_ESCAPE})+"
JOB_NAMES = {
    JOB_EVENT: rf"^streamt/{_SEGMENT}/models/{_SEGMENT}$",
    RUN_EVENT: rf"^streamt/{_SEGMENT}/commands/(?:apply|test)$",
}
# The facets of each kind of event by place; the first of an event's own entity is required.
FACETS: dict[str, dict[str, tuple[str, ...]]] = {
    DATASET_EVENT: {DATASET: ("datasetType", "documentation", "ownership", "schema")},
    JOB_EVENT: {JOB: ("jobType", "documentation", "ownership")},
    RUN_EVENT: {JOB: ("jobType",), RUN: ("errorMessage",)},
}
# What a generated facet holds: for each member the one value, the values, or any (None).
Body = dict[str, tuple[str, ...] | None]
BODIES: dict[tuple[str, str, str], Body] = {
    (DATASET_EVENT, DATASET, "datasetType"): {"datasetType": ("TOPIC",)},
    (DATASET_EVENT, DATASET, "documentation"): {"description": None},
    (DATASET_EVENT, DATASET, "ownership"): {"owners": None},
    (DATASET_EVENT, DATASET, "schema"): {"fields": None},
    (JOB_EVENT, JOB, "jobType"): {
        "processingType": ("STREAMING",),
        "integration": ("STREAMT",),
        "jobType": ("MODEL",),
    },
    (JOB_EVENT, JOB, "documentation"): {"description": None},
    (JOB_EVENT, JOB, "ownership"): {"owners": None},
    (RUN_EVENT, JOB, "jobType"): {
        "processingType": ("BATCH",),
        "integration": ("STREAMT",),
        "jobType": ("COMMAND", "TEST"),
    },
    (RUN_EVENT, RUN, "errorMessage"): {"message": None, "programmingLanguage": ("PYTHON",)},
}
EVENT_TYPES = ("START", "COMPLETE", "FAIL", "ABORT")
FIELD_MEMBERS = ("name", "type", "description", "ordinal_position")

# The members of each object of an event of each kind, by the object's place.
_REFERENCE = ("namespace", "name")
_STATIC = ("eventTime", "producer", "schemaURL")
PERMITTED: dict[str, dict[str, tuple[str, ...]]] = {
    DATASET_EVENT: {"": (*_STATIC, "dataset"), "dataset": (*_REFERENCE, "facets")},
    JOB_EVENT: {
        "": (*_STATIC, "job", "inputs", "outputs"),
        "job": (*_REFERENCE, "facets"),
        "inputs": _REFERENCE,
        "outputs": _REFERENCE,
    },
    RUN_EVENT: {
        "": (*_STATIC, "eventType", "run", "job", "inputs"),
        "run": ("runId", "facets"),
        "job": (*_REFERENCE, "facets"),
        "inputs": _REFERENCE,
    },
}
