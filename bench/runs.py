"""The cost of a command around a child: everything but the child, over the file transport."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from measure import PYTHON, Cost, calls, cost, interleaved, result, times
from table import Filled, Row, Table, at_most

MANIFEST = Path(__file__).parents[1] / "fixtures" / "runs" / "manifest.json"
CHILD = "/bin/true"
ROUNDS = 21
STREAMT = ("--streamt", CHILD, "--manifest", MANIFEST)
EMIT = (
    *("--emit-openlineage", "--openlineage-job-namespace", "bench"),
    *("--openlineage-kafka-namespace", "kafka://broker.example:9092"),
)
COMMANDS: dict[str, tuple[str | Path, ...]] = {
    "run": ("run", "--job-namespace", "bench", "--job-name", "bench", CHILD),
    "test": ("test", *STREAMT, *EMIT),
    "apply": ("apply", *STREAMT, *EMIT),
    "plain": ("test", *STREAMT),
}
ADDED = Table(
    "What a command around a child adds",
    {
        "run": Row("`run` / `python -c 'import typer'`", at_most(1.6)),
        "test": Row("`test --emit-openlineage` / the same", at_most(1.6)),
        "apply": Row("`apply --emit-openlineage` / the same", at_most(1.6)),
        "plain": Row("`test` without events / the same"),
    },
    note=f"The child does nothing; its own time is not counted. Medians of {ROUNDS} runs. "
    "Around a child that lasts longer than 0.1 s `apply` begins file events, for about 0.4 more.",
)
TABLES = (ADDED,)


def run(folder: Path) -> Filled:
    """Measure what each command adds, with the events in ``folder``."""
    measured = {
        "child": lambda: cost(CHILD),
        "typer": lambda: cost(PYTHON, "-c", "import typer"),
    }
    for name, words in COMMANDS.items():
        measured |= calls(name, *words)
    transport = {
        "OPENLINEAGE__TRANSPORT__TYPE": "file",
        "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": str(folder / "runs.jsonl"),
    }
    with patch.dict(os.environ, transport):
        costs = interleaved(measured, ROUNDS)
    child, typer = times(costs["child"]), times(costs["typer"])

    def added(each: Sequence[Cost]) -> tuple[float, ...]:
        return tuple(
            (own - alone) / unit for own, alone, unit in zip(times(each), child, typer, strict=True)
        )

    yield ADDED, {name: result(costs, name, added) for name in COMMANDS}
