"""`streamt-ol graph` and `diff`: time and peak memory of whole processes, by the number of jobs.

Each job reads one dataset or two and writes one. ``diff`` compares such events with others in
which a tenth of the jobs has other inputs, a tenth of the datasets lost a column, and so on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from measure import PROGRAM, PYTHON, Cost, cost, interleaved, memory, over, times
from table import MEMORY, Filled, Result, Row, Table, at_most

JOBS = (100, 1_000, 10_000)
ROUNDS = 5
COMMANDS = {
    "graph, text": ("graph", "{new}"),
    "graph, mermaid": ("graph", "{new}", "-f", "mermaid"),
    "graph, html": ("graph", "{new}", "-f", "html"),
    "diff, text": ("diff", "{old}", "{new}"),
    "diff, markdown": ("diff", "{old}", "{new}", "-f", "markdown"),
}
FOLLOWED = 8  # so many jobs depend on each other in a row
SMALL, LARGE = sorted(JOBS)[-2:]
TAKEN = Table(
    "Lineage drawn and compared",
    {
        f"{name} {jobs}": Row(f"{name}, {jobs:,} jobs", unit="s")
        for name in COMMANDS
        for jobs in JOBS
    },
    note=f"Whole processes, medians of {ROUNDS} runs.",
)
GROWN = Table(
    "Lineage: growth",
    {name: Row(f"{name}, {LARGE:,} jobs / {SMALL:,} jobs", at_most(15)) for name in COMMANDS},
)
PEAK = Table(
    "Lineage: peak memory",
    {name: Row(f"{name}, {LARGE:,} jobs", unit="MB") for name in COMMANDS},
    figures=(MEMORY,),
)
TABLES = (TAKEN, GROWN, PEAK)


def run(folder: Path) -> Filled:
    """Measure every command for every size."""
    costs: dict[str, list[Cost]] = {}
    for jobs in JOBS:
        files = {name: str(folder / f"{name}-{jobs}.jsonl") for name in ("old", "new")}
        cost(PYTHON, __file__, str(jobs), *files.values())
        measured = {
            f"{name} {jobs}": partial(cost, PROGRAM, *(word.format(**files) for word in words))
            for name, words in COMMANDS.items()
        }
        costs |= interleaved(measured, ROUNDS)
    yield TAKEN, {name: Result(times(each)) for name, each in costs.items()}
    grown = {name: over(costs[f"{name} {SMALL}"])(costs[f"{name} {LARGE}"]) for name in COMMANDS}
    yield GROWN, {name: Result(figures) for name, figures in grown.items()}
    peaks = {name: memory(costs[f"{name} {LARGE}"]) / 1e6 for name in COMMANDS}
    yield PEAK, {name: Result((peak,)) for name, peak in peaks.items()}


def events(jobs: int, changed: bool) -> Iterator[dict[str, Any]]:
    """Yield the events of the former state, or of one in which much has ``changed``."""
    base = {"eventTime": "2026-01-01T00:00:00Z", "producer": "https://example.com/bench"}
    for n in range(jobs):
        names = ["id", "at", *(["fare"] if n % 10 or not changed else [])]
        fields = [
            {"name": name, "type": "STRING", "description": f"What {name} holds"} for name in names
        ]
        facets = {
            "schema": {"fields": fields},
            "ownership": {"owners": [{"name": f"team {n % 7}"}]},
        }
        yield {**base, "dataset": {**_topic(n), "facets": facets}}
        before = n - 1 if n % FOLLOWED else n // 2
        inputs = [
            _topic(before),
            *([_topic(n // 3)] if n % 10 == 1 or (changed and n % 10 == 2) else []),
        ]
        facets = {"ownership": {"owners": [{"name": f"team {n % 7}"}]}}
        job = {"namespace": "bench", "name": f"streamt/bench/models/model_{n}", "facets": facets}
        yield {**base, "job": job, "inputs": inputs, "outputs": [_topic(n)]}


def _topic(n: int) -> dict[str, Any]:
    return {"namespace": "kafka://broker.example:9092", "name": f"topic.{n}.v1"}


if __name__ == "__main__":
    count, *targets = sys.argv[1:]
    for target, is_new in zip(targets, (False, True), strict=True):
        with Path(target).open("w") as file:
            file.writelines(json.dumps(event) + "\n" for event in events(int(count), is_new))
