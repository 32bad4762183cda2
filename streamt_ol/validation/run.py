"""Check whole inputs: chunk by chunk in this process, or in several, with one report."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.reading.json_scan import BLANKS
from streamt_ol.reading.opening import Opener
from streamt_ol.reading.raw import Chunk
from streamt_ol.reading.sources import Inputs
from streamt_ol.validation.checker import ChunkResult, Settings, check_chunk
from streamt_ol.validation.findings import LocatedFinding
from streamt_ol.validation.report.collector import Collector, Report
from streamt_ol.validation.rules import finding
from streamt_ol.validation.stream.rules import repeated, stream_findings
from streamt_ol.validation.stream.state import StreamState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Starting processes pays once this many bytes have been read in one.
WORTH_PROCESSES = 48 << 20


class Options(NamedTuple):
    """Options of a run: the settings of each chunk, how much to report, how many processes."""

    settings: Settings
    max_problems: int
    strict: bool
    jobs: int


Input = tuple[str, Opener]


def validate(
    inputs: Iterable[Input], options: Options, progress: Callable[[int, int], None]
) -> Report:
    """Check ``inputs``, each a name and what opens it, as one stream, and return the report.

    ``progress`` is told the raw bytes read and the events checked so far. The report does not
    depend on the number of processes. An input that cannot be read is an error in it.
    """
    ignored = options.settings.ignored
    state = StreamState()
    reading = _Reading(options, inputs)
    collector = Collector(
        options.max_problems, reading.inputs.source, strict=options.strict, ignored=ignored
    )
    for result in _results(reading.chunks(), options, state, reading):
        if result.state is not state:
            state.absorb(result.state)
        collector.checked(result)
        collector.add(repeated(state))
        progress(reading.read, collector.events)
    collector.add(stream_findings(state))
    collector.add(reading.empty)
    inputs_read = reading.inputs
    return collector.report(inputs_read.names, inputs_read.origin, tuple(inputs_read.failures))


class _Reading:
    """The inputs, the bytes read of them, and the notes about those without an event."""

    def __init__(self, options: Options, inputs: Iterable[Input]) -> None:
        self.read = 0
        self.empty: list[LocatedFinding] = []
        self.inputs = Inputs(options.settings.max_line_bytes, self._count)
        self._named = inputs

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks of all inputs."""
        for name, opened in self._named:
            seen = False
            for chunk in self.inputs.chunks(name, opened):
                seen = seen or _holds_something(chunk)
                yield chunk
            if not seen:
                position = self.inputs.start
                self.empty.append(
                    LocatedFinding(position, finding("OL-R009", "", "there is no event in it"))
                )

    def _count(self, size: int) -> None:
        self.read += size


def _holds_something(chunk: Chunk) -> bool:
    return bool(chunk.events or chunk.lines.strip(BLANKS))


def _results(
    chunks: Iterator[Chunk], options: Options, state: StreamState, reading: _Reading
) -> Iterator[ChunkResult]:
    """Yield what each chunk is found to be, in order: here at first, in processes if it pays."""
    for chunk in chunks:
        yield check_chunk(chunk, options.settings, state)
        if options.jobs > 1 and reading.read >= WORTH_PROCESSES:
            yield from _in_processes(chunks, options)


def _in_processes(chunks: Iterator[Chunk], options: Options) -> Iterator[ChunkResult]:
    """Yield what ``options.jobs`` processes find in ``chunks``, in the order of the chunks."""
    from streamt_ol.validation.processes import Workers

    with Workers(options.jobs, options.settings) as workers:
        waiting: deque[Callable[[], ChunkResult]] = deque()
        for chunk in chunks:
            waiting.append(workers.check(chunk))
            if len(waiting) > 2 * options.jobs:
                yield waiting.popleft()()
        while waiting:
            yield waiting.popleft()()
