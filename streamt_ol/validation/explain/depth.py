"""Room for recursion: an event may be nested deeper than Python's stack usually allows."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_STACK = 256 << 20
_FRAMES = 100_000
T = TypeVar("T")


def with_room(call: Callable[[], T]) -> T:
    """Return what ``call`` returns, called in a thread with a large stack.

    Nesting of 1,000 levels, the most that is accepted, needs some 10,000 frames. Raises
    ``RecursionError`` where even this is too little.
    """
    results: list[T] = []
    failures: list[RecursionError] = []

    def run() -> None:
        try:
            results.append(call())
        except RecursionError as error:
            failures.append(error)

    frames, stack = sys.getrecursionlimit(), threading.stack_size(_STACK)
    try:
        sys.setrecursionlimit(max(frames, _FRAMES))
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(frames)
        threading.stack_size(stack)
    if failures:
        raise failures[0]
    return results[0]
