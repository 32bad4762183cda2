"""The export: time against a floor, growth, cold start, peak memory.

The floor is a fresh process, its garbage collector off, that parses the same manifest with orjson,
parses each line of the export, and dumps the events again with sorted keys.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from manifests import COLUMNS, Size
from measure import (
    PROGRAM,
    PYTHON,
    Calls,
    Cost,
    calls,
    cost,
    interleaved,
    memory,
    over,
    result,
    say,
)
from table import MEMORY, Filled, Result, Results, Row, Table, at_most

STANDARD = Size(sources=2_000, models=10_000)
# The sizes between which one more model is measured.
GROWTH = (Size(200, 1_000), STANDARD, Size(20_000, 100_000))
GROWTH_ROUNDS = 5
NAMESPACES = (
    *("--job-namespace", "bench", "--kafka-namespace", "kafka://broker.example:9092"),
    *("--gateway-namespace", "kafka://gateway.example:6969"),
)
DEMO = Path(__file__).parents[1] / "fixtures" / "manifests" / "demo.json"
ROUNDS = 7
START_ROUNDS = 21
_HERE = Path(__file__).parent

# argv: manifest, events.
FLOOR = """
import gc, sys
import orjson
gc.disable()
with open(sys.argv[1], "rb") as file: manifest = orjson.loads(file.read())
with open(sys.argv[2], "rb") as file: events = [orjson.loads(line) for line in file]
lines = b"\\n".join(orjson.dumps(event, option=orjson.OPT_SORT_KEYS) for event in events)
"""
# argv: manifest. Prints the bytes that are resident when only the parsed manifest is left.
HOLD = """
import sys
import orjson, psutil
with open(sys.argv[1], "rb") as file: manifest = orjson.loads(file.read())
print(psutil.Process().memory_info().rss)
"""
TIME = Table(
    "Export: time",
    {
        "export": Row("`export` / its floor", at_most(3.0)),
        "start": Row(
            "cold start of `export` on the demo / `python -c 'import typer'`", at_most(1.35)
        ),
    },
    note=(
        f"{STANDARD.sources:,} sources and {STANDARD.models:,} models with {COLUMNS} columns each. "
        "The floor: one process without garbage collector that parses the manifest with orjson,\n"
        "then parses each line of the export and dumps it with sorted keys. "
        f"Medians of {ROUNDS} interleaved runs, of {START_ROUNDS} for the cold start."
    ),
)
PEAK = Table(
    "Export: peak memory",
    {
        "held": Row("`export` / the parsed manifest, resident", at_most(2.5)),
        "parsing": Row("`export` / a process that parses the manifest, peak", at_most(2.5)),
    },
    figures=(MEMORY,),
)
GROWN = Table(
    "Export: growth",
    {
        "growth": Row("one more model, 10,000 to 100,000 / up to 10,000", at_most(1.1)),
    },
    figures=("CPU in its own code", "CPU"),
    note=(
        f"Medians of {GROWTH_ROUNDS} runs of each size. Linear is 1. What the kernel takes to hand "
        "out gigabytes of memory does not grow linearly on every machine."
    ),
)
TABLES = (TIME, PEAK, GROWN)


def run(folder: Path) -> Filled:
    """Measure everything about the export, with files in ``folder``."""
    manifest = generated(STANDARD, folder)
    events = folder / "events.jsonl"
    cost(PROGRAM, "export", manifest, *NAMESPACES, "--output-file", events)
    costs = interleaved(
        {
            "floor": lambda: cost(PYTHON, "-c", FLOOR, manifest, events),
            "hold": lambda: cost(PYTHON, "-c", HOLD, manifest, says=True),
            **exports("export", manifest),
        },
        ROUNDS,
    )
    yield TIME, {"export": result(costs, "export", over(costs["floor"])), "start": start()}
    held = statistics.median(int(each.said) for each in costs["hold"])
    parsing = memory(costs["hold"])
    yield (
        PEAK,
        {
            "held": result(costs, "export", lambda each: (memory(each) / held,)),
            "parsing": result(costs, "export", lambda each: (memory(each) / parsing,)),
        },
    )
    yield GROWN, growth(folder)


def generated(size: Size, folder: Path) -> Path:
    """Return a manifest of ``size``, written by a child so that this process stays small."""
    file = folder / f"manifest-{size.models}.json"
    cost(PYTHON, _HERE / "manifests.py", str(size.sources), str(size.models), file)
    return file


def exports(name: str, manifest: Path) -> Calls:
    return calls(name, "export", manifest, *NAMESPACES, "--quiet")


def start() -> Result:
    """Return the cold start of ``export`` on the demo manifest against that of typer alone."""
    costs = interleaved(
        {
            "typer": lambda: cost(PYTHON, "-c", "import typer"),
            **exports("export", DEMO),
        },
        START_ROUNDS,
    )
    return result(costs, "export", over(costs["typer"]))


def growth(folder: Path) -> Results:
    """Return how the time of one more model grows over the sizes."""
    costs: dict[str, list[Cost]] = {}
    for size in GROWTH:
        manifest = generated(size, folder)
        costs |= interleaved(exports(f"{size.models}", manifest), GROWTH_ROUNDS)
        manifest.unlink()
        say(f"export: {size.models:,} models measured")
    sizes = [size.models for size in GROWTH]
    taken = [result(costs, f"{models}", _own_and_all) for models in sizes]
    return {
        "growth": Result(
            _grown(sizes, [each.now for each in taken]),
            _grown(sizes, [each.base for each in taken if each.base]),
        )
    }


def _own_and_all(costs: Sequence[Cost]) -> tuple[float, ...]:
    return (
        statistics.median(each.user_seconds for each in costs),
        statistics.median(each.cpu_seconds for each in costs),
    )


def _grown(sizes: Sequence[int], seconds: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """Return the time of one more model in the last step over that in the one before."""
    small, middle, large = sizes
    return tuple(
        ((c - b) / (large - middle)) / ((b - a) / (middle - small))
        for a, b, c in zip(*seconds, strict=True)
    )
