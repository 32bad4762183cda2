"""Many blobs in one piece, of which a reader takes those of adjacent numbers in one read."""

from __future__ import annotations

from itertools import accumulate
from struct import Struct
from typing import TYPE_CHECKING

from streamt_ol.scale.pieces import damaged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LENGTH = Struct("<Q")


def joined(blobs: Sequence[bytes]) -> bytes:
    """Return ``blobs`` in one piece: a table of where each ends, then all that are not empty."""
    framed = [_LENGTH.pack(len(blob)) + blob if blob else b"" for blob in blobs]
    return b"".join((*map(_LENGTH.pack, accumulate(map(len, framed))), *framed))


def ends_of(table: bytes) -> list[int]:
    """Return where each blob ends, counted from the end of the ``table`` of a joined piece.

    Raises E506 for a table that is cut off.
    """
    if not table or len(table) % _LENGTH.size:
        raise damaged()
    return [end for (end,) in _LENGTH.iter_unpack(table)]


def table_range(first: int, last: int) -> tuple[int, int]:
    """Return the range of a joined piece that tells where the blobs ``first`` to ``last`` are."""
    return max(first - 1, 0) * _LENGTH.size, (last + 1) * _LENGTH.size


def blob_range(table: bytes, first: int, count: int) -> tuple[int, int]:
    """Return the range of the blobs of which ``table`` is the ``table_range``, of ``count``."""
    ends = ends_of(table)
    after = count * _LENGTH.size
    return after + (ends[0] if first else 0), after + ends[-1]


def split(data: bytes) -> Iterator[bytes]:
    """Yield the blobs that are not empty, given all bytes of some. Raises E506 for less."""
    at = 0
    while at < len(data):
        if at + _LENGTH.size > len(data):
            raise damaged()
        (length,) = _LENGTH.unpack_from(data, at)
        at += _LENGTH.size
        yield data[at : at + length]
        at += length
