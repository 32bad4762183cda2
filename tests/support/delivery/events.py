"""Small events of the three kinds, written by hand after the core schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Event = dict[str, Any]
CORE = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
RUN_ID = "4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"


def _event(kind: str, **fields: Any) -> Event:
    return {
        "eventTime": "2026-10-21T08:00:00Z",
        "producer": "https://example.com/producer",
        "schemaURL": CORE + kind,
        **fields,
    }


def job(name: str, **more: Any) -> Event:
    return _event("JobEvent", job={"namespace": "jobs", "name": name}, **more)


def dataset(name: str, **facets: Any) -> Event:
    return _event("DatasetEvent", dataset={"namespace": "db://h", "name": name, "facets": facets})


def run(name: str, state: str = "COMPLETE", run_id: str = RUN_ID, **more: Any) -> Event:
    entities = {"run": {"runId": run_id}, "job": {"namespace": "jobs", "name": name}}
    return _event("RunEvent", eventType=state, **entities, **more)


def refs(*names: str, namespace: str = "db://h") -> list[Event]:
    return [{"namespace": namespace, "name": name} for name in names]


def facet(name: str, **body: Any) -> Event:
    url = f"https://openlineage.io/spec/facets/1-0-0/{name}.json#/$defs/{name}"
    return {"_producer": "https://example.com/producer", "_schemaURL": url, **body}


def write(path: Path, *events: Event | str) -> Path:
    """Write one line for each event, not canonical on purpose: the bytes must survive."""
    lines = [e if isinstance(e, str) else json.dumps(e, ensure_ascii=False) for e in events]
    path.write_text("".join(line + "\n" for line in lines))
    return path
