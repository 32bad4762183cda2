"""The strict flattened schema of generated events: the fast path for streamt's own rules."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from streamt_ol.openlineage import facets
from streamt_ol.openlineage.events import DATASET_EVENT, EVENT_SCHEMA_URLS, RUN_EVENT
from streamt_ol.openlineage.facets import DATASET, JOB, RUN
from streamt_ol.openlineage.formats import NOT_BLANK, PATTERNS
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.validation.accept.flatten import Flattener, Schema
from streamt_ol.validation.accept.local import accepts_besides, fields_unique
from streamt_ol.validation.accept.schema import compiled
from streamt_ol.validation.generated_tables import (
    BODIES,
    COMMANDS,
    EVENT_TYPES,
    FACETS,
    FIELD_MEMBERS,
    JOB_NAMES,
    KAFKA_NAMESPACE,
    PERMITTED,
    READING_COMMANDS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# The rules about any event that hold where the strict schema does, and the one of `fields`.
_KNOWN = frozenset({"OL-R016", "OL-R017", "OL-R018", "OL-R019", "OL-R024", "OL-R027"})
_TEXT: Schema = {"type": "string", "pattern": NOT_BLANK}


def _closed(properties: dict[str, Any], required: Iterable[str] | None = None) -> Schema:
    """Return the schema of an object with ``properties`` and no others, all required by default."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties] if required is None else [*required],
        "additionalProperties": False,
    }


_DATASET_NAMES: dict[str, Schema] = {
    "namespace": {"type": "string", "pattern": KAFKA_NAMESPACE},
    "name": _TEXT,
}
_REFERENCES: Schema = {"type": "array", "minItems": 1, "items": _closed(_DATASET_NAMES)}
_FIELD = _closed(
    dict.fromkeys(FIELD_MEMBERS, _TEXT) | {"ordinal_position": {"type": "integer"}},
    ("name", "ordinal_position"),
)
# Members of generated facets that say more than their pinned schemas.
_MEMBERS: dict[str, Schema] = {
    "description": _TEXT,
    "owners": {"type": "array", "minItems": 1, "maxItems": 1, "items": _closed({"name": _TEXT})},
    "fields": {"type": "array", "minItems": 1, "items": _FIELD},
    "message": {**_TEXT, "maxLength": 4096},
}


def strict_schema(kind: str) -> Schema:
    """Return the strict flattened schema of generated events of ``kind``."""
    properties: dict[str, Schema] = {
        "eventTime": {"type": "string", "pattern": PATTERNS["utc-date-time"]},
        "producer": {"const": PRODUCER},
        "schemaURL": {"const": EVENT_SCHEMA_URLS[kind]},
        "eventType": {"enum": list(EVENT_TYPES)},
        "inputs": _REFERENCES,
        "outputs": _REFERENCES,
    }
    own = (*_DATASET_NAMES, "facets")
    if kind == DATASET_EVENT:
        members = {**_DATASET_NAMES, "facets": _facets(kind, DATASET)}
        properties["dataset"] = _closed(members, own)
    else:
        name = {"type": "string", "pattern": JOB_NAMES[kind]}
        members = {"namespace": _TEXT, "name": name, "facets": _facets(kind, JOB)}
        properties["job"] = _closed(members, own)
    if kind == RUN_EVENT:
        run_id = {"type": "string", "pattern": PATTERNS["uuid"]}
        properties["run"] = _closed({"runId": run_id, "facets": _facets(kind, RUN)}, ("runId",))
    permitted = {name: properties[name] for name in PERMITTED[kind][""]}
    required = [name for name in permitted if name not in {"inputs", "outputs"}]
    own_rules = {"allOf": [_ERROR_ONLY_ON_FAIL, _COMMANDS]} if kind == RUN_EVENT else {}
    return {**_closed(permitted, required), **own_rules}


_ERROR_ONLY_ON_FAIL: Schema = {
    "anyOf": [
        {"properties": {"eventType": {"const": "FAIL"}}},
        {"properties": {"run": {"properties": {"facets": False}}}},
    ]
}


def _command(command: str, job_type: str) -> Schema:
    """Return what the runs of ``command`` have, beyond what all runs have."""
    facets_ = {"properties": {"jobType": {"properties": {"jobType": {"const": job_type}}}}}
    name = {"pattern": f"/commands/{command}$"}
    job: Schema = {"job": {"properties": {"name": name, "facets": facets_}}}
    inputs: Schema = {} if command in READING_COMMANDS else {"inputs": False}
    return {"properties": {**job, **inputs}}


_COMMANDS: Schema = {"anyOf": [_command(*row) for row in COMMANDS.items()]}


def _facets(kind: str, place: str) -> Schema:
    """Return the schema of the container of generated facets at ``place``."""
    keys = FACETS[kind][place]
    required = () if place == RUN else keys[:1]  # errorMessage is optional
    return _closed({key: _facet(kind, place, key) for key in keys}, required)


def _facet(kind: str, place: str, key: str) -> Schema:
    standard = facets.by_place()[place][key]
    pinned = Flattener(()).facet(standard)["properties"]
    members: dict[str, Schema] = {
        "_producer": {"const": PRODUCER},
        "_schemaURL": {"const": standard.schema_url},
    }
    for name, values in BODIES[kind, place, key].items():
        members[name] = {"enum": list(values)} if values else _MEMBERS.get(name, pinned[name])
    return _closed(members)


@cache
def meets_schema(kind: str) -> Callable[[Any], bool]:
    """Return what accepts generated events of ``kind``."""
    return compiled(strict_schema(kind)).is_valid


def accepts(kind: str, event: dict[str, Any]) -> bool:
    """Tell whether a generated event of ``kind`` is certainly right, but for its order."""
    return (
        meets_schema(kind)(event)
        and accepts_besides(_KNOWN)(kind, event)
        and fields(event)
        and both_ways(event)
    )


def order(event: dict[str, Any]) -> bool:
    """Tell whether the inputs of an accepted event stand in canonical order, as serialized."""
    inputs = [(one["namespace"], one["name"]) for one in event.get("inputs", ())]
    return len(inputs) < 2 or inputs == sorted(inputs)  # noqa: PLR2004


def fields(event: dict[str, Any]) -> bool:
    """Tell whether the fields of the schema facet are numbered from one, each name once."""
    dataset = event.get("dataset")
    if dataset is None or "schema" not in dataset["facets"]:
        return True
    found = dataset["facets"]["schema"]["fields"]
    numbers = [field["ordinal_position"] for field in found]
    return numbers == [*range(1, len(found) + 1)] and fields_unique(DATASET, dataset["facets"])


def both_ways(event: dict[str, Any]) -> bool:
    """Tell whether no dataset is both an input and an output."""
    inputs, outputs = event.get("inputs"), event.get("outputs")
    if not inputs or not outputs:
        return True
    taken = {(one["namespace"], one["name"]) for one in inputs}
    return taken.isdisjoint([(one["namespace"], one["name"]) for one in outputs])
