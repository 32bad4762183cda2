"""Events for tests: hand-made ones, and random ones drawn from the flattened schemas, mutated."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from streamt_ol.openlineage.events import EVENT_KINDS, EVENT_SCHEMA_URLS
from streamt_ol.openlineage.facets import STANDARD_FACETS, by_place
from streamt_ol.openlineage.formats import NOT_BLANK, PATTERNS
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.validation.accept.flatten import event_schema

if TYPE_CHECKING:
    from random import Random

Event = dict[str, Any]
TIME = "2026-01-31T23:59:59Z"
RUN_ID = "d46e465b-d358-4d32-83d4-df660ff614dd"


def facet(place: str, key: str, **body: Any) -> Event:
    """Return a standard facet of streamt's with its exact ``_schemaURL``."""
    return {"_producer": PRODUCER, "_schemaURL": by_place()[place][key].schema_url, **body}


def dataset_event(name: str = "orders.v1", **facets: Any) -> Event:
    """Return a DatasetEvent as the exporter makes them."""
    own = {"datasetType": facet("dataset", "datasetType", datasetType="TOPIC"), **facets}
    dataset = {"namespace": "kafka://broker.example:9092", "name": name, "facets": own}
    return {**_base("DatasetEvent"), "dataset": dataset}


def job_event(name: str = "streamt/shop/models/orders", **more: Any) -> Event:
    """Return a JobEvent as the exporter makes them; ``more`` are further members."""
    kind = {"processingType": "STREAMING", "integration": "STREAMT", "jobType": "MODEL"}
    job = {
        "namespace": "prod",
        "name": name,
        "facets": {"jobType": facet("job", "jobType", **kind)},
    }
    return {**_base("JobEvent"), "job": job, **more}


def run_event(event_type: str | None = "START", **more: Any) -> Event:
    """Return a RunEvent of ``streamt test``; ``more`` are further members."""
    kind = {"processingType": "BATCH", "integration": "STREAMT", "jobType": "TEST"}
    job = {
        "namespace": "prod",
        "name": "streamt/shop/commands/test",
        "facets": {"jobType": facet("job", "jobType", **kind)},
    }
    typed = {} if event_type is None else {"eventType": event_type}
    return {**_base("RunEvent"), **typed, "run": {"runId": RUN_ID}, "job": job, **more}


def run_lines(count: int, kind: str = "START") -> bytes:
    """Return JSON Lines of as many runs, numbered from 0, with one event each."""
    made = []
    for number in range(count):
        event = run_event(kind)
        event["run"] = {"runId": f"00000000-0000-4000-8000-{number:012x}"}
        made.append(json.dumps(event).encode() + b"\n")
    return b"".join(made)


def topic(name: str) -> Event:
    """Return a reference to a dataset as it stands in inputs and outputs."""
    return {"namespace": "kafka://broker.example:9092", "name": name}


def _base(kind: str) -> Event:
    return {"eventTime": TIME, "producer": PRODUCER, "schemaURL": EVENT_SCHEMA_URLS[kind]}


@cache
def _flattened(kind: str) -> Event:
    return event_schema(kind, STANDARD_FACETS)


# What each pattern accepts, and what only the reference validator does: leap seconds, hosts in
# brackets, names without a common letter.
_STRINGS = {
    PATTERNS["date-time"]: [TIME, "2024-02-29T12:00:00.123+05:30"],
    PATTERNS["uri"]: [PRODUCER, "https://example.com/a?b#c", "urn:x:y"],
    PATTERNS["uuid"]: [RUN_ID, RUN_ID.upper()],
    NOT_BLANK: ["orders", "a b", "\u6ce8\u6587", " x"],
}
_RARE_STRINGS = {
    PATTERNS["date-time"]: "1990-12-31T23:59:60Z",
    PATTERNS["uri"]: "http://[::1]/",
    NOT_BLANK: "\U0001f600",
}
_NOISE: list[Any] = [
    None, True, False, 0, 1, -1, 1.0, 1.5, 1e300, "", " ", "\u3000", "x", "START", "BATCH", TIME,
    "2026-02-30T00:00:00Z", "2026-01-31T23:59:59Z\n", "2026-01-31 23:59:59Z", RUN_ID + "\n",
    "no uri", "http://[::1]:80/", "http://a b/", [], {}, [{}], [[]], [None], {"a": 1}, "DATASET",
    "JOB", "binary", "location", [{"name": "x"}, {"name": "x"}], EVENT_SCHEMA_URLS["RunEvent"],
]  # fmt: skip
_KEYS = [
    "run", "job", "dataset", "eventType", "name", "namespace", "facets", "inputs", "outputs",
    "schema", "fields", "_deleted", "_producer", "_schemaURL", "type", "parent", "tags", "extra",
    "inputFacets", "outputFacets", "lineage", "subset", "runId", "schemaURL",
]  # fmt: skip


