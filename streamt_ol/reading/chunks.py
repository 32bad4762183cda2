"""From the blocks of one input to chunks of events: JSON Lines, an array, pretty-printed events."""

from __future__ import annotations

from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING

from streamt_ol.reading.blocks import DamagedError
from streamt_ol.reading.documents import Splitter, is_document, too_long
from streamt_ol.reading.faults import Fault, FaultKind
from streamt_ol.reading.json_scan import without_bom
from streamt_ol.reading.raw import Chunk, RawEvent, newlines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_EVENT_BYTES = 64 << 20  # by default
_EVENTS = 1000  # of a document in one chunk
LOOKED_AT = 64 << 10  # bytes by which a document is told from JSON Lines


def chunks(
    blocks: Iterator[bytes], limit: int = MAX_EVENT_BYTES, looked_at: int = LOOKED_AT
) -> Iterator[Chunk]:
    """Yield the events in ``blocks``, decompressed bytes, each at most ``limit`` bytes long.

    What the input is, is told by its first ``looked_at`` bytes: 1 where it may never have more.
    Compressed data that is damaged ends with a fault. Raises what reading a block raises else.
    """
    counted = _Count(blocks)
    try:
        first = counted.start(looked_at)
        split = _documents if is_document(first) else lines
        yield from split(chain([first], counted), limit)
    except DamagedError as error:
        fault = Fault(FaultKind.DAMAGED, str(error))
        where = counted.line, counted.bytes
        yield Chunk(*where, events=(RawEvent(b"", *where, fault=fault),))


def raw_events(found: Iterable[Chunk], limit: int = MAX_EVENT_BYTES) -> Iterator[RawEvent]:
    """Yield the events of chunks one by one: no blank lines, no byte order marks."""
    for chunk in found:
        yield from chunk.events
        offset = chunk.offset
        for line, text in enumerate(BytesIO(chunk.lines), chunk.line):
            data = without_bom(text)
            if data:
                where = line, offset + text.index(data)
                too_large = len(data) > limit
                fault = too_long(limit) if too_large else None
                yield RawEvent(b"" if too_large else data, *where, fault=fault)
            offset += len(text)


class _Count:
    """The blocks of an input; counts bytes, and lines, that have been given out."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._failure: DamagedError | OSError | None = None
        self.bytes = 0
        self.line = 1

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._failure is not None:
            raise self._failure
        block = next(self._blocks)
        self.bytes += len(block)
        self.line += newlines(block)
        return block

    def start(self, enough: int) -> bytes:
        """Return the first blocks, together long enough to tell what the input is.

        What fails behind them is raised when the next block is asked for.
        """
        first: list[bytes] = []
        try:
            while self.bytes < enough and (block := next(self, b"")):
                first.append(block)
        except (DamagedError, OSError) as error:
            self._failure = error
        return b"".join(first)


def lines(blocks: Iterator[bytes], limit: int = MAX_EVENT_BYTES) -> Iterator[Chunk]:
    """Yield the whole lines in ``blocks``; a line of more than ``limit`` bytes is a fault."""
    pending: list[bytes] = []
    size = 0
    line, offset = 1, 0
    skipping = False
    for block in blocks:
        rest = block
        if skipping:
            _, newline, rest = block.partition(b"\n")
            offset += len(block) - len(rest)
            skipping = not newline
        cut = rest.rfind(b"\n") + 1
        if cut:
            lines = b"".join((*pending, rest[:cut]))
            yield Chunk(line, offset, lines)
            line += newlines(lines)
            offset += len(lines)
            pending, size = [], 0
        if cut < len(rest):
            pending.append(rest[cut:])
            size += len(rest) - cut
        if size > limit:
            yield Chunk(line, offset, events=(RawEvent(b"", line, offset, fault=too_long(limit)),))
            line += 1
            offset += size
            pending, size, skipping = [], 0, True
    if pending:
        yield Chunk(line, offset, b"".join(pending))


def _documents(blocks: Iterator[bytes], limit: int) -> Iterator[Chunk]:
    splitter = Splitter(limit)
    found = chain(chain.from_iterable(map(splitter.feed, blocks)), splitter.end())
    waiting: list[RawEvent] = []
    for event in found:
        waiting.append(event)
        if len(waiting) == _EVENTS:
            yield _chunk(waiting)
            waiting = []
    if waiting:
        yield _chunk(waiting)


def _chunk(events: list[RawEvent]) -> Chunk:
    return Chunk(events[0].line, events[0].offset, events=tuple(events))
