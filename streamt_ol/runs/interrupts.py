"""Telling who leaves by an exception: the user and the host, or a transport that only fails."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType


def is_failure(error: BaseException) -> bool:
    """Whether an exception out of a transport is its own failure, and goes no further.

    So is every ``Exception``, and a ``SystemExit`` or a cancellation of the transport's own. A
    ``KeyboardInterrupt``, an exit by a handler of a signal, and what some host throws into a
    thread are not: they ask the body to end.
    """
    if isinstance(error, Exception):
        return True
    asyncio = sys.modules.get("asyncio")  # who raises its exception has imported it
    kinds = (SystemExit, *([asyncio.CancelledError] if asyncio else []))
    return isinstance(error, kinds) and not _is_of_signal(error)


def _is_of_signal(error: BaseException) -> bool:
    handlers = map(signal.getsignal, signal.valid_signals())
    codes = {
        getattr(getattr(handler, "__func__", handler), "__code__", None) for handler in handlers
    }
    return any(code in codes for code in _frames(error))


def _frames(error: BaseException) -> Iterator[CodeType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code
        trace = trace.tb_next
