"""Tables of what the specification lets a generated event hold."""

from __future__ import annotations

from streamt_ol.openlineage.events import DATASET_EVENT, JOB_EVENT, RUN_EVENT
from streamt_ol.openlineage.facets import DATASET, JOB, RUN

_PORT = "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
KAFKA_NAMESPACE = rf"^kafka://(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\]):0*{_PORT}$"
# What is never escaped, letters, digits and -._~, has no second spelling as an escape.
_ASCII = "%(?:[01][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])"
_TAIL = "%[89AB][0-9A-F]"
# Longer characters as RFC 3629, section 4, has them: shortest form, no surrogates, to 10FFFF.
_LONGER = (
    f"%(?:C[2-9A-F]|D[0-9A-F]){_TAIL}"
    f"|%E0%[AB][0-9A-F]{_TAIL}|%E[1-9A-CEF]{_TAIL}{_TAIL}|%ED%[89][0-9A-F]{_TAIL}"
    f"|%F0%[9AB][0-9A-F]{_TAIL}{_TAIL}|%F[1-3]{_TAIL}{_TAIL}{_TAIL}|%F4%8[0-9A-F]{_TAIL}{_TAIL}"
)
_SEGMENT = f"(?:[A-Za-z0-9._~-]|{_ASCII}|{_LONGER})+"
JOB_NAMES = {
    JOB_EVENT: rf"^streamt/{_SEGMENT}/models/{_SEGMENT}$",
    RUN_EVENT: rf"^streamt/{_SEGMENT}/commands/(?:apply|test)$",
}
# The jobType of the runs of each command, and those that read datasets.
COMMANDS = {"apply": "COMMAND", "test": "TEST"}
READING_COMMANDS = frozenset({"test"})
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
        "jobType": tuple(COMMANDS.values()),
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


def command_of(name: object) -> str | None:
    """Return the command whose runs have the job ``name``, or None where it is not one's."""
    command = name.rpartition("/commands/")[2] if isinstance(name, str) else ""
    return command if command in COMMANDS else None
