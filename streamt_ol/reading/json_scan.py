"""The tokens of JSON text, for what a parser lets pass: duplicate keys, large numbers, depth.

Only text that orjson has accepted comes here, and only where it is suspected: one pass over its
tokens, without recursion.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from streamt_ol.problems import pointer
from streamt_ol.reading.faults import Fault, FaultKind
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

BLANKS = b" \t\r\n"  # the white space of JSON
BOM = b"\xef\xbb\xbf"
DEEPEST = 1000  # levels of nesting
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NUMBER = rb"-?[0-9][0-9.eE+-]*"
_TOKEN = re.compile(_STRING + rb"|[{}\[\],]|" + _NUMBER)
_STRING_OR_BLANKS = re.compile(rb"(" + _STRING + rb")|[ \t\r\n]+", re.DOTALL)
_STRING_OR_NUMBER = re.compile(rb"(" + _STRING + rb")|" + _NUMBER, re.DOTALL)
_INTEGER = re.compile(rb"-?[0-9]{1,20}")
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1
_LARGEST_DOUBLE = b"1.7976931348623157e308"


class _Open:
    """An object or array that is being read: the keys seen, and the key or index at hand."""

    __slots__ = ("at", "expects_key", "seen")

    def __init__(self, opened_by: bytes) -> None:
        self.seen: set[str] | None = set() if opened_by == b"{" else None
        self.at: str | int = "" if opened_by == b"{" else 0
        self.expects_key = opened_by == b"{"


def faults(data: bytes, deepest: int = DEEPEST) -> Iterator[Fault]:
    """Yield the faults of ``data``, valid JSON: duplicate keys, deep nesting, large numbers.

    Nothing is looked for below the level ``deepest``.
    """
    stack: list[_Open] = []
    for match in _TOKEN.finditer(data):
        token = match[0]
        first = token[:1]
        if first in b"{[":
            if len(stack) == deepest:
                yield Fault(FaultKind.DEPTH, f"nested more than {deepest} deep")
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


def without_bom(data: bytes) -> bytes:
    """Return the text of an event without white space around it and a byte order mark before it.

    RFC 8259, section 8.1, lets a reader ignore one; files that were joined have it between.
    """
    data = data.strip(BLANKS)
    return data.removeprefix(BOM).lstrip(BLANKS) if data.startswith(BOM) else data


def compact(data: bytes) -> bytes:
    """Return JSON text without white space between its tokens; numbers and escapes unchanged."""
    return _STRING_OR_BLANKS.sub(lambda match: match[1] or b"", data)


def with_finite_numbers(data: bytes) -> bytes:
    """Return JSON text with the largest double in the place of each number that none holds."""

    def finite(match: re.Match[bytes]) -> bytes:
        if match[1] or not _is_infinite(match[0]):
            return match[0]
        return b"-" * match[0].startswith(b"-") + _LARGEST_DOUBLE

    return _STRING_OR_NUMBER.sub(finite, data)


def _is_infinite(number: bytes) -> bool:
    try:
        return float(number) in {float("inf"), float("-inf")}
    except ValueError:  # not a number: the parser says so
        return False


def _advance(container: _Open) -> None:
    if isinstance(container.at, int):
        container.at += 1
    else:
        container.expects_key = True


def _key(key: str, stack: list[_Open]) -> Iterator[Fault]:
    container = stack[-1]
    container.at = key
    container.expects_key = False
    if container.seen is not None:
        if key in container.seen:
            message = f"the key {shown(key)} is duplicated in this object; the last one counts"
            yield Fault(FaultKind.DUPLICATE_KEY, message, _pointer(stack))
        container.seen.add(key)


def _number(token: bytes, stack: list[_Open]) -> Iterator[Fault]:
    number = shown(token.decode(), 40)
    if any(sign in token for sign in b".eE"):
        if _is_infinite(token):
            message = f"the number {number} does not fit a finite double"
            yield Fault(FaultKind.NUMBER, message, _pointer(stack))
    elif not _INTEGER.fullmatch(token) or not _SMALLEST <= int(token) <= _LARGEST:
        message = f"the integer {number} does not fit 64 bits"
        yield Fault(FaultKind.NUMBER, message, _pointer(stack))


def _pointer(stack: list[_Open]) -> str:
    return pointer(*(container.at for container in stack))
