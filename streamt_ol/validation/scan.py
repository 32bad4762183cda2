"""What a JSON parser lets pass, with places: keys that stand twice, numbers too large, depth.

Only text that orjson has accepted, and that is suspected, comes here: one pass over its
tokens, without recursion.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from streamt_ol.problems import pointer
from streamt_ol.redaction import shown
from streamt_ol.validation.rules import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamt_ol.validation.findings import Finding

DEEPEST = 1000
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],]|-?[0-9][0-9.eE+-]*')
_INTEGER = re.compile(rb"-?[0-9]{1,20}")
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1


class _Open:
    """An object or array that is being read: the keys seen, and the key or index at hand."""

    __slots__ = ("at", "expects_key", "seen")

    def __init__(self, opened_by: bytes) -> None:
        self.seen: set[str] | None = set() if opened_by == b"{" else None
        self.at: str | int = "" if opened_by == b"{" else 0
        self.expects_key = opened_by == b"{"


def faults(data: bytes) -> Iterator[Finding]:
    """Yield the findings (OL-R003, OL-R004, OL-R005) in ``data``, which is valid JSON."""
    stack: list[_Open] = []
    for match in _TOKEN.finditer(data):
        token = match[0]
        first = token[:1]
        if first in b"{[":
            if len(stack) == DEEPEST:
                yield finding("OL-R004", "", f"nested more than {DEEPEST} deep")
                return
            stack.append(_Open(token))
        elif first in b"}]":
            stack.pop()
        elif first == b",":
            _advance(stack[-1])
        elif first != b'"':
            yield from _number(token, stack)
        elif stack and stack[-1].expects_key:
            yield from _key(orjson.loads(token), stack)


def _advance(container: _Open) -> None:
    if isinstance(container.at, int):
        container.at += 1
    else:
        container.expects_key = True


def _key(key: str, stack: list[_Open]) -> Iterator[Finding]:
    container = stack[-1]
    container.at = key
    container.expects_key = False
    if container.seen is not None:
        if key in container.seen:
            message = f"the key {shown(key)} stands twice in this object; the last one counts"
            yield finding("OL-R003", _place(stack), message)
        container.seen.add(key)


def _number(token: bytes, stack: list[_Open]) -> Iterator[Finding]:
    if any(sign in token for sign in b".eE"):
        return  # orjson has refused what no double holds
    if not _INTEGER.fullmatch(token) or not _SMALLEST <= int(token) <= _LARGEST:
        message = f"the integer {shown(token.decode(), 40)} does not fit 64 bits"
        yield finding("OL-R005", _place(stack), message)


def _place(stack: list[_Open]) -> str:
    return pointer(*(container.at for container in stack))
