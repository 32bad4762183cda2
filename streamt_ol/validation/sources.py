"""From named inputs to chunks of events with positions, and from positions back to places."""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.reading.blocks import DamagedError, blocks
from streamt_ol.reading.opening import unreadable
from streamt_ol.redaction import place
from streamt_ol.validation.documents import Element, Splitter, is_document
from streamt_ol.validation.rules import finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    from streamt_ol.validation.findings import Finding

_ELEMENTS = 1000  # of a document in one chunk


class Chunk(NamedTuple):
    """Consecutive events: ``lines`` of JSON Lines, or ``elements`` of a document.

    ``position`` is that of the first; each line or element has one. ``fault`` stands for
    one position whose line cannot be read at all.
    """

    position: int
    lines: bytes = b""
    elements: tuple[Element, ...] = ()
    fault: Finding | None = None


class Place(NamedTuple):
    """Where an event stands: the input's name, the line (from 1), the pointer in a document."""

    name: str
    line: int
    pointer: str


class Inputs:
    """The inputs of one run: reads them one after the other, and knows where each event stood.

    Positions count lines, or the elements of a document, over all inputs.
    """

    def __init__(self, limit: int, read: Callable[[int], None]) -> None:
        self._limit = limit
        self._read = read
        self._names: list[str] = []
        self._starts: list[int] = []
        self._documents: dict[int, tuple[list[int], list[str]]] = {}
        self._next = 0
        self.failures: list[StreamtOlError] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the inputs read so far."""
        return tuple(self._names)

    @property
    def start(self) -> int:
        """The position where the input read last starts."""
        return self._starts[-1]

    def chunks(
        self, name: str, opened: Callable[[], AbstractContextManager[BinaryIO]]
    ) -> Iterator[Chunk]:
        """Yield the chunks of the input ``name``, which ``opened`` opens.

        An input that cannot be read, or not to its end, is a fault there and one of ``failures``.
        """
        self._names.append(name)
        self._starts.append(self._next)
        try:
            with opened() as stream:
                yield from self._read_chunks(stream)
        except OSError as error:
            yield self._failed(unreadable(name, error))
        except StreamtOlError as error:  # no zstd library, or standard input is closed
            if error.code != PARSE:
                raise
            yield self._failed(error)
        self._take(1)  # no two inputs share a position, even if one is empty

    def _failed(self, error: StreamtOlError) -> Chunk:
        error.location = Location(file=place(self._names[-1]))
        self.failures.append(error)
        message = error.message + (f" ({error.suggestion})" if error.suggestion else "")
        return Chunk(self._take(1), fault=finding("OL-R061", "", f"{error.code}: {message}"))

    def _read_chunks(self, stream: BinaryIO) -> Iterator[Chunk]:
        content = blocks(stream, self._read)
        try:
            first = next(content, b"")
            rest = chain([first], content)
            split = self._elements if is_document(first) else self._lines
            yield from split(rest)
        except DamagedError as error:
            yield Chunk(self._take(1), fault=finding("OL-R060", "", str(error)))

    def source(self, position: int) -> int:
        """Return the number of the input, from 0, that ``position`` belongs to."""
        return bisect_right(self._starts, position) - 1

    def place(self, position: int) -> Place:
        """Return where the event at ``position`` stands."""
        source = self.source(position)
        offset = position - self._starts[source]
        if source in self._documents:
            lines, pointers = self._documents[source]
            if offset < len(lines):
                return Place(self._names[source], lines[offset], pointers[offset])
        return Place(self._names[source], offset + 1, "")

    def _take(self, count: int) -> int:
        position = self._next
        self._next += count
        return position

    def _lines(self, content: Iterator[bytes]) -> Iterator[Chunk]:
        pending: list[bytes] = []
        size = 0
        skipping = False
        for block in content:
            if skipping:
                _, newline, block = block.partition(b"\n")  # noqa: PLW2901
                skipping = not newline
            cut = block.rfind(b"\n") + 1
            if cut:
                lines = b"".join((*pending, block[:cut]))
                yield Chunk(self._take(lines.count(b"\n")), lines)
                pending, size = [], 0
            if cut < len(block):
                pending.append(block[cut:])
                size += len(block) - cut
            if size > self._limit:
                message = f"longer than {self._limit} bytes"
                yield Chunk(self._take(1), fault=finding("OL-R007", "", message))
                pending, size, skipping = [], 0, True
        if pending:
            yield Chunk(self._take(1), b"".join(pending))

    def _elements(self, content: Iterator[bytes]) -> Iterator[Chunk]:
        splitter = Splitter(self._limit)
        lines: list[int] = []
        pointers: list[str] = []
        self._documents[len(self._names) - 1] = (lines, pointers)

        def chunk(elements: list[Element]) -> Chunk:
            lines.extend(element.line for element in elements)
            pointers.extend(element.pointer for element in elements)
            return Chunk(self._take(len(elements)), elements=tuple(elements))

        waiting: list[Element] = []
        for element in chain(
            chain.from_iterable(splitter.feed(block) for block in content), splitter.end()
        ):
            waiting.append(element)
            if len(waiting) == _ELEMENTS:
                yield chunk(waiting)
                waiting = []
        if waiting:
            yield chunk(waiting)
