"""The inputs that a Python program gives: a file's name, or lines and events that it holds."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.reading.files import DOCUMENT, read_file
from streamt_ol.reading.opening import Opener, openers, unreadable
from streamt_ol.redaction import shown_path

Event = Mapping[str, Any]
Source = str | os.PathLike[str] | Iterable[str | bytes | Event]
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
        text = orjson.dumps(dict(value))
        if b"null" in text:  # which orjson writes for a number that JSON has not
            json.dumps(dict(value), allow_nan=False, default=str)
    except (TypeError, ValueError):
        message = "it cannot be written as JSON"
        raise StreamtOlError(PARSE, message, location=location) from None
    return text


def opener(source: Source) -> tuple[str, Opener]:
    """Return what a source is called in a report, and what opens it."""
    if (path := _path(source)) is not None:
        [opened] = openers([path])
        return opened
    data = text_of(_items(source))
    return NAME, lambda: BytesIO(data)


def content(source: Source) -> tuple[bytes, str]:
    """Return the whole text of a source, and its name, safe to show.

    Raises ``StreamtOlError`` (E501) for a file that cannot be read.
    """
    path = _path(source)
    if path is None:
        return text_of(_items(source)), NAME
    try:
        return read_file(path, DOCUMENT), shown_path(path)
    except OSError as error:
        raise unreadable(path, error) from None


@contextmanager
def as_file(source: Source) -> Iterator[str]:
    """Yield the name of a file with what ``source`` holds."""
    if (path := _path(source)) is not None:
        yield path
        return
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(text_of(_items(source)))
        file.flush()
        yield file.name


def _path(source: Source) -> str | None:
    return os.fspath(source) if isinstance(source, str | os.PathLike) else None


def _items(source: Source) -> Iterable[str | bytes | Event]:
    assert not isinstance(source, str | os.PathLike)
    return source


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
