"""From the blocks of one input to chunks of events: JSON Lines, an array, pretty-printed events."""

from __future__ import annotations

from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING

from streamt_ol.reading.blocks import DamagedError
from streamt_ol.reading.documents import Splitter, is_document, too_long
from streamt_ol.reading.faults import Fault, FaultKind
from streamt_ol.reading.json_scan import BLANKS, without_bom
from streamt_ol.reading.raw import Chunk, RawEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_EVENT_BYTES = 64 << 20  # by default
_EVENTS = 1000  # of a document in one chunk
_BYTES = 1 << 20  # of lines in one chunk, about
LOOKED_AT = 64 << 10  # bytes by which a document is told from JSON Lines


def chunks(
    blocks: Iterator[bytes], limit: int = MAX_EVENT_BYTES, looked_at: int = LOOKED_AT
) -> Iterator[Chunk]:
    """Yield the events in ``blocks``, decompressed bytes, each at most ``limit`` bytes long.

    What the input is, is told by its first ``looked_at`` bytes: 1 where it may never have more.
    Compressed data that is damaged ends with a fault. Raises what reading a block raises else.
    """
    given = _Blocks(blocks)
    first = given.start(looked_at)
    split = _documents if is_document(first[:LOOKED_AT]) else lines
    yield from split(chain([first], given), limit)


def raw_events(found: Iterable[Chunk], limit: int = MAX_EVENT_BYTES) -> Iterator[RawEvent]:
    """Yield the events of chunks one by one: no blank lines, no byte order marks."""
    for chunk in found:
        yield from chunk.events
        offset = chunk.offset
        for line, text in enumerate(chunk.lines, chunk.line):
            is_usual = text.startswith(b"{")  # most are: what is searched for takes its time
            data = text.rstrip(BLANKS) if is_usual else without_bom(text)
            if data:
                start = offset if is_usual else offset + text.index(data)
                if len(data) > limit:
                    yield RawEvent(b"", line, start, fault=too_long(limit))
                else:
                    yield RawEvent(data, line, start)
            offset += len(text)


class _Blocks:
    """The blocks of an input, the first of which tell what it is."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._failure: DamagedError | OSError | None = None

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._failure is not None:
            raise self._failure
        return next(self._blocks)

    def start(self, enough: int) -> bytes:
        """Return the first blocks, together long enough to tell what the input is.

        What fails behind them is raised when the next block is asked for.
        """
        first: list[bytes] = []
        size = 0
        try:
            while size < enough and (block := next(self, b"")):
                first.append(block)
                size += len(block)
        except (DamagedError, OSError) as error:
            self._failure = error
        return b"".join(first)


def lines(blocks: Iterator[bytes], limit: int = MAX_EVENT_BYTES) -> Iterator[Chunk]:
    """Yield the whole lines in ``blocks``; a line of more than ``limit`` bytes is a fault."""
    cutter = _Cutter(limit)
    try:
        for block in blocks:
            yield from cutter.feed(block)
    except DamagedError as error:
        yield _damaged(error, cutter.line, cutter.offset + cutter.size)
        return
    if cutter.pending:
        yield Chunk(cutter.line, cutter.offset, [b"".join(cutter.pending)])


class _Cutter:
    """Cuts blocks into lines; the line at ``line`` and ``offset`` has not ended yet.

    ``pending`` holds ``size`` bytes of it, unless it is too long.
    """

    def __init__(self, limit: int) -> None:
        self.line, self.offset = 1, 0
        self.pending: list[bytes] = []
        self.size = 0
        self._limit = limit
        self._skips = False

    def feed(self, block: bytes) -> Iterator[Chunk]:
        """Yield the lines that end in ``block``; a fault where the last becomes too long."""
        source = BytesIO(block)
        if self._skips:
            self._skip(source.readline())
        start = self.offset + self.size - source.tell()
        # Splitting at each newline takes several times as long.
        while found := source.readlines(_BYTES):
            tail = b"" if found[-1].endswith(b"\n") else found.pop()
            if found:
                found[0] = b"".join((*self.pending, found[0]))
                yield Chunk(self.line, self.offset, found)
                self.line += len(found)
                self.offset = start + source.tell() - len(tail)
                self.pending, self.size = [], 0
            if tail:
                self.pending.append(tail)
                self.size += len(tail)
        if self.size > self._limit:
            fault = too_long(self._limit)
            yield Chunk(
                self.line, self.offset, events=(RawEvent(b"", self.line, self.offset, fault=fault),)
            )
            self.offset += self.size
            self.pending, self.size, self._skips = [], 0, True

    def _skip(self, rest: bytes) -> None:
        """Leave out the rest of a line that is too long."""
        self.offset += len(rest)
        if rest.endswith(b"\n"):
            self.line += 1
            self._skips = False


def _documents(blocks: Iterator[bytes], limit: int) -> Iterator[Chunk]:
    splitter = Splitter(limit)
    counted = _Counted(blocks)
    found = chain(chain.from_iterable(map(splitter.feed, counted)), splitter.end())
    waiting: list[RawEvent] = []
    damaged = None
    try:
        for event in found:
            waiting.append(event)
            if len(waiting) == _EVENTS:
                yield _chunk(waiting)
                waiting = []
    except DamagedError as error:
        damaged = _damaged(error, counted.line, counted.bytes)
    if waiting:
        yield _chunk(waiting)
    if damaged is not None:
        yield damaged


class _Counted:
    """The blocks of an input; counts the bytes, and the lines, that have been given out."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self.bytes = 0
        self.line = 1

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            self.bytes += len(block)
            self.line += block.count(b"\n")
            yield block


def _damaged(error: DamagedError, line: int, offset: int) -> Chunk:
    fault = Fault(FaultKind.DAMAGED, str(error))
    return Chunk(line, offset, events=(RawEvent(b"", line, offset, fault=fault),))


def _chunk(events: list[RawEvent]) -> Chunk:
    return Chunk(events[0].line, events[0].offset, events=tuple(events))