def random_event(random: Random) -> Event:
    """Return a valid event of a random kind with random standard and custom facets."""
    kind = random.choice(EVENT_KINDS)
    schema = _flattened(kind)
    event: Event = _instance(random, schema, schema["$defs"], 0)
    event["schemaURL"] = EVENT_SCHEMA_URLS[kind]
    return event


def mutated(random: Random, event: Event) -> Event:
    """Return a copy of ``event`` with one to three random faults (or harmless changes) in it."""
    event = copy.deepcopy(event)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        places = _places(event)
        if not places:  # all members are gone
            break
        container, key = random.choice(places)
        _CHANGES[random.randrange(len(_CHANGES))](random, container, key)
    return event


def _places(event: Event) -> list[tuple[Any, Any]]:
    """Return every member and element of ``event`` as its container and its key or index."""
    found: list[tuple[Any, Any]] = []
    pending: list[Any] = [event]
    for value in pending:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            found.append((value, key))
            if isinstance(inner, dict | list):
                pending.append(inner)
    return found


def _replace(random: Random, container: Any, key: Any) -> None:
    container[key] = copy.deepcopy(random.choice(_NOISE))


def _remove(random: Random, container: Any, key: Any) -> None:
    del container[key]


def _add(random: Random, container: Any, key: Any) -> None:
    if isinstance(container, dict):
        container[random.choice(_KEYS)] = copy.deepcopy(random.choice(_NOISE))
    else:
        container.append(copy.deepcopy(random.choice([*container, *_NOISE])))


def _rename(random: Random, container: Any, key: Any) -> None:
    if isinstance(container, dict):
        container[random.choice(_KEYS)] = container.pop(key)


def _edit(random: Random, container: Any, key: Any) -> None:
    value = container[key]
    if isinstance(value, str):
        at = random.randrange(len(value) + 1)
        container[key] = (
            value[:at] + random.choice(["", " ", "\n", "0", "Z", "%"]) + value[at + 1 :]
        )
    elif isinstance(value, dict):
        value["_deleted"] = random.choice((True, True, False, 1, None))


_CHANGES = (_replace, _remove, _add, _rename, _edit)
_DEEPEST = 10


def _instance(random: Random, schema: Any, definitions: Event, depth: int) -> Any:
    """Return a random instance of a flattened ``schema``."""
    if "$ref" in schema:
        schema = {**schema, **definitions[schema["$ref"].removeprefix("#/$defs/")]}
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            branch = random.choice(schema[keyword][: 1 if depth > _DEEPEST else None])
            return _instance(random, branch, definitions, depth)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return random.choice(schema["enum"])
    made = _MAKERS[schema.get("type", "object")]
    return made(random, schema, definitions, depth + 1)


def _object(random: Random, schema: Any, definitions: Event, depth: int) -> Event:
    required = schema.get("required", ())
    properties = {k: v for k, v in schema.get("properties", {}).items() if v is not False}
    chance = 0.07 if len(properties) > 8 else 0.45
    names = [
        n for n in properties if n in required or (depth < _DEEPEST and random.random() < chance)
    ]
    made = {n: _instance(random, properties[n], definitions, depth) for n in names}
    if isinstance(schema.get("additionalProperties"), dict) and depth < _DEEPEST:
        for name in random.sample(["custom", "my_facet", "a/b~c"], random.randrange(3)):
            made[name] = _instance(random, schema["additionalProperties"], definitions, depth)
    if random.random() < 0.05 and "additionalProperties" not in schema:
        made["unknown"] = random.choice(_NOISE)
    return made


def _array(random: Random, schema: Any, definitions: Event, depth: int) -> list[Any]:
    length = 0 if depth > _DEEPEST else random.choice((0, 1, 1, 1, 2))
    return [_instance(random, schema.get("items", {}), definitions, depth) for _ in range(length)]


def _string(random: Random, schema: Any, definitions: Event, depth: int) -> str:
    pattern = schema.get("pattern", "")
    if pattern in _RARE_STRINGS and random.random() < 0.005:
        return _RARE_STRINGS[pattern]
    return random.choice(_STRINGS.get(pattern, ["", "text", "DIRECT", "\u00e4"]))


_MAKERS: dict[str, Any] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "boolean": lambda random, *_: random.random() < 0.5,
    "integer": lambda random, *_: random.choice((1, 2, 10**12, 3.0)),
    "number": lambda random, *_: random.choice((0, -1, 2.5, 1e-9)),
}
