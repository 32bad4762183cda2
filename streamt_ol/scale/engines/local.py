"""Processes of this machine. They end with the block that started them, whatever ends it."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, Self

from streamt_ol.problems import INVALID, StreamtOlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

    from streamt_ol.scale.engines import EngineOptions, Task

_AHEAD = 2  # items that wait for each process


class Local:
    """A pool of ``jobs`` processes, each started afresh: no lock or thread is inherited.

    They end with this process, even where that is killed, and at once where it is interrupted:
    what they were at is done again by the next run.
    """

    shares_files = True

    def __init__(self, options: EngineOptions) -> None:
        self._jobs = options.jobs
        self._pool: ProcessPoolExecutor | None = None
        self._context = get_context("spawn")
        # Nothing is sent: the other end tells when this one is closed, by whomever.
        self._theirs, self._ours = self._context.Pipe(duplex=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._ours.close()
        with _interrupts_held():  # the end is near: a second Ctrl-C would only leave it half done
            if self._pool is not None:
                self._pool.shutdown(wait=True, cancel_futures=True)
        self._ours.close()
        self._theirs.close()

    def map(self, task: Task, items: Sequence[bytes]) -> Iterator[bytes]:
        """Yield what ``task`` makes of each item, as it is done.

        Raises E506 where a process was ended from outside.
        """
        if self._jobs == 1 or len(items) == 1:  # and no process need be started
            yield from map(task, items)
            return
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._jobs, self._context, _follow_the_parent, (self._theirs,)
            )
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
        with _interrupts_held():  # for processes may be started
            while waiting and len(running) < ahead:
                running.add(pool.submit(task, waiting.popleft()))
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for one in done:
            yield one.result()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back, here until the end of the block, in a process started in it for good."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _follow_the_parent(parent: Connection) -> None:
    """Ignore Ctrl-C, which every process of the terminal gets; end when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), name="parent", daemon=True).start()


def _end_with(parent: Connection) -> None:
    try:
        parent.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
