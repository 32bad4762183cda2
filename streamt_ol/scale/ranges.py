"""The lines of one split: those that begin within its bytes, to their ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from streamt_ol.reading.blocks import BLOCK
from streamt_ol.reading.json_scan import BOM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def start_of_reading(start: int) -> int:
    """Return where to open an input: a byte before the split, which tells if a line ends there."""
    return max(start - 1, 0)


def blocks_within(
    stream: BinaryIO, start: int, end: int, size: int, read: Callable[[int], None]
) -> Iterator[bytes]:
    """Yield the lines that begin in ``[start, end)`` of an input of ``size`` bytes, in blocks.

    ``stream`` stands at ``start_of_reading(start)``. ``read`` is told the bytes of each block.
    A byte order mark at the start of the input is left out, as everywhere.
    """
    at = start_of_reading(start)
    if start:
        at += _skip_line(stream, size - at)
    while at < end:
        block = stream.read(min(BLOCK, end - at))
        if not block:
            return
        read(len(block))
        yield block.removeprefix(BOM) if at == 0 else block
        at += len(block)
        if at >= end and not block.endswith(b"\n"):
            yield from _line_end(stream, size - at, read)


def _skip_line(stream: BinaryIO, left: int) -> int:
    """Read to the end of a line; return how many bytes that took."""
    skipped = 0
    while skipped < left and (piece := stream.readline(min(BLOCK, left - skipped))):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _line_end(stream: BinaryIO, left: int, read: Callable[[int], None]) -> Iterator[bytes]:
    while left > 0 and (piece := stream.readline(min(BLOCK, left))):
        left -= len(piece)
        read(len(piece))
        yield piece
        if piece.endswith(b"\n"):
            return
