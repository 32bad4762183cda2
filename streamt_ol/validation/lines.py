"""One line, or one element, of the input: bytes to a JSON value, with what is wrong in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from streamt_ol.validation.rules import finding
from streamt_ol.validation.scan import DEEPEST

if TYPE_CHECKING:
    from streamt_ol.validation.findings import Finding

BLANKS = b" \t\r\n"  # the white space of JSON
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_MANY_DIGITS = b"0" * 19  # the shortest integers that may leave 64 bits have 19 digits
_POSITION = re.compile(r": line (\d+) column (\d+) \(char \d+\)$")
# What orjson's messages say, in our rules; everything else is not JSON.
_RULES = (("surrogate", "OL-R006"), ("infinity", "OL-R005"), ("depth", "OL-R004"))


class Unreadable(NamedTuple):
    """Why bytes hold no JSON value; ``line`` counts from 0 within them."""

    finding: Finding
    line: int


def is_plain(data: bytes, value: Any) -> bool:
    """Tell whether ``data``, which reads as ``value``, certainly repeats no key, and so on.

    Writing ``value`` again gives the same bytes but for blanks, or at least as many colons: a
    lost key is a lost colon.
    """
    try:
        again = orjson.dumps(value)
    except TypeError:  # deeper than orjson writes
        return False
    if again == data or again.replace(b" ", b"") == data.replace(b" ", b""):
        return True
    return (
        again.count(b":") == data.count(b":")
        and b"\\u003" not in data  # an escaped colon would make up for a lost one
        and _MANY_DIGITS not in data.translate(_DIGITS)
        and (len(data) < 2 * DEEPEST or data.count(b"{") + data.count(b"[") <= DEEPEST)
    )


def unreadable(data: bytes) -> Unreadable:
    """Return why ``data``, which orjson refuses, is no JSON. Its messages quote nothing of it."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        column = error.start - data.rfind(b"\n", 0, error.start)
        found = finding("OL-R001", "", f"not UTF-8 at byte {column} of the line")
        return Unreadable(found, data.count(b"\n", 0, error.start))
    reason, line, column_text = _refusal(data)
    rule = next((rule for word, rule in _RULES if word in reason), "OL-R002")
    if "memory" in reason and data.count(b"{") + data.count(b"[") > DEEPEST:
        rule, reason = "OL-R004", f"nested more than {DEEPEST} deep"
    return Unreadable(finding(rule, "", f"{reason} at column {column_text}"), line)


def _refusal(data: bytes) -> tuple[str, int, str]:
    """Return orjson's reason, the line from 0, and the column from 1."""
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return _POSITION.sub("", str(error)), error.lineno - 1, str(error.colno)
    return "no JSON", 0, "1"
