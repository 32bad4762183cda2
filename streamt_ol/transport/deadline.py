"""How much time is left for one exchange, whatever it is spent on."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from collections.abc import Callable


@final
class Deadline:
    """A point on ``clock`` (monotonic seconds), ``seconds`` from now, not later than ``limit``.

    ``limit`` is a deadline on the same clock, of a whole that this is a part of.
    """

    __slots__ = ("_clock", "_end")

    def __init__(
        self, seconds: float, clock: Callable[[], float], limit: Deadline | None = None
    ) -> None:
        self._clock = clock
        self._end = clock() + seconds
        if limit is not None:
            self._end = min(self._end, limit._end)

    def left(self) -> float:
        """Return the seconds left, more than 0. Raises ``TimeoutError`` when there are none."""
        seconds = self._end - self._clock()
        if seconds <= 0:
            raise TimeoutError
        return seconds

    def allows(self, seconds: float) -> bool:
        """Return whether ``seconds`` from now is still before the end."""
        return self._clock() + seconds < self._end
