"""The usual command line, read without typer: only what leaves no doubt.

Typer and what it imports take as long as the export of a small manifest. So a line of known
options, whose values any text may be, is read here. Any other line is typer's, which gives the
same result where both can read it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from streamt_ol.cli.parameters import HELP, Declaration, Parsing

_KINDS: dict[Any, type] = {str: str, str | None: str, Path: Path, Path | None: Path, bool: bool}
_LISTS = (list[str], list[str] | None)
_NUMBERS = (int, int | None)
_DIGITS = 9  # of a number that is read here
# What a declaration may say without changing how its value is read; `_number` knows the bounds.
_SETTINGS = {"help", "metavar", "autocompletion", "rich_help_panel", "min", "max"}
_GIVEN = "yes"  # the text of a flag


def read(
    parameters: dict[str, Declaration], parsing: Parsing, words: list[str]
) -> dict[str, Any] | None:
    """Return the values that ``words`` give to ``parameters``, or None where typer has to say."""
    split = _split(parameters, parsing, iter(parsing.prepare(words)))
    if split is None:
        return None
    given, rest = split
    for name, one in parameters.items():
        if not one.flags and rest:
            taken = len(rest) if one.kind in _LISTS else 1
            given += [(name, word) for word in rest[:taken]]
            del rest[:taken]
    values: dict[str, Any] = {}
    for name, text in given:
        kind, _, settings, choices, _ = parameters[name]
        if settings.keys() - _SETTINGS or (choices and text not in choices):
            return None
        if kind in _LISTS:
            values.setdefault(name, []).append(text)
        elif kind in _NUMBERS:
            values[name] = _number(text, settings)
            if values[name] is None:
                return None
        elif (make := _KINDS.get(kind)) is None or (make is Path and not _is_taken(text)):
            return None
        else:
            values[name] = make(text)
    is_complete = all(name in values for name, one in parameters.items() if one.required)
    return values if is_complete and not rest else None


def _split(
    parameters: dict[str, Declaration], parsing: Parsing, words: Iterator[str]
) -> tuple[list[tuple[str, str]], list[str]] | None:
    """Return the options on a line, by the names of their parameters, and the other words."""
    names = {flag: name for name, one in parameters.items() for flag in one.flags}
    given: list[tuple[str, str]] = []
    rest: list[str] = []
    for word in words:
        is_long = word.startswith("--")
        flag, mark, value = word.partition("=") if is_long else (word, "", "")
        if word == "--":
            break
        if (name := names.get(flag)) is not None:
            if parameters[name].kind is bool:
                text = None if mark else _GIVEN
            else:
                text = value if mark else next(words, None)
            if text is None:
                return None
            given.append((name, text))
        elif flag in HELP or (word[:1] == "-" != word and not (is_long and parsing.passes_on)):
            return None
        else:
            rest.append(word)
            if not parsing.interspersed:
                break
    return given, [*rest, *words]


def _is_taken(path: str) -> bool:
    """Tell whether typer takes a path: neither an empty one nor one that cannot be read."""
    if Path(path) == Path():
        return False
    return os.access(path, os.R_OK) or not os.access(path, os.F_OK)


def _number(text: str, settings: dict[str, Any]) -> int | None:
    """Return the whole number in its bounds that plain digits write, None for any other text."""
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        return None
    number = int(text)
    return number if settings.get("min", 0) <= number <= settings.get("max", number) else None
