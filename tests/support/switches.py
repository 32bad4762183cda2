"""The fast path of the validation always on, or always off."""

from __future__ import annotations

from streamt_ol.validation import switch
from streamt_ol.validation.fast_path import FastPath


class Always(switch.Switch):
    """A fast path that is always on, and counts what passed."""

    def __init__(self) -> None:
        super().__init__()
        self.path = FastPath()
        self.passed = 0

    def start(self, count: int) -> FastPath:
        return self.path

    def settle(self, size: int, count: int, left: int) -> None:
        self.passed += count - left


class Never(switch.Switch):
    """A fast path that is always off."""

    def start(self, count: int) -> None:
        return None
