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
from measure import PROGRAM, PYTHON, Ratio, say

COMPARED = 2_000_000  # events for the engines side by side
GROWTH = (1_000_000, 4_000_000, 16_000_000)
_FILES = 8
_EVERY = 0.2  # seconds between two looks at the memory


class TreeCost(NamedTuple):
    """The cost of a command and all its children: wall-clock and CPU seconds, peak bytes."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def run(folder: Path) -> list[Ratio]:
    """Print a table of engines and one of growth; return how an event's cost grows."""
    archive = folder / "archive"
    made = _write(archive, COMPARED)
    say(f"\nArchive of {COMPARED:,} events, {made / 1e6:,.0f} MB in {_FILES} files")
    for name, arguments in _engines().items():
        found = _cost([PROGRAM, "validate", str(archive), *arguments])
        say(
            f"  {name:<28} {found.seconds:7.1f} s wall  {found.cpu_seconds:7.1f} s CPU "
            f" {found.peak_bytes / 1e6:7,.0f} MB in all processes"
        )
    per_event = {}
    for events in GROWTH:
        shutil.rmtree(archive)
        _write(archive, events)
        found = _cost([PROGRAM, "validate", str(archive), "--engine", "local"])
        per_event[events] = found.cpu_seconds / events
        say(
            f"  {events:12,} events: {1e6 * per_event[events]:5.2f} microseconds of CPU each,"
            f" {found.peak_bytes / 1e6:,.0f} MB"
        )
    shutil.rmtree(archive)
    grown = per_event[GROWTH[-1]] / per_event[GROWTH[0]]
    return [Ratio("validate --engine local, an event of 16 million / of 1", grown, 1.1)]


def _engines() -> dict[str, list[str]]:
    """Return the arguments of each engine that is there."""
    engines = {"local, one process": ["--engine", "local", "--jobs", "1"]}
    engines["local, all cores"] = ["--engine", "local"]
    if importlib.util.find_spec("pyspark") and shutil.which("java"):
        for master in ("local[2]", "local-cluster[2,1,2048]"):
            engines[f"spark, {master}"] = ["--engine", "spark", "--master", master]
    return engines


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
    return TreeCost(
        time.perf_counter() - started, max(own, seen + cpu.get(child.pid, 0.0)), peak[0]
    )


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
