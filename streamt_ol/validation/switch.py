"""The switch of the fast path: on while it is worth its time, off while it is not."""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamt_ol.validation.fast_path import FastPath

_FEW = 100  # events that are checked sooner than the fast path is imported and compiled
_TRIAL = 500  # events after which it is judged
_SHORTEST, _LONGEST = 1_000, 64_000  # events that a pause lasts: each twice the one before
_MOST_JUDGED = 0.5  # of the bytes: where more are facets that are new, remembering costs more
_MOST_LEFT = 0.5  # of the events


class Switch:
    """Counts what the fast path left to others, and pauses it where that is most."""

    def __init__(self) -> None:
        self._path: FastPath | None = None
        self._pause = 0
        self._next_pause = _SHORTEST
        self._begin()

    def start(self, count: int) -> FastPath | None:
        """Return the fast path for the next ``count`` events, or None where it is off."""
        if self._pause > 0:
            self._pause -= count
            return None
        if self._path is None:
            if count < _FEW:
                return None
            # Imports msgspec, which a few events do not pay for.
            from streamt_ol.validation.fast_path import FastPath

            self._path = FastPath()
            self._begin()
        return self._path

    def settle(self, size: int, count: int, left: int) -> None:
        """Take that ``left`` of ``count`` events, of ``size`` bytes together, did not pass.

        Pause if that was too many, or if too many of the bytes were facets that are new.
        """
        if self._path is None:
            return
        self._size += size
        self._count += count
        self._left += left
        if self._count < _TRIAL:
            return
        judged = self._path.judged - self._judged
        if self._left > _MOST_LEFT * self._count or judged > _MOST_JUDGED * self._size:
            self._pause = self._next_pause
            self._next_pause = min(2 * self._next_pause, _LONGEST)
        else:
            self._next_pause = _SHORTEST
        self._begin()

    def _begin(self) -> None:
        """Begin another trial."""
        self._size = self._count = self._left = 0
        self._judged = self._path.judged if self._path is not None else 0


_of_thread = local()


def shared() -> Switch:
    """Return the switch of this thread: facets repeat from chunk to chunk and file to file."""
    try:
        switch: Switch = _of_thread.switch
    except AttributeError:
        switch = _of_thread.switch = Switch()
    return switch
