"""Archives: the engines side by side, the memory of all their processes, cost as archives grow."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import NamedTuple

import psutil
from measure import PROGRAM, PYTHON, say
from table import Filled, Result, Row, Table, at_most

COMPARED = 2_000_000  # events for the engines side by side
GROWTH = (1_000_000, 4_000_000, 16_000_000)
_FILES = 8
_EVERY = 0.2  # seconds between two looks at the memory


class TreeCost(NamedTuple):
    """The cost of a command and all its children: wall-clock and CPU seconds, peak bytes."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int

    def figures(self, factor: float = 1.0) -> tuple[float, float, float]:
        """Return CPU and wall-clock seconds, each times ``factor``, and megabytes."""
        return factor * self.cpu_seconds, factor * self.seconds, self.peak_bytes / 1e6


ENGINES = {
    "local 1": ("local, one process", ("--engine", "local", "--jobs", "1")),
    "local": ("local, all cores", ("--engine", "local")),
    "spark": ("spark, `local[2]`", ("--engine", "spark", "--master", "local[2]")),
    "spark cluster": (
        "spark, `local-cluster[2,1,2048]`",
        ("--engine", "spark", "--master", "local-cluster[2,1,2048]"),
    ),
}
COMPARISON = Table(
    "Archives: the engines side by side",
    {name: Row(title) for name, (title, _) in ENGINES.items()},
    ("CPU, s", "wall, s", "memory, MB"),
    note=f"{COMPARED:,} events in {_FILES} files, one run. The memory is that of all processes, at "
    "the most at a time.",
)
COST = Table(
    "Archives: the cost of an event with `--engine local`",
    {f"of {events}": Row(f"of {events:,} events") for events in GROWTH},
    ("CPU, µs", "wall, µs", "memory, MB"),
    note="One run each. The memory is that of all processes, at the most at a time.",
)
GROWN = Table(
    "Archives: growth",
    {
        "growth": Row(
            f"`--engine local`, an event of {GROWTH[-1]:,} / of {GROWTH[0]:,}", at_most(1.1)
        ),
    },
    note="One run each.",
)
TABLES = (COMPARISON, COST, GROWN)


def run(folder: Path) -> Filled:
    """Measure the engines side by side, then how an event's cost grows with the archive."""
    archive = folder / "archive"
    _write(archive, COMPARED)
    costs = {}
    for name in _engines():
        costs[name] = _cost([PROGRAM, "validate", str(archive), *ENGINES[name][1]])
        say(f"archive: {name} took {costs[name].seconds:.0f} s")
    yield COMPARISON, {name: Result(it.figures()) for name, it in costs.items()}
    per_event = {}
    for events in GROWTH:
        shutil.rmtree(archive)
        _write(archive, events)
        it = _cost([PROGRAM, "validate", str(archive), "--engine", "local"])
        per_event[events] = it.figures(1e6 / events)
        say(f"archive: {events:,} events took {it.seconds:.0f} s")
    shutil.rmtree(archive)
    yield COST, {f"of {events}": Result(figures) for events, figures in per_event.items()}
    grown = zip(per_event[GROWTH[-1]][:2], per_event[GROWTH[0]][:2], strict=True)
    yield GROWN, {"growth": Result(tuple(large / small for large, small in grown))}


def _engines() -> list[str]:
    """Return the names of the engines that are there."""
    has_spark = importlib.util.find_spec("pyspark") and shutil.which("java")
    return [name for name in ENGINES if has_spark or not name.startswith("spark")]


def _write(archive: Path, events: int) -> int:
    """Write pairs of START and COMPLETE into files of an archive; return its bytes."""
    archive.mkdir()
    job = {"namespace": "warehouse", "name": "daily"}
    base = {
        "producer": "https://example.com/scheduler/1.0",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }
    size = 0
    for part in range(_FILES):
        with (archive / f"{part}.jsonl").open("w") as file:
            for number in range(events // _FILES // 2):
                run_id = f"{part:08x}-0000-4000-8000-{number:012x}"
                for kind, hour in (("START", 1), ("COMPLETE", 2)):
                    time_ = f"2026-01-31T{hour:02}:{number // 60 % 60:02}:{number % 60:02}Z"
                    event = {
                        "eventTime": time_, "eventType": kind, "run": {"runId": run_id},
                        "job": {**job, "name": f"daily-{number % 5000}"}, **base,
                    }  # fmt: skip
                    size += file.write(json.dumps(event, separators=(",", ":")) + "\n")
    return size


def _cost(command: list[str]) -> TreeCost:
    """Run a command; return what it and its children took."""
    environment = {
        **os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost",
        "PYSPARK_PYTHON": PYTHON,
    }  # fmt: skip
    started = time.perf_counter()
    child = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    peak = [0]
    cpu: dict[int, float] = {}
    thread = threading.Thread(target=_watch, args=(child.pid, peak, cpu))
    thread.start()
    _, waited, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(waited)
    thread.join()
    if child.returncode != 0:
        raise SystemExit(f"{command[0]} failed with status {child.returncode}: {command}")
    # What a child that it waited for took is in its own account, others' is what was last seen.
    own, seen = usage.ru_utime + usage.ru_stime, sum(cpu.values())
    return TreeCost(time.perf_counter() - started, max(own, seen), peak[0])


def _watch(process: int, peak: list[int], cpu: dict[int, float]) -> None:
    """Keep the most memory that a process and its descendants have, and the CPU of each."""
    try:
        root = psutil.Process(process)
        while root.is_running() and root.status() != psutil.STATUS_ZOMBIE:
            size = 0
            for one in (root, *root.children(recursive=True)):
                try:
                    times = one.cpu_times()
                    size += one.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
                cpu[one.pid] = times.user + times.system
            peak[0] = max(peak[0], size)
            time.sleep(_EVERY)
    except psutil.NoSuchProcess:
        return
