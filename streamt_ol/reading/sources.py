"""Several inputs as one stream: chunks of events with positions, and positions back to origins."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.reading.blocks import blocks
from streamt_ol.reading.chunks import chunks
from streamt_ol.reading.faults import Fault, FaultKind
from streamt_ol.reading.opening import unreadable
from streamt_ol.reading.raw import Chunk, RawEvent
from streamt_ol.redaction import shown_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from streamt_ol.reading.opening import Opener

    Cut = Callable[[BinaryIO], Iterator[Chunk]]


class Origin(NamedTuple):
    """The input that an event comes from, the line (from 1), the pointer within a document."""

    name: str
    line: int
    pointer: str


def place_of_single(
    starts: Sequence[int], places: Sequence[Sequence[tuple[int, str]]], position: int
) -> tuple[int, str] | None:
    """Return the line and pointer of the single event at ``position``, None where none is.

    ``starts`` are the positions where runs of single events begin, ``places`` their locations.
    """
    run = bisect_right(starts, position) - 1
    if run < 0 or position - starts[run] >= len(places[run]):
        return None
    return places[run][position - starts[run]]


class Inputs:
    """The inputs of one run: reads them one after the other, and knows where each event stood.

    Positions count lines, or the elements of a document, over all inputs.
    """

    def __init__(self, limit: int, read: Callable[[int], None]) -> None:
        self._limit = limit
        self._read = read
        self._names: list[str] = []
        self._starts: list[int] = []
        # Single events, of a document or faults: where they start, and their locations.
        self._singles: list[int] = []
        self._single_places: list[tuple[tuple[int, str], ...]] = []
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

    def chunks(self, name: str, opened: Opener, cut: Cut | None = None) -> Iterator[Chunk]:
        """Yield the chunks of the input ``name``, which ``opened`` opens; ``cut`` may cut it anew.

        An input that cannot be read, or not to its end, is a fault there and one of ``failures``.
        """
        self._names.append(name)
        self._starts.append(self._next)
        line = 1
        try:
            with opened() as stream:
                for chunk in cut(stream) if cut else self._whole(stream):
                    yield self._placed(chunk)
                    last = chunk.events[-1].line if chunk.events else chunk.line
                    line = last + len(chunk.lines)
        except OSError as error:
            yield self._failed(line, unreadable(name, error))
        except StreamtOlError as error:  # no zstd library, or standard input is closed
            if error.code != PARSE:
                raise
            yield self._failed(line, error)
        self._next += 1  # no two inputs share a position, even if one is empty

    def _whole(self, stream: BinaryIO) -> Iterator[Chunk]:
        return chunks(blocks(stream, self._read), self._limit)

    @property
    def positions(self) -> int:
        """The number of positions in the inputs read so far: one between two inputs."""
        return self._next - 1

    @property
    def singles(self) -> tuple[list[int], list[tuple[tuple[int, str], ...]]]:
        """The starts of runs of single events; of each run, lines and pointers of its events."""
        return self._singles, self._single_places

    def source(self, position: int) -> int:
        """Return the number of the input, from 0, that ``position`` belongs to."""
        return bisect_right(self._starts, position) - 1

    def origin(self, position: int) -> Origin:
        """Return where the event at ``position`` stands."""
        source = self.source(position)
        name = self._names[source]
        single = place_of_single(self._singles, self._single_places, position)
        if single is not None:
            return Origin(name, *single)
        return Origin(name, position - self._starts[source] + 1, "")

    def _failed(self, line: int, error: StreamtOlError) -> Chunk:
        error.location = Location(file=shown_path(self._names[-1]))
        self.failures.append(error)
        message = error.message + (f" ({error.suggestion})" if error.suggestion else "")
        fault = Fault(FaultKind.UNREADABLE, f"{error.code}: {message}")
        return self._placed(Chunk(line, 0, events=(RawEvent(b"", line, 0, fault=fault),)))

    def _placed(self, chunk: Chunk) -> Chunk:
        """Return ``chunk`` at the next position."""
        position = self._next
        if chunk.lines:
            self._next += len(chunk.lines)
            return chunk._replace(position=position)
        self._next += len(chunk.events)
        self._singles.append(position)
        self._single_places.append(tuple((one.line, one.pointer) for one in chunk.events))
        return chunk._replace(position=position)
