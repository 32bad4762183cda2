"""Events repeated to the byte within a window of lines, in memory that does not grow.

For events that may stand in a run any number of times. Two halves of a stream can each keep
a window; joining them is associative, because both ends of a half are kept.
"""

from __future__ import annotations

SPAN = 10_000  # lines


class Window:
    """The keys seen near the start and near the end of a part of a stream, with positions.

    ``first`` holds what has no equal before it in this part and lies within ``SPAN`` lines of
    its start, so that an earlier part may still have one; ``last`` the latest of each key.
    """

    __slots__ = ("first", "last", "start")

    def __init__(self) -> None:
        self.first: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self.start: int | None = None

    def repeats(self, key: int, position: int) -> bool:
        """Note ``key`` at ``position``; tell whether it repeats one of at most SPAN lines ago."""
        if self.start is None:
            self.start = position
        before = self.last.get(key)
        repeated = before is not None and position - before <= SPAN
        if not repeated and position - self.start <= SPAN:
            self.first[key] = position
        self._remember(key, position)
        return repeated

    def absorb(self, later: Window) -> list[int]:
        """Join the window of the part that follows; return the positions that repeat now."""
        if later.start is None:
            return []
        if self.start is None:
            self.start = later.start
        found = []
        for key, position in later.first.items():
            before = self.last.get(key)
            if before is not None and position - before <= SPAN:
                found.append(position)
            elif position - self.start <= SPAN:
                self.first[key] = position
        for key, position in later.last.items():
            self._remember(key, position)
        return found

    def _remember(self, key: int, position: int) -> None:
        self.last.pop(key, None)  # so that the oldest come first
        self.last[key] = position
        if len(self.last) > 2 * SPAN:
            horizon = position - SPAN
            self.last = {key: at for key, at in self.last.items() if at >= horizon}
