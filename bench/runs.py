"""The cost of a command around a child: everything but the child, over the file transport."""

from __future__ import annotations

import os
from pathlib import Path

from measure import PROGRAM, Cost, Ratio, cost, interleaved, medians, say

MANIFEST = Path(__file__).parents[1] / "fixtures" / "runs" / "manifest.json"
CHILD = "/bin/true"
ALLOWED = 0.150  # seconds
ROUNDS = 21
RUN = ("run", "--job-namespace", "bench", "--job-name", "bench", CHILD)
STREAMT = ("--streamt", CHILD, "--manifest", MANIFEST)
EMIT = (
    "--emit-openlineage",
    "--openlineage-job-namespace",
    "bench",
    "--openlineage-kafka-namespace",
    "kafka://broker.example:9092",
)


def run(folder: Path) -> list[Ratio]:
    """Measure what each command adds, with the events in ``folder``; print as it goes."""
    os.environ["OPENLINEAGE__TRANSPORT__TYPE"] = "file"
    os.environ["OPENLINEAGE__TRANSPORT__LOG_FILE_PATH"] = str(folder / "runs.jsonl")
    say(f"\nA child that does nothing, medians of {ROUNDS} interleaved runs")
    took = medians(
        interleaved(
            {
                "the child alone": lambda: cost(CHILD),
                "test, not emitting": lambda: around("test", *STREAMT),
                "run": lambda: around(*RUN),
                "test": lambda: around("test", *STREAMT, *EMIT),
                "apply": lambda: around("apply", *STREAMT, *EMIT),
            },
            ROUNDS,
        )
    )
    for name, seconds in took.items():
        say(f"  {name:<31} {seconds * 1000:8.1f} ms")
    alone = took["the child alone"]
    return [
        Ratio(f"{name}: what it adds / 150 ms", (took[name] - alone) / ALLOWED, 1.0)
        for name in ("run", "test", "apply")
    ]


def around(*words: str | Path) -> Cost:
    """Run the program with ``words`` once."""
    return cost(PROGRAM, *words)
