"""Check one split: its findings and counts, and its share of the stream state of each partition."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from streamt_ol.problems import INVALID, Location, StreamtOlError
from streamt_ol.reading import storage
from streamt_ol.reading.chunks import lines
from streamt_ol.reading.opening import open_input, unreadable
from streamt_ol.reading.sources import Inputs
from streamt_ol.redaction import shown_path
from streamt_ol.scale.blobs import joined
from streamt_ol.scale.pieces import Name, Origins, Outcome, Summary, encoded, state_piece
from streamt_ol.scale.plan import LINE_BITS
from streamt_ol.scale.ranges import blocks_within, start_of_reading
from streamt_ol.scale.state import shares
from streamt_ol.validation.checker import check_chunk
from streamt_ol.validation.options import Settings
from streamt_ol.validation.report.collector import Collector
from streamt_ol.validation.stream.identities import NAMED
from streamt_ol.validation.stream.rules import continuous_jobs, repeated
from streamt_ol.validation.stream.state import StreamState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamt_ol.reading.raw import Chunk
    from streamt_ol.scale.plan import Input, Plan, Split
    from streamt_ol.scale.work_dir import WorkDir

# The piece that says that the first split has as many names as are kept, so that no other is asked.
_NAMED = "named"
# Entries of stream state that are held at a time: some 60 MB, and as much again to write them.
_PART_ENTRIES = 250_000


def check_split(work: WorkDir, plan: Plan, number: int) -> Outcome:
    """Check the split ``number`` and leave its pieces, the summary last: ``summary-NUMBER``."""
    split = plan.splits[number]

    def leave(part: int, state: StreamState) -> None:
        work.write(state_piece(number, part), joined(shares(state, plan.partitions)))

    checked = _Split(plan, split, leave)
    checked.run()
    work.write(f"names-{number}", encoded(_names(work, plan, checked, split)))
    origins = checked.origins()
    if origins is not None:
        work.write(f"origins-{number}", encoded(origins))
    summary = checked.summary(has_origins=origins is not None)
    work.write(f"summary-{number}", encoded(summary))
    return Outcome(number, summary.size, sum(summary.kinds.values()))


def _names(work: WorkDir, plan: Plan, checked: _Split, split: Split) -> list[Name]:
    """Return the names that a split adds: to put them all into words takes long."""
    if split.number and work.has(_NAMED):
        return []
    names = checked.names()
    # A pipe holds something else when it is read again.
    if split.number == 0 and len(names) == NAMED and plan.inputs[split.input].mark:
        work.write(_NAMED, b"")
    return names


def collector_of(plan: Plan) -> Collector:
    """Return a collector for the findings in the splits of ``plan``."""
    splits = plan.splits
    return Collector(
        plan.max_problems,
        lambda position: splits[position >> LINE_BITS].input,
        strict=plan.strict,
        ignored=frozenset(plan.ignored),
    )


class _Split:
    """One split while it is checked; ``leave`` takes each part of its stream state."""

    def __init__(self, plan: Plan, split: Split, leave: Callable[[int, StreamState], None]) -> None:
        self._state = StreamState()
        self._leave = leave
        self._parts = 0
        self._continuous: set[int] = set()
        self._plan = plan
        self._split = split
        self._input = plan.inputs[split.input]
        self._size = 0
        self._seen = False
        self._inputs = Inputs(plan.max_line_bytes, self._read)
        self._collector = collector_of(plan)

    def run(self) -> None:
        """Read the split and check its events."""
        settings = Settings(self._plan.max_line_bytes, frozenset(self._plan.ignored))
        base = self._split.number << LINE_BITS
        for chunk in self._chunks():
            self._seen = self._seen or not chunk.is_blank
            located = chunk._replace(position=base + chunk.position)
            counted = self._collector.counted
            self._collector.checked(check_chunk(located, settings, self._state, counted))
            self._collector.add(repeated(self._state))
            if self._state.entries > _PART_ENTRIES:
                self._leave_part()
        self._leave_part()
        if self._inputs.positions >= 1 << LINE_BITS:
            raise StreamtOlError(
                INVALID,
                f"one split of it holds {self._inputs.positions:,} lines, and {1 << LINE_BITS:,} "
                "are the most",
                location=Location(file=shown_path(self._input.name)),
                suggestion="compress it in smaller parts",
            )

    def _leave_part(self) -> None:
        """Hand the stream state over and begin another: a compressed file may hold any number."""
        before, self._state = self._state, StreamState()
        self._state.names = before.names
        self._continuous |= continuous_jobs(before)
        self._leave(self._parts, before)
        self._parts += 1

    def summary(self, *, has_origins: bool) -> Summary:
        """Return what the report needs of the split."""
        failures = self._inputs.failures
        return Summary(
            self._inputs.positions,
            self._size,
            self._collector.blank,
            self._collector.kinds,
            self._seen,
            self._collector.counts(),
            sorted(self._continuous),
            (failures[0].message, str(failures[0].location), failures[0].suggestion)
            if failures
            else None,
            has_origins,
            self._parts,
        )

    def names(self) -> list[Name]:
        """Return the words for the identities whose names are kept."""
        state = self._state
        return [(key, name) for key in state.names if (name := state.name_of(key)) is not None]

    def origins(self) -> Origins | None:
        """Return where the single events of a document stand, and the faults of the reading."""
        starts, places = self._inputs.singles
        return Origins(starts, [list(one) for one in places]) if starts else None

    def _chunks(self) -> Iterator[Chunk]:
        split, found = self._split, self._input
        if split.whole:
            opened = partial(_opened, found, 0)
            return self._inputs.chunks(found.name, opened)
        opened = partial(_opened, found, start_of_reading(split.start))
        return self._inputs.chunks(found.name, opened, self._lines)

    def _lines(self, stream: BinaryIO) -> Iterator[Chunk]:
        split = self._split
        within = blocks_within(stream, split.start, split.end, self._input.size, self._read)
        return lines(within, self._plan.max_line_bytes)

    def _read(self, size: int) -> None:
        self._size += size


@contextmanager
def _opened(found: Input, start: int) -> Iterator[BinaryIO]:
    """Open an input as it was at the plan. Raises E501 where it cannot be read, or has changed."""
    if found.failure:
        raise unreadable(found.name, OSError(errno.EIO, found.failure))
    try:
        if found.mark:
            _refuse_changed(found)
        with open_input(found.source, start) as stream:
            yield stream
        if found.mark:
            _refuse_changed(found)
    except OSError as error:
        raise unreadable(found.name, error) from None


def _refuse_changed(found: Input) -> None:
    """Raise ``OSError`` where an input is another than at the plan; a log may have grown."""
    if not storage.is_same(storage.Version(found.size, found.mark), storage.version(found.source)):
        raise OSError(errno.ESTALE, "it has changed since the run began")
