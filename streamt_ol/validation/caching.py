"""Memory of what functions of texts return, within bounds: a text may be as long as a line."""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 1_000  # characters of the texts of a call that is remembered
R = TypeVar("R")


def remembering(maxsize: int) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Return a decorator that remembers the last ``maxsize`` calls with few characters.

    It is for functions whose arguments are texts.
    """

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        remembered = lru_cache(maxsize=maxsize)(function)

        @wraps(function)
        def call(*texts: str) -> R:
            return function(*texts) if len("".join(texts)) > LONGEST else remembered(*texts)

        return call

    return decorate
