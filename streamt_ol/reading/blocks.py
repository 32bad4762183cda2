"""Bytes of an input in blocks: compressed or not by what they are, never by a file's name.

Decompression is streamed: at most one block is held, so that a small file that would grow
without end costs time and no memory.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO

from streamt_ol.problems import PARSE, StreamtOlError
from streamt_ol.reading.json_scan import BOM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLOCK = 1 << 20
_GZIP = 31  # zlib's window bits for a gzip container


class DamagedError(Exception):
    """The compressed data is broken, or ends too early; what came before is good."""


def blocks(stream: BinaryIO, read: Callable[[int], None] | None = None) -> Iterator[bytes]:
    """Yield the decompressed bytes of ``stream`` without a byte order mark.

    ``read`` is told the raw bytes of each block. Raises ``DamagedError`` where compressed data
    is damaged, ``StreamtOlError`` (E501) where no zstd library is there, ``OSError``.
    """
    raw = _raw(stream, read)
    first = _telling(raw, tuple(magic for magic, _ in _KINDS))
    kind = next((make for magic, make in _KINDS if first.startswith(magic)), None)
    plain = _with(first, raw)
    if kind is not None:
        # Tapes and disks fill up gzip's last block with zeros, which belong to no member.
        plain = _decompressed(plain, kind(), b"\0" if kind is _gzip else b"")
    start = _telling(plain, (BOM,))
    if start.startswith(BOM):
        start = start[len(BOM) :]
    yield from _with(start, plain)


def is_compressed(first: bytes) -> bool:
    """Tell by its first bytes whether an input is compressed in a way that is read here."""
    return any(first.startswith(magic) for magic, _ in _KINDS)


def _raw(stream: BinaryIO, read: Callable[[int], None] | None) -> Iterator[bytes]:
    while block := _block(stream):
        if read is not None:
            read(len(block))
        yield block


def _block(stream: BinaryIO) -> bytes:
    """Return the next block of ``stream``, shorter than others only at its end.

    It is read piece by piece: within ``read`` of a pipe, a signal that comes while a piece is
    copied waits for the next one, and that may never come.
    """
    read1 = getattr(stream, "read1", None)
    if read1 is None:  # gives what is there
        return stream.read(BLOCK)
    pieces, size = [], 0
    try:
        while size < BLOCK and (piece := read1(BLOCK - size)):
            pieces.append(piece)
            size += len(piece)
    except OSError:
        if not pieces:  # else the next block tells
            raise
    return b"".join(pieces)


def _telling(source: Iterator[bytes], signs: tuple[bytes, ...]) -> bytes:
    """Return the first bytes of ``source``: enough to tell whether they begin with a sign."""
    first = next(source, b"")
    while first and any(sign != first and sign.startswith(first) for sign in signs):
        more = next(source, b"")
        if not more:
            break
        first += more
    return first


def _with(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _decompressed(raw: Iterator[bytes], make: Callable[[], Any], padding: bytes) -> Iterator[bytes]:
    """Yield what the members of a compressed stream hold, ``padding`` between them left out."""
    member, pending = make(), b""
    started = False
    for block in raw:
        pending += block
        if member.eof:
            pending = pending.lstrip(padding)
        while pending:
            if member.eof:
                member, started = make(), False
            started = True
            try:
                yield from _filled(member, pending)
            except Exception as error:  # each library has an error class of its own
                if type(error).__name__ not in {"error", "ZstdError"}:
                    raise
                raise DamagedError("the compressed data is damaged") from error
            pending = member.unused_data.lstrip(padding) if member.eof else b""
    if started and not member.eof:
        raise DamagedError("the compressed data ends too early")


def _filled(member: Any, data: bytes) -> Iterator[bytes]:
    """Yield what ``member`` makes of ``data``, in blocks."""
    while True:
        block = member.decompress(data, BLOCK)
        if block:
            yield block
        data = getattr(member, "unconsumed_tail", b"")
        drained = not data and len(block) < BLOCK
        if member.eof or drained:
            return


def _gzip() -> Callable[[], Any]:
    return lambda: zlib.decompressobj(_GZIP)


def _zstd() -> Callable[[], Any]:
    zstd = _zstd_module()
    # What `zstd --long=31` writes needs a window of 2 GiB, taken only as far as it is filled.
    window = zstd.DecompressionParameter.window_log_max
    options = {window: window.bounds()[1]}
    return lambda: zstd.ZstdDecompressor(options=options)


def _zstd_module() -> Any:
    for name in ("compression.zstd", "backports.zstd"):  # Python 3.14, or the extra
        with suppress(ImportError):
            return import_module(name)
    raise StreamtOlError(
        PARSE,
        "the input is zstd-compressed, and no zstd library is installed",
        suggestion="pip install 'streamt-ol[zstd]'",
    )


_KINDS: tuple[tuple[bytes, Callable[[], Callable[[], Any]]], ...] = (
    (b"\x1f\x8b", _gzip),
    (b"\x28\xb5\x2f\xfd", _zstd),
    # RFC 8878, section 3.1.2: a skippable frame may come first.
    *((bytes([low]) + b"\x2a\x4d\x18", _zstd) for low in range(0x50, 0x60)),
)
