"""What a validation depends on besides its input."""

from __future__ import annotations

from typing import NamedTuple


class Settings(NamedTuple):
    """What a check depends on besides the input: the longest line, and the rules switched off."""

    max_line_bytes: int
    ignored: frozenset[str] = frozenset()


class Options(NamedTuple):
    """How to check: the settings of each event, how many problems to report, warnings as errors."""

    settings: Settings
    max_problems: int
    strict: bool
