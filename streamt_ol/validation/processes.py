"""Processes that check chunks. They end with the block that started them, whatever ends it."""

from __future__ import annotations

import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TYPE_CHECKING

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.validation.checker import ChunkResult, Settings, check_chunk

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from streamt_ol.reading.raw import Chunk


class Workers:
    """A pool of ``jobs`` processes, each started afresh: no lock or thread is inherited."""

    def __init__(self, jobs: int, settings: Settings) -> None:
        self._settings = settings
        self._pool = ProcessPoolExecutor(jobs, get_context("spawn"), _ignore_interrupts)

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def check(self, chunk: Chunk) -> Callable[[], ChunkResult]:
        """Hand ``chunk`` to a process; return what waits for the result."""
        result = self._pool.submit(check_chunk, chunk, self._settings).result

        def checked() -> ChunkResult:
            try:
                return result()
            except BrokenProcessPool:
                raise StreamtOlError(
                    INVALID,
                    "a process that checks events was ended from outside",
                    suggestion="with --jobs 1 everything is checked in one process",
                ) from None

        return checked


def _ignore_interrupts() -> None:
    """Leave Ctrl-C, which every process of the terminal gets, to the one that reports."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
