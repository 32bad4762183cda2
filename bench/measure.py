"""Children of the benchmarks and what they cost.

The process that measures stays small: a child's peak memory is never reported below the memory
that its parent had when it started it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PYTHON = sys.executable
PROGRAM = str(Path(sys.executable).with_name("streamt-ol"))
# What getrusage calls a unit of ru_maxrss.
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


class Cost(NamedTuple):
    """The cost of one child: wall-clock seconds, those of CPU, peak bytes."""

    seconds: float
    user_seconds: float
    system_seconds: float
    peak_bytes: int
    said: str

    @property
    def cpu_seconds(self) -> float:
        """The seconds of CPU, in its own code and in the kernel."""
        return self.user_seconds + self.system_seconds


class Ratio(NamedTuple):
    """A result: ``value`` times as much as what it is held against, and what is aimed at."""

    name: str
    value: float
    aim: float


def cost(*command: str | Path, says: bool = False) -> Cost:
    """Run a child to its end and return what it took; with ``says``, its stdout as well."""
    started = time.perf_counter()
    child = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if says else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    said = child.stdout.read() if child.stdout else ""
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{command[0]} failed with status {child.returncode}: {command}")
    if child.stdout:
        child.stdout.close()
    peak = usage.ru_maxrss * _PEAK_UNIT
    return Cost(seconds, usage.ru_utime, usage.ru_stime, peak, said.strip())


def interleaved(measured: Mapping[str, Callable[[], Cost]], rounds: int) -> dict[str, list[Cost]]:
    """Call everything once in each round, so that a slow moment of the machine hits them all."""
    results: dict[str, list[Cost]] = {name: [] for name in measured}
    for _ in range(rounds):
        for name, call in measured.items():
            results[name].append(call())
    return results


def medians(costs: Mapping[str, Sequence[Cost]]) -> dict[str, float]:
    """Return the median of the wall-clock seconds of each."""
    return {name: statistics.median(c.seconds for c in each) for name, each in costs.items()}


def say(line: str = "") -> None:
    """Print a line at once: a benchmark takes its time."""
    print(line, flush=True)
