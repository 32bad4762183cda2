"""The exceptions of a run: the message of a FAIL event, and which are a transport's own failure.

Implements "Failure facet" of the specification: a message is redacted, bounded, never blank.
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from streamt_ol.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

MAX_CODE_POINTS = 4096
GENERIC = "The run failed; no message can be shown."
_LOOKED_AT = 4 * MAX_CODE_POINTS


def failure_message(text: str) -> str:
    """Return ``text`` for an ``errorMessage`` facet: at most 4096 Unicode code points.

    Credentials are replaced by ``***`` before anything is cut. Of a very long text only the
    beginning is looked at, up to the end of a word, so that no half of a credential is left. A
    lone surrogate, which has no UTF-8 form, becomes ``?``.
    """
    looked_at = text[:_LOOKED_AT]
    if len(text) > _LOOKED_AT:
        looked_at = looked_at[: -len(looked_at.split()[-1])] if looked_at.split() else ""
    message = redact(looked_at).encode(errors="replace").decode().strip()
    return message[:MAX_CODE_POINTS].strip() or GENERIC


def exception_message(error: BaseException) -> str:
    """Return the failure message of an exception: its own text, without class or stack trace."""
    try:
        return failure_message(str(error))
    except BaseException:  # noqa: BLE001 - the __str__ of a foreign exception may fail in any way
        return GENERIC


def is_failure(error: BaseException) -> bool:
    """Return whether an exception out of a transport is its own failure, and goes no further.

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
