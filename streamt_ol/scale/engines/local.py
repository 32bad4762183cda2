"""Processes of this machine. They end with the block that started them, whatever ends it."""

from __future__ import annotations

import signal
from collections import deque
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TYPE_CHECKING, Self

from streamt_ol.problems import INVALID, StreamtOlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from streamt_ol.scale.engines import EngineOptions, Task

_AHEAD = 2  # items that wait for each process


class Local:
    """A pool of ``jobs`` processes, each started afresh: no lock or thread is inherited."""

    shares_files = True

    def __init__(self, options: EngineOptions) -> None:
        self._jobs = options.jobs
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def map(self, task: Task, items: Sequence[bytes]) -> Iterator[bytes]:
        """Yield what ``task`` makes of each item, as it is done.

        Raises E506 where a process was ended from outside.
        """
        if self._jobs == 1 or len(items) == 1:  # and no process need be started
            yield from map(task, items)
            return
        if self._pool is None:
            context = get_context("spawn")
            self._pool = ProcessPoolExecutor(self._jobs, context, _leave_interrupts_to_the_parent)
        try:
            yield from _in_pool(self._pool, task, items, _AHEAD * self._jobs)
        except BrokenProcessPool:
            raise StreamtOlError(
                INVALID,
                "a process that checks events was ended from outside",
                suggestion="memory may have run out: try fewer --jobs; with --work-dir the same "
                "command goes on where it stopped",
            ) from None


def _in_pool(
    pool: ProcessPoolExecutor, task: Task, items: Sequence[bytes], ahead: int
) -> Iterator[bytes]:
    """Yield results as they come; at most ``ahead`` items are handed out at a time."""
    waiting = deque(items)
    running: set[Future[bytes]] = set()
    while waiting or running:
        while waiting and len(running) < ahead:
            running.add(pool.submit(task, waiting.popleft()))
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for one in done:
            yield one.result()


def _leave_interrupts_to_the_parent() -> None:
    """Ignore Ctrl-C, which every process of the terminal gets: the parent ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
