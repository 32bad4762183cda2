"""How much time is left for one exchange, whatever it is spent on."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from collections.abc import Callable


@final
class Deadline:
    """A point on ``clock`` (monotonic seconds), ``seconds`` from now."""

    __slots__ = ("_clock", "_end")

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._end = clock() + seconds

    def left(self) -> float:
        """Return the seconds left, more than 0. Raises ``TimeoutError`` when there are none."""
        seconds = self._end - self._clock()
        if seconds <= 0:
            raise TimeoutError
        return seconds

    def allows(self, seconds: float) -> bool:
        """Return whether ``seconds`` from now is still before the end."""
        return self._clock() + seconds < self._end
