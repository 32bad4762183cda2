"""The pieces that pass between the steps, as bytes: MessagePack, read back by their types."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, TypeVar

import msgspec

from streamt_ol.problems import INVALID, Location, StreamtOlError
from streamt_ol.validation.report.collector import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Decoded = TypeVar("Decoded")
# The key of an identity, and the words for it in a message.
Name = tuple[int | bytes, str]


class Summary(msgspec.Struct, array_like=True):
    """The part of a split that the report needs, small whatever the split holds.

    ``lines`` is how many positions it takes, ``seen`` whether anything but blanks is in it,
    ``continuous`` the keys of the jobs that are streams or services. ``failure`` is the message,
    the location and the suggestion of the error that ended the reading, ``parts`` how many pieces
    its stream state fills.
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
    parts: int


class Origins(msgspec.Struct, array_like=True):
    """The locations of a split's single events: offset of the first, then lines and pointers."""

    starts: list[int]
    places: list[list[tuple[int, str]]]


class Group(msgspec.Struct, array_like=True):
    """The partitions from ``first`` to ``last`` that one merge takes together."""

    first: int
    last: int


class Across(msgspec.Struct, array_like=True):
    """The facts that a merge needs of the other partitions and of the report's positions.

    ``firsts`` holds the position of each split's first line as one process counts it, ``parts``
    how many pieces its stream state fills; ``continuous`` the keys of all jobs that are streams
    or services, as ``KeySet`` reads them; ``names`` the words for the first identities.
    """

    groups: list[Group]
    firsts: list[int]
    parts: list[int]
    continuous: bytes
    names: list[Name]


class Outcome(msgspec.Struct, array_like=True):
    """The answer of a task to the driver: how much it did, or the error that stops everything."""

    number: int
    size: int = 0
    events: int = 0
    error: tuple[str, str, str | None, str | None] | None = None


_ENCODER = msgspec.msgpack.Encoder()


def state_piece(split: int, part: int) -> str:
    """Return the name of a part of a split's stream state."""
    return f"state-{split}-{part}"


def encoded(value: object) -> bytes:
    """Return ``value`` as bytes."""
    return _ENCODER.encode(value)


def decoded(data: bytes, kind: type[Decoded]) -> Decoded:
    """Return the value of ``kind`` that ``data`` holds. Raises E506 for a damaged piece."""
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except msgspec.DecodeError:
        raise damaged() from None


def damaged() -> StreamtOlError:
    """Return the error (E506) for a piece that another program, or a crash of the system, left."""
    return StreamtOlError(
        INVALID,
        "a piece in the work directory is damaged",
        location=Location(option="work_dir"),
        suggestion="remove the directory, and run the command again",
    )


class KeySet:
    """Keys of 64 bits, eight bytes each: a set of Python's own would take twelve times as much."""

    def __init__(self, data: bytes) -> None:
        self._keys = array("Q", data)

    @staticmethod
    def packed(keys: Iterable[int]) -> bytes:
        """Return ``keys`` as the constructor takes them."""
        return array("Q", sorted(keys)).tobytes()

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, int):
            return False
        at = bisect_left(self._keys, key)
        return at < len(self._keys) and self._keys[at] == key

    def __iter__(self) -> Iterator[int]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
