"""The export: time against a floor, peak memory, cold start, growth.

The floor is a fresh process, its garbage collector off, that parses the same manifest with orjson,
parses each line of the export, and dumps the events again with sorted keys. Both processes are
measured whole, in CPU.
"""

from __future__ import annotations

import statistics
from pathlib import Path

from manifests import Size
from measure import PROGRAM, PYTHON, Cost, Ratio, cost, interleaved, say

STANDARD = Size(sources=2_000, models=10_000)
# Each size, and how often it is measured.
GROWTH = {Size(200, 1_000): 5, STANDARD: 3, Size(20_000, 100_000): 1}
NAMESPACES = (
    *("--job-namespace", "bench", "--kafka-namespace", "kafka://broker.example:9092"),
    *("--gateway-namespace", "kafka://gateway.example:6969"),
)
DEMO = Path(__file__).parents[1] / "fixtures" / "manifests" / "demo.json"
ROUNDS = 7
START_ROUNDS = 21
MIB = 1 << 20
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


def run(folder: Path) -> list[Ratio]:
    """Measure everything about the export, with files in ``folder``; print as it goes."""
    manifest = generated(STANDARD, folder)
    events = folder / "events.jsonl"
    cost(PROGRAM, "export", manifest, *NAMESPACES, "--output-file", events)
    size = manifest.stat().st_size / MIB
    say(f"Export of {STANDARD.sources:,} sources and {STANDARD.models:,} models ({size:.0f} MiB)")
    say(f"Medians of {ROUNDS} interleaved runs")
    return [*time_and_memory(manifest, events), start(), growth(folder)]


def generated(size: Size, folder: Path) -> Path:
    """Return a manifest of ``size``, written by a child so that this process stays small."""
    file = folder / f"manifest-{size.models}.json"
    cost(PYTHON, _HERE / "manifests.py", str(size.sources), str(size.models), file)
    return file


def exported(manifest: Path) -> Cost:
    return cost(PROGRAM, "export", manifest, *NAMESPACES, "--quiet")


def time_and_memory(manifest: Path, events: Path) -> list[Ratio]:
    """Return the export's ratios to the floor and to the parsed manifest."""
    costs = interleaved(
        {
            "export": lambda: exported(manifest),
            "floor": lambda: cost(PYTHON, "-c", FLOOR, manifest, events),
            "hold": lambda: cost(PYTHON, "-c", HOLD, manifest, says=True),
        },
        ROUNDS,
    )
    seconds, floor = (
        statistics.median(c.cpu_seconds for c in costs[name]) for name in ("export", "floor")
    )
    say(f"  export, CPU of the process      {seconds:8.3f} s")
    say(f"  floor, CPU of the process       {floor:8.3f} s   export {seconds / floor:5.2f} x")
    peak = statistics.median(c.peak_bytes for c in costs["export"])
    parsing = statistics.median(c.peak_bytes for c in costs["hold"])
    held = statistics.median(int(c.said) for c in costs["hold"])
    say(f"  export, peak memory             {peak / MIB:8.0f} MiB")
    for name, size in (
        ("parsing it, peak memory", parsing),
        ("the parsed manifest, resident", held),
    ):
        say(f"  {name:<31} {size / MIB:8.0f} MiB export {peak / size:5.2f} x")
    return [
        Ratio("export: CPU / floor without its collector", seconds / floor, 3.0),
        Ratio("export: peak memory / peak of parsing", peak / parsing, 2.5),
        Ratio("export: peak memory / parsed manifest", peak / held, 2.5),
    ]


def start() -> Ratio:
    """Return the cold start of ``export`` on the demo manifest against that of typer alone."""
    say(f"\nCold start, medians of {START_ROUNDS} interleaved runs")
    costs = interleaved(
        {
            "python -c 'import typer'": lambda: cost(PYTHON, "-c", "import typer"),
            "streamt-ol export demo.json": lambda: exported(DEMO),
        },
        START_ROUNDS,
    )
    took = {name: statistics.median(c.cpu_seconds for c in each) for name, each in costs.items()}
    for name, seconds in took.items():
        say(f"  {name:<31} {seconds * 1000:8.1f} ms of CPU")
    typer, export = took.values()
    return Ratio("export: cold start / import typer", export / typer, 1.35)


def growth(folder: Path) -> Ratio:
    """Return how the time of one more model grows over the sizes; 1 is linear.

    Only the time that the process spends in its own code counts here: what the kernel takes to
    hand out gigabytes of memory does not grow linearly on every machine.
    """
    say("\nGrowth: one export by the number of models")
    seconds: list[float] = []
    for size, rounds in GROWTH.items():
        manifest = generated(size, folder)
        costs = [exported(manifest) for _ in range(rounds)]
        manifest.unlink()
        own, wall = (
            statistics.median(values)
            for values in zip(*((c.user_seconds, c.seconds) for c in costs), strict=True)
        )
        seconds.append(own)
        say(f"  {size.models:>8,} models {own:8.3f} s in its own code, {wall:8.3f} s in all")
    small, middle, large = (size.models for size in GROWTH)
    first = (seconds[1] - seconds[0]) / (middle - small)
    second = (seconds[2] - seconds[1]) / (large - middle)
    say(f"  one more model: {first * 1e6:.1f} us up to {middle:,}, {second * 1e6:.1f} us beyond")
    return Ratio("export: time of one more model, beyond / up to 10,000", second / first, 1.25)
