"""The options of a validation."""

from __future__ import annotations

from typing import NamedTuple


class Settings(NamedTuple):
    """The settings of a check: the longest line, and the rules switched off."""

    max_line_bytes: int
    ignored: frozenset[str] = frozenset()


class Options(NamedTuple):
    """The settings for each event, how many problems are reported, whether warnings are errors."""

    settings: Settings
    max_problems: int
    strict: bool
