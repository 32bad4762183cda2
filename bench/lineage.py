"""`streamt-ol graph` and `diff`: time and peak memory of whole processes, by the number of jobs.

Each job reads one dataset or two and writes one. ``diff`` compares such events with others in
which a tenth of the jobs has other inputs, a tenth of the datasets lost a column, and so on.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import PROGRAM, PYTHON, Ratio, cost, say

JOBS = {100: 5, 1_000: 3, 10_000: 1}  # each size, and how often it is measured
COMMANDS = {
    "graph, text": ("graph", "{new}"),
    "graph, mermaid": ("graph", "{new}", "-f", "mermaid"),
    "graph, html": ("graph", "{new}", "-f", "html"),
    "diff, text": ("diff", "{old}", "{new}"),
    "diff, markdown": ("diff", "{old}", "{new}", "-f", "markdown"),
}
FOLLOWED = 8  # so many jobs depend on each other in a row
AIM = 15.0


def run(folder: Path) -> list[Ratio]:
    """Measure every command for every size; print a table."""
    say("\nLineage drawn and compared, whole processes")
    seconds: dict[tuple[str, int], float] = {}
    for jobs, rounds in JOBS.items():
        files = {name: str(folder / f"{name}-{jobs}.jsonl") for name in ("old", "new")}
        cost(PYTHON, __file__, str(jobs), *files.values())
        for name, words in COMMANDS.items():
            costs = [
                cost(PROGRAM, *(word.format(**files) for word in words)) for _ in range(rounds)
            ]
            seconds[name, jobs] = statistics.median(one.seconds for one in costs)
            peak = max(one.peak_bytes for one in costs) / 1e6
            say(f"  {jobs:>7,} jobs  {name:<16} {seconds[name, jobs]:7.2f} s {peak:6.0f} MB")
    small, large = sorted(JOBS)[-2:]
    return [
        Ratio(
            f"{name}: time of {large:,} / {small:,} jobs",
            seconds[name, large] / seconds[name, small],
            AIM,
        )
        for name in COMMANDS
    ]


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
