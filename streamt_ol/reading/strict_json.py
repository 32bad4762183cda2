"""JSON read strictly: UTF-8, no NaN, no lone surrogates, bounded nesting, no key twice.

orjson does most of it at full speed. It lets a repeated key pass, and the last one wins, so
that two readers may see two manifests in one file; here that is a fault. The check costs one
re-serialization: a compact or indented document comes out as it was; in any other layout every
key is followed by a colon, so a lost key is a lost ``":``.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from streamt_ol.problems import pointer

BOM = b"\xef\xbb\xbf"
_INDENTED = b'{\n  "'
_COLON = b'":'
# What makes counting them unsure: space before a colon, an escaped quote or colon.
_UNSURE = re.compile(rb'"[ \t\r\n]+:|\\u00(?:22|3[aA])')
_POSITION = re.compile(r": line (\d+) column (\d+) \(char \d+\)$")


class JsonFaultError(ValueError):
    """Why bytes are not acceptable JSON; ``line`` (from 1) or ``pointer`` says where."""

    def __init__(self, message: str, *, line: int | None = None, at: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.pointer = at


def loads(data: bytes) -> Any:
    """Parse one JSON document, with or without a UTF-8 byte order mark.

    Raises ``JsonFaultError``; its message names what is wrong and quotes nothing of ``data``,
    apart from a repeated key, which stays in ``pointer``.
    """
    data = data.removeprefix(BOM)
    if not data or data.isspace():
        raise JsonFaultError("there is nothing in it", line=1)
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _fault(data, str(error)) from None
    if _may_repeat_a_key(data, document) and (place := _repeated_key(data)) is not None:
        raise JsonFaultError("one key stands twice in an object", at=place)
    return document


def _fault(data: bytes, message: str) -> JsonFaultError:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return JsonFaultError("not UTF-8", line=data.count(b"\n", 0, error.start) + 1)
    position = _POSITION.search(message)
    if position is None:
        return JsonFaultError(f"not JSON: {message}", line=1)
    return JsonFaultError(f"not JSON: {message[: position.start()]}", line=int(position[1]))


def _may_repeat_a_key(data: bytes, document: Any) -> bool:
    indented = data.startswith(_INDENTED)
    try:
        again = orjson.dumps(document, option=orjson.OPT_INDENT_2 if indented else 0)
    except orjson.JSONEncodeError:  # the only reason left: deeper than orjson writes, 254
        raise JsonFaultError("nested too deeply", line=1) from None
    if data.startswith(again):  # written again to the byte: no key was lost
        return False
    if _UNSURE.search(data):
        return True
    return again.count(_COLON) != data.count(_COLON)


class _Repeated(dict[str, Any]):
    """An object in which ``key`` stood twice."""

    key = ""


def _repeated_key(data: bytes) -> str | None:
    """Return the pointer of the first key that stands twice in its object."""
    import json

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
        repeated = _Repeated(plain)
        seen: set[str] = set()
        repeated.key = next(k for k, _ in pairs if k in seen or seen.add(k))  # type: ignore[func-returns-value]
        return repeated

    return _find_repeated(json.loads(data, object_pairs_hook=build))


def _find_repeated(document: Any) -> str | None:
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), document)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, _Repeated):
            return pointer(*place, value.key)
        if isinstance(value, dict):
            waiting.extend(((*place, k), v) for k, v in reversed(value.items()))
        elif isinstance(value, list):
            waiting.extend(((*place, i), v) for i, v in reversed(list(enumerate(value))))
    return None
