"""One line on stderr that says how far a delivery is: on a terminal only."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TextIO, final

if TYPE_CHECKING:
    from collections.abc import Callable

_WIDTH = 30
_EVERY = 0.1
_CLEAR = "\r\x1b[K"


@final
class ProgressBar:
    """Counts up to ``total``. ``stream`` None means: show nothing."""

    def __init__(self, stream: TextIO | None, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._lock = threading.Lock()
        self._begin = self._drawn = clock()
        self._done = 0
        self.total = 0

    def tick(self) -> None:
        """Count one more, and draw, at most ten times a second."""
        with self._lock:
            self._done += 1
            now = self._clock()
            if self._stream is not None and now - self._drawn >= _EVERY:
                self._drawn = now
                self._write(self._line(now))

    def clear(self) -> None:
        """Take the line away, so that other lines can be written."""
        with self._lock:
            if self._stream is not None:
                self._write(_CLEAR)

    def _line(self, now: float) -> str:
        share = self._done / max(1, self.total)
        filled = int(_WIDTH * share)
        rate = self._done / max(now - self._begin, 1e-9)
        bar = "#" * filled + "." * (_WIDTH - filled)
        return f"{_CLEAR}[{bar}] {self._done:,}/{self.total:,} {share:4.0%} {rate:,.0f}/s"

    def _write(self, text: str) -> None:
        assert self._stream is not None, "asked by the caller"
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # a terminal that is gone is nothing to stop for
            self._stream = None
