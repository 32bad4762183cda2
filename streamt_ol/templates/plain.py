"""Calls that need no Jinja: ``{{ source("x") }}`` and ``{{ ref('y') }}``."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

CallKind = Literal["source", "ref"]


class Call(NamedTuple):
    """One call of a template: ``source("name")`` or ``ref("name")``."""

    kind: CallKind
    name: str


# A literal with a backslash, a line end or Jinja's delimiters is left to Jinja.
_PLAIN: re.Pattern[str] = re.compile(
    r"\{\{-?\s*+(source|ref)\s*+\(\s*+"
    r"""(?:"([^"\\\r\n{}%#]*+)"|'([^'\\\r\n{}%#]*+)')\s*+\)\s*+-?\}\}"""
    r"|\{[{%#]"
)
_NOT_IN_WORDS = re.compile(r"\W")


def table_word(name: str) -> str:
    """Return the word that a call gives to the text: made from ``name``, and no keyword of SQL."""
    return "t_" + _NOT_IN_WORDS.sub("_", name)


def plain_calls(sql: str) -> list[Call] | None:
    """Return the calls of ``sql`` if all of its Jinja is plain calls, and None if it is not."""
    found: list[Call] = []
    for match in _PLAIN.finditer(sql):
        kind, double_quoted, single_quoted = match.groups()
        name = single_quoted if double_quoted is None else double_quoted
        if kind is None or not name.strip():
            return None
        found.append(Call("source" if kind == "source" else "ref", name))
    return found
