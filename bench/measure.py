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
from functools import partial
from pathlib import Path
from typing import NamedTuple

import base
from table import Result

NOW, BASE = "now", "base"
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


Calls = Mapping[str, Callable[[], Cost]]


def cost(*command: str | Path, says: bool = False, statuses: Sequence[int] = (0,)) -> Cost:
    """Run a child to its end and return what it took; with ``says``, its stdout as well.

    It has to end with one of the exit ``statuses``.
    """
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
    if child.returncode not in statuses:
        raise SystemExit(f"{command[0]} failed with status {child.returncode}: {command}")
    if child.stdout:
        child.stdout.close()
    peak = usage.ru_maxrss * _PEAK_UNIT
    return Cost(seconds, usage.ru_utime, usage.ru_stime, peak, said.strip())


def interleaved(measured: Calls, rounds: int) -> dict[str, list[Cost]]:
    """Call everything once in each round, so that a slow moment of the machine hits them all."""
    results: dict[str, list[Cost]] = {name: [] for name in measured}
    for _ in range(rounds):
        for name, call in measured.items():
            results[name].append(call())
    return results


def times(costs: Sequence[Cost]) -> tuple[float, float]:
    """Return the medians of the seconds of CPU and of wall-clock time."""
    return (
        statistics.median(each.cpu_seconds for each in costs),
        statistics.median(each.seconds for each in costs),
    )


def memory(costs: Sequence[Cost]) -> float:
    """Return the median of the peak memory, in bytes."""
    return statistics.median(each.peak_bytes for each in costs)


def programs() -> dict[str, str]:
    """Return the command of this commit and, where the history holds it, of the base commit."""
    before = base.program()
    return {NOW: PROGRAM, **({BASE: before} if before else {})}


def calls(name: str, *words: str | Path, statuses: Sequence[int] = (0,)) -> Calls:
    """Return the runs of one command line, by ``name`` and commit, for ``interleaved``."""
    return {
        f"{name}, {commit}": partial(cost, program, *words, statuses=statuses)
        for commit, program in programs().items()
    }


def result(
    costs: Mapping[str, Sequence[Cost]],
    name: str,
    figures: Callable[[Sequence[Cost]], tuple[float, ...]],
) -> Result:
    """Return the figures that a function takes of the costs of ``calls(name)``."""
    before = costs.get(f"{name}, {BASE}")
    return Result(figures(costs[f"{name}, {NOW}"]), figures(before) if before else None)


def over(floor: Sequence[Cost]) -> Callable[[Sequence[Cost]], tuple[float, ...]]:
    """Return a function of costs: their times as multiples of the floor's, CPU and wall."""
    cpu, wall = times(floor)

    def ratios(costs: Sequence[Cost]) -> tuple[float, ...]:
        own_cpu, own_wall = times(costs)
        return own_cpu / cpu, own_wall / wall

    return ratios


def against(costs: Mapping[str, Sequence[Cost]], name: str, floor: str) -> Result:
    """Return the times of ``calls(name)`` over those of ``calls(floor)`` of the same commit."""
    ratios = {
        commit: over(costs[f"{floor}, {commit}"])(costs[f"{name}, {commit}"])
        for commit in programs()
    }
    return Result(ratios[NOW], ratios.get(BASE))


def say(line: str = "") -> None:
    """Tell of progress, beside the tables: a benchmark takes its time."""
    print(line, file=sys.stderr, flush=True)
