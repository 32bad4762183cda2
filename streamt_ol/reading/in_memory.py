"""Lines and events that a Python program holds, as the text of an input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streamt_ol.problems import PARSE, Location, StreamtOlError

NAME = "<events>"


def text_of(items: Iterable[str | bytes | Mapping[str, Any]]) -> bytes:
    """Return lines and events as JSON Lines.

    Raises ``StreamtOlError`` (E501) at the line of what has no JSON form or is not Unicode.
    """
    return b"\n".join(_line(item, number) for number, item in enumerate(items, 1))


def as_json(value: Mapping[str, Any], location: Location) -> bytes:
    """Return ``value`` as JSON. Raises E501 at ``location`` where it has no JSON form."""
    import orjson

    try:
        return orjson.dumps(dict(value))
    except TypeError:
        message = "it cannot be written as JSON"
        raise StreamtOlError(PARSE, message, location=location) from None


def _line(item: str | bytes | Mapping[str, Any], number: int) -> bytes:
    if isinstance(item, bytes):
        return item.rstrip(b"\n")
    location = Location(file=NAME, line=number)
    if not isinstance(item, str):
        return as_json(item, location)
    try:
        return item.rstrip("\n").encode()
    except UnicodeEncodeError:
        raise StreamtOlError(PARSE, "the line is not Unicode", location=location) from None
