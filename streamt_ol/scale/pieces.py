"""The pieces that pass between the steps, as bytes: MessagePack, read back by their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from streamt_ol.validation.report.collector import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

Decoded = TypeVar("Decoded")
# The key of an identity, and the words for it in a message.
Name = tuple[int | bytes, str]


class Summary(msgspec.Struct, array_like=True):
    """What the report needs of a split, small whatever the split holds.

    ``lines`` is how many positions it takes, ``seen`` whether anything but blanks is in it,
    ``continuous`` the keys of the jobs that are streams or services. ``failure`` is the message,
    the location and the suggestion of the error that ended the reading.
    """

    lines: int
    size: int
    blank: int
    kinds: dict[str, int]
    seen: bool
    counts: Counts
    continuous: list[int]
    failure: tuple[str, str, str | None] | None
    has_origins: bool


class Origins(msgspec.Struct, array_like=True):
    """Where the single events of a split stand: offset of the first, then lines and pointers."""

    starts: list[int]
    places: list[list[tuple[int, str]]]


class Across(msgspec.Struct, array_like=True):
    """What a merge needs of the other partitions and of the report's positions.

    ``firsts`` holds the position of each split's first line as one process counts it, ``names``
    the words for the first identities.
    """

    firsts: list[int]
    continuous: list[int]
    names: list[Name]


class Outcome(msgspec.Struct, array_like=True):
    """What a task tells the driver: how much it did, or the error that stops everything."""

    number: int
    size: int = 0
    events: int = 0
    error: tuple[str, str, str | None, str | None] | None = None


_ENCODER = msgspec.msgpack.Encoder()


def encoded(value: object) -> bytes:
    """Return ``value`` as bytes."""
    return _ENCODER.encode(value)


def decoded(data: bytes, kind: type[Decoded]) -> Decoded:
    """Return the value of ``kind`` that ``data`` holds."""
    return msgspec.msgpack.decode(data, type=kind)


def joined(blobs: Sequence[bytes]) -> bytes:
    """Return ``blobs`` in one piece: a table of where each ends, then all of them."""
    ends, end = [], 0
    for blob in blobs:
        end += len(blob)
        ends.append(end)
    return b"".join((*(one.to_bytes(8, "little") for one in ends), *blobs))


def table_range(number: int) -> tuple[int, int]:
    """Return the range of a joined piece that holds where blob ``number`` begins and ends."""
    return (number - 1) * 8 if number else 0, (number + 1) * 8


def blob_range(table: bytes, number: int, count: int) -> tuple[int, int]:
    """Return the range of blob ``number`` of ``count``; ``table`` is its ``table_range``."""
    start = int.from_bytes(table[:8], "little") if number else 0
    return count * 8 + start, count * 8 + int.from_bytes(table[-8:], "little")
