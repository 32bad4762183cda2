"""A line of progress on stderr: on a terminal only, and only once the work has taken a while.

A thread draws it, so that it also tells of work that waits: for a silent server, or for a parser
that takes long. ``ByteCount`` and ``EventCount`` are what it may tell of.
"""

from __future__ import annotations

import os
import sys
import threading
from time import monotonic
from typing import TYPE_CHECKING, Self, final

from streamt_ol.cli.output import note
from streamt_ol.reading.opening import waited_for
from streamt_ol.redaction import printable_line

if TYPE_CHECKING:
    from collections.abc import Callable

_SILENT, _EVERY = 2.0, 0.2  # seconds
_CLEAR = "\r\x1b[K"
_COLUMNS = 80
_BAR = 30


@final
class ProgressLine:
    """Shows what ``text`` returns for the seconds that have passed, while its block runs.

    Nothing is shown unless stderr is a terminal and ``wanted``.
    """

    def __init__(self, text: Callable[[float], str], *, wanted: bool = True) -> None:
        self._text = text
        self._wanted = wanted and sys.stderr is not None and sys.stderr.isatty()
        self._ended = threading.Event()
        self._lock = threading.RLock()
        self._shown = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._wanted:
            self._thread = threading.Thread(target=self._draw, name="progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()

    def end(self) -> None:
        """Take the line away for good."""
        self._ended.set()
        with self._lock:
            self._clear()

    def say(self, text: str) -> None:
        """Write another line to stderr; the line of progress comes again behind it."""
        with self._lock:
            self._clear()
            note(text)

    def _line(self, seconds: float) -> str:
        pipe = waited_for()
        return self._text(seconds) if pipe is None else f"waiting for a writer of {pipe}"

    def _clear(self) -> None:
        if self._shown:
            self._shown = False
            _write(_CLEAR)

    def _draw(self) -> None:
        started = monotonic()
        wait = _SILENT
        while not self._ended.wait(wait):
            wait = _EVERY
            text = printable_line(self._line(monotonic() - started))
            with self._lock:
                if not self._ended.is_set():
                    self._shown = True
                    _write(_CLEAR + text[: _columns() - 1])


def elapsed(what: str) -> ProgressLine:
    """Return a line that says ``what`` is done, and for how long already.

    ``what`` must be safe to show.
    """
    return ProgressLine(lambda seconds: f"{what}, {seconds:,.0f} s")


def reading_settings() -> ProgressLine:
    """Return a line for files of settings: certificates, configurations, mappings.

    Each may be a pipe that nobody writes to.
    """
    return elapsed("reading the settings")


@final
class ByteCount:
    """Bytes read, events per second and the time left; ``total`` is in bytes, None if unknown."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._size = self._events = 0

    def show(self, size: int, events: int) -> None:
        """Tell that ``size`` bytes have been read and ``events`` checked."""
        self._size, self._events = size, events

    def text(self, seconds: float) -> str:
        """Return the line after ``seconds``."""
        size, total = self._size, self._total
        text = f"{size / 1e6:,.0f} MB"
        if total:
            text = f"{min(size / total, 1):4.0%} of {total / 1e6:,.0f} MB"
        text += f", {self._events / seconds:,.0f} events/s"
        if total and size:
            left = max(total - size, 0) * seconds / size
            text += f", {left:,.0f} s left"
        return text


@final
class EventCount:
    """Events done of ``total``, which is 0 until it is known."""

    def __init__(self) -> None:
        self.total = 0
        self._done = 0
        self._lock = threading.Lock()

    def tick(self) -> None:
        """Count one more; any thread may call it."""
        with self._lock:
            self._done += 1

    def text(self, seconds: float) -> str:
        """Return the line after ``seconds``."""
        if not self.total:
            return f"reading the events, {seconds:,.0f} s"
        done, total = self._done, self.total
        filled = _BAR * done // total
        bar = "#" * filled + "." * (_BAR - filled)
        rate = done / seconds
        return f"[{bar}] {done:,}/{total:,} {done / total:4.0%} {rate:,.0f}/s, {seconds:,.0f} s"


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS
    except OSError:
        return _COLUMNS


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):  # a terminal that is gone is nothing to stop for
        pass
