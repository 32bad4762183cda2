"""JSON read strictly: UTF-8, no NaN, no lone surrogates, bounded nesting, no key duplicated.

orjson does most of it at full speed. It lets a duplicate key pass, and the last one counts, so
that two readers may see two values in one text. ``is_plain`` tells for the price of writing the
value again that nothing of the kind is in it; otherwise ``json_scan`` looks at every token.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import orjson

from streamt_ol.reading import json_scan
from streamt_ol.reading.faults import Fault, FaultKind, not_utf8
from streamt_ol.reading.json_scan import BOM, DEEPEST

WRITABLE = 254  # the nesting that orjson writes
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_MANY_DIGITS = b"0" * 19  # the shortest integers that may leave 64 bits have 19 digits
_ESCAPED_COLON = re.compile(rb"\\u003[aA]")
_INDENTED = b'{\n  "'
_LARGE = 1 << 16
_POSITION = re.compile(r": line (\d+) column (\d+) \(char \d+\)$")
# What orjson's messages say; everything else is not JSON.
_KINDS = (
    ("surrogate", FaultKind.SURROGATE),
    ("infinity", FaultKind.NUMBER),
    ("depth", FaultKind.DEPTH),
)


class JsonFaultError(ValueError):
    """The reason why bytes are not acceptable JSON; ``line`` (from 1) or ``pointer`` says where."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.message = fault.message
        self.pointer = fault.pointer or None
        self.line = None if self.pointer else fault.line + 1
        self.fault = fault


class Parsed(NamedTuple):
    """The value of a text and its faults; ``readable`` is False where there is no value."""

    value: Any
    faults: tuple[Fault, ...] = ()
    readable: bool = True


def loads(data: bytes, deepest: int = DEEPEST) -> Any:
    """Parse one JSON document, with or without a UTF-8 byte order mark.

    Raises ``JsonFaultError``; its message names what is wrong and quotes nothing of ``data``,
    apart from a duplicate key, which stays in ``pointer``.
    """
    data = data.removeprefix(BOM)
    if not data or data.isspace():
        raise JsonFaultError(Fault(FaultKind.SYNTAX, "there is nothing in it"))
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        fault = refusal(data, error)
        what = fault.message
        if fault.kind is not FaultKind.ENCODING:
            what = f"not JSON: {what}"
        raise JsonFaultError(fault._replace(message=what)) from None
    if not is_plain(data, document):
        for fault in json_scan.faults(data, deepest):
            if fault.kind is FaultKind.DUPLICATE_KEY:
                what = "a key is duplicated in an object"
                raise JsonFaultError(fault._replace(message=what))
            if fault.kind is FaultKind.DEPTH:
                raise JsonFaultError(fault._replace(message="nested too deeply"))
    return document


def parse(data: bytes) -> Parsed:
    """Return the value of the text of one event, and every fault in it. Raises nothing.

    A number that no double holds reads as the largest one, and is a fault; an integer beyond
    64 bits reads as a double, and is one.
    """
    data = data.removeprefix(BOM)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        fault = refusal(data, error)
        if fault.kind is not FaultKind.NUMBER:
            return Parsed(None, (fault,), readable=False)
        finite = json_scan.with_finite_numbers(data)
        try:
            value = orjson.loads(finite)
        except orjson.JSONDecodeError as error:  # it has another fault behind the number
            return Parsed(None, (refusal(finite, error),), readable=False)
        return Parsed(value, tuple(json_scan.faults(data)))
    if is_plain(data, value):
        return Parsed(value)
    return Parsed(value, tuple(json_scan.faults(data)))


def is_plain(data: bytes, value: Any) -> bool:
    """Tell whether ``data``, which reads as ``value``, certainly has no fault of ``json_scan``.

    Writing ``value`` again gives the same bytes but for blanks, or at least as many colons: a
    lost key is a lost colon. What is nested deeper than orjson writes is not plain.
    """
    try:
        # A manifest: indented, large, and so written back to the byte in one step.
        if data.startswith(_INDENTED):
            again = orjson.dumps(value, option=orjson.OPT_INDENT_2)
            if data.startswith(again):
                return True
        again = orjson.dumps(value)
    except TypeError:
        return False
    if again == data:
        return True
    is_large = len(data) > _LARGE
    if is_large and _has_all_colons(data, again):
        return True
    if again.replace(b" ", b"") == data.replace(b" ", b""):
        return True
    return not is_large and _has_all_colons(data, again)


def _has_all_colons(data: bytes, again: bytes) -> bool:
    return (
        again.count(b":") == data.count(b":")
        # An escaped colon would make up for a lost one.
        and (b"\\u003" not in data or not _ESCAPED_COLON.search(data))
        and _MANY_DIGITS not in data.translate(_DIGITS)
    )


def refusal(data: bytes, refused: orjson.JSONDecodeError) -> Fault:
    """Return why ``data``, which orjson ``refused``, is not JSON; the message quotes none of it."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"{not_utf8(data)} at byte {column} of the line"
        line = data.count(b"\n", 0, error.start)
        return Fault(FaultKind.ENCODING, message, line=line, column=column)
    reason = _POSITION.sub("", str(refused))
    line, column = refused.lineno - 1, refused.colno
    kind = next((kind for word, kind in _KINDS if word in reason), FaultKind.SYNTAX)
    if "memory" in reason and data.count(b"{") + data.count(b"[") > DEEPEST:
        kind, reason = FaultKind.DEPTH, f"nested more than {DEEPEST} deep"
    return Fault(kind, f"{reason} at column {column}", line=line, column=column)
