"""Time and memory of `streamt-ol validate` against parsing alone and against other validators.

`run()` prints a table of ratios for two generated files of mixed events: about 1 KB each, and
about 8 KB with column lineage. Nothing here is a test: the figures are those of this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SMALL, LARGE = 200_000, 25_000
AIRFLOW = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/airflow"
FACETS = "https://openlineage.io/spec/facets"
Event = dict[str, Any]


def facet(version: str, name: str, **body: Any) -> Event:
    return {"_producer": AIRFLOW, "_schemaURL": f"{FACETS}/{version}/{name}.json#/$defs/{name}", **body}


def schema(columns: int) -> Event:
    fields = [{"name": f"column_{n}", "type": "VARCHAR", "description": "a column"} for n in range(columns)]
    return facet("1-2-0", "SchemaDatasetFacet", fields=fields)


def column_lineage(columns: int) -> Event:
    steps = [{"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}]
    fields = {
        f"column_{n}": {
            "inputFields": [
                {"namespace": "postgres://db.example:5432", "name": f"shop.public.t{k}", "field": f"c{n}", "transformations": steps}
                for k in range(2)
            ]
        }
        for n in range(columns)
    }  # fmt: skip
    return facet("1-2-0", "ColumnLineageDatasetFacet", fields=fields)


def events(count: int, columns: int, *, lineage: bool) -> Iterator[Event]:
    """Yield `count` mixed events: static ones, pairs of run events, and custom facets."""
    random = Random(1)
    for number in range(count):
        base = {
            "eventTime": f"2026-01-{number % 28 + 1:02}T12:{number // 60 % 60:02}:{number % 60:02}.{number % 1000:03}Z",
            "producer": AIRFLOW,
        }
        job = {
            "namespace": "airflow://prod",
            "name": f"shop.task_{number // 2 % 5000}",
            "facets": {
                "jobType": facet("2-0-4", "JobTypeJobFacet", processingType="BATCH", integration="AIRFLOW", jobType="TASK"),
            },
        }  # fmt: skip
        facets: Event = {"schema": schema(columns)}
        if lineage:
            facets["columnLineage"] = column_lineage(columns)
        dataset = {"namespace": "postgres://db.example:5432", "name": f"shop.public.t{number}", "facets": facets}
        custom = {"_producer": AIRFLOW, "_schemaURL": "https://example.com/Team.json", "team": "data", "tags": ["a", "b"]}
        kind = number // 2 % 3
        if kind == 0:
            run = {"runId": f"{random.getrandbits(128) if number % 2 == 0 else last:032x}"}
            last = int(run["runId"], 16)
            text = run["runId"]
            run["runId"] = "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
            yield {
                **base, "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
                "eventType": ("START", "COMPLETE")[number % 2], "run": {**run, "facets": {"team": custom}},
                "job": job, "inputs": [{"namespace": "postgres://db.example:5432", "name": "shop.public.x"}],
                "outputs": [dataset],
            }  # fmt: skip
        elif kind == 1:
            yield {
                **base, "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent",
                "job": {**job, "facets": {**job["facets"], "team": custom}},
                "inputs": [{"namespace": "postgres://db.example:5432", "name": "shop.public.x"}],
                "outputs": [dataset],
            }  # fmt: skip
        else:
            dataset["facets"] = {**facets, "team": custom}
            yield {
                **base, "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
                "dataset": dataset,
            }  # fmt: skip


def write(path: Path, count: int, columns: int, *, lineage: bool) -> None:
    """Write events, every second line as compact JSON and every other with spaces."""
    with path.open("w") as file:
        for number, event in enumerate(events(count, columns, lineage=lineage)):
            separators = (",", ":") if number % 2 else (", ", ": ")
            file.write(json.dumps(event, separators=separators) + "\n")


if __name__ == "__main__":
    out = Path(sys.argv[1])
    write(out / "small.jsonl", SMALL, 6, lineage=False)
    write(out / "large.jsonl", LARGE, 16, lineage=True)
