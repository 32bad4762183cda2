"""A line of progress on stderr: for a terminal only, and only once it has taken a while."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

_SILENT, _EVERY = 2.0, 0.2  # seconds
_CLEAR = "\r\x1b[K"


class Progress:
    """Shows bytes, events a second and the time left; ``total`` is in bytes, None if unknown."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._started = monotonic()
        self._next = self._started + _SILENT
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            _write(_CLEAR)

    def show(self, size: int, events: int) -> None:
        """Tell that ``size`` bytes have been read and ``events`` checked."""
        now = monotonic()
        if self._terminal and now >= self._next:
            self._next = now + _EVERY
            self._shown = True
            _write(_CLEAR + line(size, self._total, events, now - self._started))


def line(size: int, total: int | None, events: int, seconds: float) -> str:
    """Return the text of a progress line."""
    text = f"{size / 1e6:,.0f} MB"
    if total:
        text = f"{min(size / total, 1):4.0%} of {total / 1e6:,.0f} MB"
    text += f", {events / seconds:,.0f} events/s"
    if total and size:
        left = max(total - size, 0) * seconds / size
        text += f", {left:,.0f} s left"
    return text


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        pass
