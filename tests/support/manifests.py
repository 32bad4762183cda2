"""Small manifests, written as streamt writes them, for tests to bend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Json = dict[str, Any]
FIXTURES = Path(__file__).parents[2] / "fixtures"
TIME = "2026-03-14T09:26:53.589793Z"
OPTIONS: dict[str, str | None] = {
    "job_namespace": "jobs",
    "kafka_namespace": "kafka://broker.example:9092",
    "gateway_namespace": "kafka://gateway.example:6969",
}


def source(name: str, topic: str | None = None, **more: Any) -> Json:
    return {"name": name, "topic": topic or f"{name}.v1", "columns": [{"name": "id"}], **more}


def model(name: str, **more: Any) -> Json:
    return {"name": name, "columns": [{"name": "id"}], **more}


def owned(name: str, model: str | None = None, **more: Any) -> Json:
    """An artifact of a newer release, which says whose it is."""
    return {"name": name, "ownership": {"type": "model", "name": model or name}, **more}


def table(name: str, topic: str) -> str:
    return (
        f"CREATE TABLE IF NOT EXISTS {name} (`id` INT) WITH ("
        f"'connector' = 'kafka', 'topic' = '{topic}', 'format' = 'json');\n"
    )


def insert(inputs: dict[str, str], target: str) -> str:
    """Compiled Flink SQL: tables by name with their topics, one of them written to."""
    tables = "".join(table(name, topic) for name, topic in inputs.items())
    reads = " JOIN ".join(inputs)
    return f"{tables}{table('out_sink', target)}INSERT INTO out_sink SELECT id FROM {reads};"


def manifest(sources: list[Json], models: list[Json], **artifacts: list[Json]) -> Json:
    return {
        "version": "1.0.0",
        "project": "shop",
        "compiled_at": TIME,
        "sources": sources,
        "models": models,
        "artifacts": artifacts,
    }


def shop() -> Json:
    """Two sources, a SQL topic, a Flink model, a Gateway view, and a sink."""
    return manifest(
        [source("orders"), source("refunds")],
        [
            model("clean", sql='SELECT id FROM {{ source("orders") }}', topic={"name": "clean.v1"}),
            model("totals", sql='SELECT id FROM {{ ref("clean") }} JOIN {{ source("refunds") }}'),
            model(
                "view", from_=[{"ref": "totals"}], gateway={"virtual_topic": {"name": "view.v1"}}
            ),
            model("lake", from_=[{"ref": "view"}]),
        ],
        topics=[owned("clean.v1", "clean"), owned("totals")],
        flink_jobs=[owned("clean_processor", "clean", sql="-"), owned("totals", sql="-")],
        gateway_rules=[owned("view", virtualTopic="view.v1", physicalTopic="totals")],
        connectors=[owned("lake", topics=["view.v1"])],
    )
