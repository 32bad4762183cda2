"""Manifests of any size, laid out as ``streamt compile`` writes them.

``python bench/manifests.py SOURCES MODELS FILE``. Written piece by piece, so that the largest
needs no memory. Of a hundred models, ten are virtual topics of the Gateway, ten are sinks, one
comes from a macro, and the others are SQL over a source or over the model before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

Json = dict[str, Any]
PROJECT = "bench"
TIME = "2026-03-14T09:26:53.589793Z"
TYPES = ("STRING", "BIGINT", "DECIMAL(10, 2)", "TIMESTAMP(3)")
COLUMNS = 8
SQL, GATEWAY, SINK, MACRO = "sql", "gateway", "sink", "macro"
CYCLE = 100
KINDS = [{3: GATEWAY, 7: SINK}.get(i % 10, SQL) for i in range(CYCLE)]
KINDS[11] = MACRO


class Size(NamedTuple):
    """The size of a manifest, by what it declares."""

    sources: int
    models: int


def kind(i: int) -> str:
    return KINDS[i % CYCLE]


def topic(i: int) -> str:
    return f"model.{i}.v1"


def upstream(i: int, size: Size) -> tuple[str, str, str]:
    """Return what model ``i`` reads: kind of reference, name and topic."""
    if kind(i) in (SQL, SINK) and kind(i - 1) == SQL and i % 2:
        return "ref", f"model_{i - 1}", topic(i - 1)
    n = i % size.sources
    return "source", f"source_{n}", f"source.{n}.v1"


def columns() -> list[Json]:
    return [
        {
            "name": f"column_{i}",
            "type": TYPES[i % len(TYPES)],
            "classification": None,
            "description": f"What column {i} holds",
            "required": False,
            "proctime": False,
        }
        for i in range(COLUMNS)
    ]


def sources(size: Size) -> Iterator[Json]:
    for i in range(size.sources):
        yield {
            "name": f"source_{i}",
            "description": f"Source number {i}",
            "topic": f"source.{i}.v1",
            "cluster": None,
            "schema_": None,
            "owner": "team-a",
            "ownership": {"mode": "external"},
            "tags": [],
            "columns": columns(),
            "freshness": None,
            "event_time": None,
            "region": None,
        }


def models(size: Size) -> Iterator[Json]:
    for i in range(size.models):
        yield {**_blank_model(i), **_declared(i, size)}


def _blank_model(i: int) -> Json:
    absent = ("sql", "from_", "key", "primary_key", "security", "connector", "sink", "gateway",
              "ml_outputs", "topic", "flink", "flink_cluster", "connect_cluster", "group",
              "version", "region", "contract", "macro")  # fmt: skip
    return {
        "name": f"model_{i}",
        "description": f"Model number {i}",
        "columns": columns(),
        "owner": "team-b",
        "ownership": {"mode": "managed"},
        "tags": [],
        "access": "private",
        "params": {},
        **dict.fromkeys(absent),
    }


def _declared(i: int, size: Size) -> Json:
    reference, name, _ = upstream(i, size)
    if kind(i) == GATEWAY:
        entry = {"source": None, "ref": None, reference: name}
        virtual = {"virtual_topic": {"name": topic(i), "compression": None}}
        return {"from_": [entry], "gateway": virtual, "materialized": "virtual_topic"}
    if kind(i) == SINK:
        entry = {"source": None, "ref": None, reference: name}
        sink: Json = {"connector": "jdbc-sink", "connection": None, "config": {}}
        return {"from_": [entry], "sink": sink, "materialized": "sink"}
    declared: Json = {"topic": {"name": topic(i)}, "materialized": "topic"}
    if kind(i) == MACRO:
        return {**declared, "macro": "copy", "params": {"of": name}}
    sql = f'SELECT column_0, column_1 FROM {{{{ {reference}("{name}") }}}} WHERE column_0 > 0'
    return {**declared, "sql": sql}


def nodes(size: Size) -> Iterator[Json]:
    for i in range(size.sources):
        yield {"name": f"source_{i}", "type": "source", "materialized": None, "upstream": [],
               "downstream": []}  # fmt: skip
    for i in range(size.models):
        yield {"name": f"model_{i}", "type": "model", "materialized": None,
               "upstream": [upstream(i, size)[1]], "downstream": []}  # fmt: skip


def edges(size: Size) -> Iterator[Json]:
    for i in range(size.models):
        yield {"from": upstream(i, size)[1], "to": f"model_{i}"}


def _owned(i: int) -> Json:
    return {"mode": "managed", "project": PROJECT, "type": "model", "name": f"model_{i}"}


def topics(size: Size) -> Iterator[Json]:
    for i in range(size.models):
        if kind(i) in (SQL, MACRO):
            yield {"name": topic(i), "partitions": 1, "replication_factor": 1, "config": {},
                   "ownership": _owned(i)}  # fmt: skip


def flink_jobs(size: Size) -> Iterator[Json]:
    for i in range(size.models):
        if kind(i) in (SQL, MACRO):
            _, name, read = upstream(i, size)
            yield {
                "name": f"model_{i}_processor",
                "sql": _table(name, read) + _table(f"model_{i}_sink", topic(i))
                + f"INSERT INTO model_{i}_sink\nSELECT column_0, column_1 FROM {name};",
                **dict.fromkeys(("cluster", "parallelism", "checkpoint_interval_ms")),
                **dict.fromkeys(("state_backend", "state_ttl_ms")),
                "ownership": _owned(i),
            }  # fmt: skip


def _table(name: str, topic_name: str) -> str:
    fields = ",\n".join(f"    `column_{i}` {TYPES[i % len(TYPES)]}" for i in range(COLUMNS))
    return (
        f"CREATE TABLE IF NOT EXISTS {name} (\n{fields}\n) WITH (\n    'connector' = 'kafka',\n"
        f"    'topic' = '{topic_name}',\n    'properties.bootstrap.servers' = 'broker:29092',\n"
        "    'scan.startup.mode' = 'earliest-offset',\n    'format' = 'json'\n);\n\n"
    )


def connectors(size: Size) -> Iterator[Json]:
    for i in range(size.models):
        if kind(i) == SINK:
            name, read = f"model_{i}", upstream(i, size)[2]
            java = "io.confluent.connect.jdbc.JdbcSinkConnector"
            config = {"name": name, "connector.class": java, "topics": read}
            yield {"name": name, "connector_class": java, "topics": [read], "cluster": None,
                   "config": config, "ownership": _owned(i)}  # fmt: skip


def gateway_rules(size: Size) -> Iterator[Json]:
    for i in range(size.models):
        if kind(i) == GATEWAY:
            yield {"name": f"model_{i}", "virtualTopic": topic(i),
                   "physicalTopic": upstream(i, size)[2], "interceptors": [],
                   "ownership": _owned(i)}  # fmt: skip


Items = Callable[[Size], Iterator[Json]]
ARTIFACTS: dict[str, Items | None] = {
    "schemas": None,
    "topics": topics,
    "flink_jobs": flink_jobs,
    "test_jobs": None,
    "connectors": connectors,
    "gateway_rules": gateway_rules,
}


def write(size: Size, file: Path) -> None:
    """Write a manifest of ``size`` to ``file``, indented by two spaces as streamt does it."""
    with file.open("wb") as out:
        for key, value in (("version", "1.0.0"), ("project", PROJECT), ("compiled_at", TIME)):
            out.write((f'{"{" if key == "version" else ","}\n  "{key}": "{value}"').encode())
        _list(out, ",\n  ", "sources", sources(size))
        _list(out, ",\n  ", "models", models(size))
        out.write(b',\n  "tests": [],\n  "exposures": [],\n  "dag": {')
        _list(out, "\n    ", "nodes", nodes(size))
        _list(out, ",\n    ", "edges", edges(size))
        out.write(b'\n  },\n  "artifacts": {')
        for n, (name, items) in enumerate(ARTIFACTS.items()):
            _list(out, ",\n    " if n else "\n    ", name, items(size) if items else iter(()))
        out.write(b"\n  }\n}\n")


def _list(out: IO[bytes], before: str, key: str, items: Iterator[Json]) -> None:
    indent = before[before.index("\n"):].encode()  # fmt: skip
    out.write(f'{before}"{key}": ['.encode())
    comma = b""
    for item in items:
        lines = orjson.dumps(item, option=orjson.OPT_INDENT_2).replace(b"\n", indent + b"  ")
        out.write(comma + indent + b"  " + lines)
        comma = b","
    out.write(indent + b"]" if comma else b"]")


if __name__ == "__main__":
    write(Size(int(sys.argv[1]), int(sys.argv[2])), Path(sys.argv[3]))
