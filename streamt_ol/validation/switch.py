"""The switch of the fast path: on while it is worth its time, off while it is not."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamt_ol.validation.fast_path import FastPath
    from streamt_ol.validation.stream.state import StreamState

_FEW = 100  # events that are checked sooner than the fast path is imported and compiled
_TRIAL = 500  # events after which it is judged
_SHORTEST, _LONGEST = 1_000, 64_000  # events that a pause lasts: each twice the one before
_MOST_JUDGED = 0.8  # of the containers of facets: where more are new, remembering them costs more
_MOST_LEFT = 0.5  # of the events


class Switch:
    """Counts what the fast path left to others, and pauses it where that is most."""

    def __init__(self) -> None:
        self._path: FastPath | None = None
        self._pause = 0
        self._next_pause = _SHORTEST
        self._begin()

    def start(self, count: int) -> Callable[[bytes, int, StreamState], str | None] | None:
        """Return ``FastPath.passes`` for the next ``count`` events, or None where it is off."""
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
        return self._path.passes

    def settle(self, count: int, left: int) -> None:
        """Take that ``left`` of ``count`` events did not pass; pause if that was too many."""
        if self._path is None:
            return
        self._count += count
        self._left += left
        if self._count < _TRIAL:
            return
        asked, judged = self._path.asked - self._asked, self._path.judged - self._judged
        if self._left > _MOST_LEFT * self._count or judged > _MOST_JUDGED * asked:
            self._pause = self._next_pause
            self._next_pause = min(2 * self._next_pause, _LONGEST)
        else:
            self._next_pause = _SHORTEST
        self._begin()

    def _begin(self) -> None:
        """Begin another trial."""
        self._count = self._left = 0
        self._asked = self._path.asked if self._path is not None else 0
        self._judged = self._path.judged if self._path is not None else 0


@cache
def shared() -> Switch:
    """Return the switch of this process: facets repeat from chunk to chunk and file to file."""
    return Switch()
