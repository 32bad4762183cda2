"""Check whole inputs: chunk by chunk, one after the other, with one report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.reading.opening import Opener
from streamt_ol.reading.sources import Inputs
from streamt_ol.validation.checker import check_chunk
from streamt_ol.validation.findings import LocatedFinding
from streamt_ol.validation.report.collector import Collector, Report
from streamt_ol.validation.rules import finding
from streamt_ol.validation.stream.rules import continuous_jobs, repeated, stream_findings
from streamt_ol.validation.stream.state import StreamState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from streamt_ol.reading.raw import Chunk
    from streamt_ol.validation.options import Options

Input = tuple[str, Opener]


def validate(
    inputs: Iterable[Input], options: Options, progress: Callable[[int, int], None]
) -> Report:
    """Check ``inputs``, each a name and what opens it, as one stream, and return the report.

    ``progress`` is told the raw bytes read and the events checked so far. An input that cannot
    be read is an error in the report.
    """
    ignored = options.settings.ignored
    state = StreamState()
    reading = _Reading(options, inputs)
    collector = Collector(
        options.max_problems, reading.inputs.source, strict=options.strict, ignored=ignored
    )
    for chunk in reading.chunks():
        collector.checked(check_chunk(chunk, options.settings, state, collector.counted))
        collector.add(repeated(state))
        progress(reading.read, collector.events)
    collector.add(stream_findings(state, continuous_jobs(state)))
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
                seen = seen or not chunk.is_blank
                yield chunk
            if not seen:
                position = self.inputs.start
                self.empty.append(
                    LocatedFinding(position, finding("OL-R009", "", "there is no event in it"))
                )

    def _count(self, size: int) -> None:
        self.read += size
