"""The tokens of JSON text, for what a parser lets pass: duplicate keys, large numbers, depth.

Only text that orjson has accepted comes here, and only where it is suspected: one pass over its
tokens, without recursion.
"""

from __future__ import annotations

import re
from operator import itemgetter
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
_TEXT = itemgetter(0)  # of a match
_QUOTE, _COMMA, _BRACE = b'",{'
_SHORT = 18  # digits that always fit 64 bits
_LARGEST_DOUBLE = b"1.7976931348623157e308"


def faults(data: bytes, deepest: int = DEEPEST) -> Iterator[Fault]:
    """Yield the faults of ``data``, valid JSON: duplicate keys, deep nesting, large numbers.

    Nothing is looked for below the level ``deepest``.
    """
    at: list[int | bytes] = []  # the index or key at hand in each open array or object
    seen: list[set[bytes]] = []  # the keys of each
    expects_key = False
    for token in map(_TEXT, _TOKEN.finditer(data)):
        first = token[0]
        if first == _QUOTE and expects_key:
            key = at[-1] = _same(token) if b"\\" in token else token
            if key in seen[-1]:
                yield _duplicate(key, at)
            seen[-1].add(key)
            expects_key = False
        elif first == _COMMA:
            index = at[-1]
            expects_key = not isinstance(index, int)
            at[-1] = index + 1 if isinstance(index, int) else index
        elif first in b"{[":
            if len(seen) == deepest:
                yield Fault(FaultKind.DEPTH, f"nested more than {deepest} deep")
                return
            expects_key = first == _BRACE
            at.append(b"" if expects_key else 0)
            seen.append(set())
        elif first in b"}]":
            del at[-1], seen[-1]
            expects_key = False
        elif first != _QUOTE and (len(token) > _SHORT or not token.isdigit()):
            yield from _number(token, at)


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


def _same(key: bytes) -> bytes:
    """Return a key, which holds escapes, as every other way to write it is returned."""
    return orjson.dumps(orjson.loads(key))


def _duplicate(key: bytes, at: list[int | bytes]) -> Fault:
    shown_key = shown(orjson.loads(key))
    message = f"the key {shown_key} is duplicated in this object; the last one counts"
    return Fault(FaultKind.DUPLICATE_KEY, message, _pointer(at))


def _number(token: bytes, at: list[int | bytes]) -> Iterator[Fault]:
    number = shown(token.decode(), 40)
    if any(sign in token for sign in b".eE"):
        if _is_infinite(token):
            message = f"the number {number} does not fit a finite double"
            yield Fault(FaultKind.NUMBER, message, _pointer(at))
    elif not _INTEGER.fullmatch(token) or not _SMALLEST <= int(token) <= _LARGEST:
        message = f"the integer {number} does not fit 64 bits"
        yield Fault(FaultKind.NUMBER, message, _pointer(at))


def _pointer(at: list[int | bytes]) -> str:
    return pointer(*(orjson.loads(one) if isinstance(one, bytes) else one for one in at))
