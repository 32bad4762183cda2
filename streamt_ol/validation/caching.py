"""Memory of what functions of texts return, within bounds: a text may be as long as a line."""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 1_000  # characters of a text that is remembered
P = ParamSpec("P")
R = TypeVar("R")


def remembering(maxsize: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that remembers the last ``maxsize`` calls with texts that are short."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        remembered = lru_cache(maxsize=maxsize)(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if any(type(one) is str and len(one) > LONGEST for one in args):
                return function(*args, **kwargs)
            return remembered(*args, **kwargs)  # type: ignore[arg-type]

        return call

    return decorate
