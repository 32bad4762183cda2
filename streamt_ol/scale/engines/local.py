"""Processes of this machine. They end with the block that started them, whatever ends it."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections import deque
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, Self

from streamt_ol import collector
from streamt_ol.problems import INVALID, StreamtOlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

    from streamt_ol.scale.engines import EngineOptions, Task

_ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_AHEAD = 2  # items that wait for each process


class Local:
    """A pool of ``jobs`` processes, which inherit no lock: each is started afresh beside threads.

    They end with this process, even where that is killed, and at once where it is interrupted:
    what they were at is done again by the next run.
    """

    shares_files = True

    def __init__(self, options: EngineOptions) -> None:
        self._jobs = options.jobs
        self._pool: ProcessPoolExecutor | None = None
        # To start afresh takes what 20 MB of events do. Elsewhere than on Linux libraries of the
        # system have threads that Python does not know of.
        alone = sys.platform == "linux" and threading.active_count() == 1
        self._context = get_context("fork" if alone else "spawn")
        # Nothing is sent: the other end tells when this one is closed, by whomever.
        self._theirs, self._ours = self._context.Pipe(duplex=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._ours.close()
        with _signals_held():  # the end is near: a second Ctrl-C would only leave it half done
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
            inherited = self._ours if self._context.get_start_method() == "fork" else None
            self._pool = ProcessPoolExecutor(
                self._jobs, self._context, _begin, (self._theirs, inherited)
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
        with _signals_held():  # for processes may be started
            while waiting and len(running) < ahead:
                running.add(pool.submit(task, waiting.popleft()))
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for one in done:
            yield one.result()


@contextmanager
def _signals_held() -> Iterator[None]:
    """Hold Ctrl-C and other signals that end a command back, here until the end of the block.

    A process that is started in it holds them until ``_begin``. What this thread blocks goes to
    another one, for whose sake this one then runs the handler: so the handler is one that takes a
    note, meanwhile.
    """
    if not hasattr(signal, "pthread_sigmask") or not _is_main_thread():  # Windows has no masks
        yield
        return
    held: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, _frame: held.append(number))
        for number in _ENDING
        if signal.getsignal(number) is not None  # a handler of another language's
    }
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in held[:1]:
            signal.raise_signal(number)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _begin(parent: Connection, inherited: Connection | None) -> None:
    """Ignore Ctrl-C, which every process of the terminal gets; end when the parent does.

    ``inherited`` is the parent's end of the pipe, which has to be open nowhere else. Garbage is
    collected as seldom as there.
    """
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    if inherited is not None:
        inherited.close()
    gc.disable()
    collector.resume()
    threading.Thread(target=_end_with, args=(parent,), name="parent", daemon=True).start()


def _end_with(parent: Connection) -> None:
    try:
        parent.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
