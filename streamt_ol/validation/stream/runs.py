"""The state of the runs of a part of a stream: the larger half of what the stream rules need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.validation.stream import facts
from streamt_ol.validation.stream.facts import END, ENDINGS, MOMENT, START, Moment, Run
from streamt_ol.validation.stream.further import further_key, run_of
from streamt_ol.validation.stream.packing import packed_inputs, run_inputs
from streamt_ol.validation.stream.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamt_ol.validation.stream.facts import Heads

_LOW = 0xFFFFFFFF


class RunState:
    """The state of the runs.

    ``runs`` packs a run by its key, ``inputs`` a checksum and position by the key of a run of
    streamt's own. The ``more_...`` tables hold what breaks rules: runs of the same id by other
    jobs, further STARTs and ends by ``further_key``, other inputs. ``half_known`` has the
    ``facts.part_key`` of the STARTs and ends of which nothing else is known. ``repeated`` holds
    the positions of events repeated to the byte, for the reader to take away.
    """

    def __init__(self) -> None:
        self.runs: dict[int, bytes] = {}
        self.inputs: dict[int, bytes] = {}
        self.more_runs: dict[int, dict[int, bytes]] = {}
        self.more_moments: dict[bytes, bytes] = {}
        self.more_inputs: dict[int, dict[int, int]] = {}
        self.half_known: set[int] = set()
        self.window = Window()
        self.repeated: list[int] = []

    def note_run(
        self, key: int, event_type: str | None, heads: Heads, moment: tuple[int, int, int]
    ) -> None:
        """Note an event of the run of ``key``; ``moment`` has a ``Moment``'s members.

        Most events of runs are a START that is the first of its run, or the end of such a run:
        what is packed is put together without unpacking it.
        """
        known = self.runs.get(key)
        _, _, started, ended = heads
        if known is None:
            if event_type == "START":
                at, checksum, position = moment
                packed = MOMENT.pack(at, checksum, position & _LOW, position >> 32)
                self.runs[key] = started + packed
                return
        elif event_type in ENDINGS and known.startswith(started):
            at, checksum, position = moment
            packed = MOMENT.pack(at, checksum, position & _LOW, position >> 32)
            self.runs[key] = ended + known[len(started) :] + packed
            return
        self._note_other(key, event_type, heads, Moment(*moment))

    def _note_other(self, key: int, event_type: str | None, heads: Heads, moment: Moment) -> None:
        run = facts.run_facts(event_type, heads, moment)
        if (
            run.start is None
            and run.end is None
            and self.window.repeats(key << 32 | moment.checksum, moment.position)
        ):
            self.repeated.append(moment.position)
        self._add_run(key, run)

    def note_inputs(self, key: int, checksum: int, position: int) -> None:
        """Note the inputs of a run of streamt's own; keep the first, and where others are."""
        data = self.inputs.setdefault(key, packed_inputs(checksum, position))
        if checksum != run_inputs(data)[0]:
            more = self.more_inputs.setdefault(key, {})
            more[checksum] = min(position, more.get(checksum, position))

    def absorb_runs(self, later: RunState) -> None:
        """Join the state of the runs of the part of the stream that follows this one."""
        self.repeated += later.repeated
        self.repeated += self.window.absorb(later.window)
        self.half_known |= later.half_known
        for key, data in later.runs.items():
            if key in self.runs:
                self._add_run(key, facts.unpacked(data))
            else:
                self.runs[key] = data
        for key, runs in later.more_runs.items():
            for data in runs.values():
                self._add_run(key, facts.unpacked(data))
        for further, data in later.more_moments.items():
            key, job, part = run_of(further)
            self._add_run(key, facts.run_facts_of(job, part, facts.unpacked_moment(data)))
        for key, data in later.inputs.items():
            self.note_inputs(key, *run_inputs(data))
        for key, inputs in later.more_inputs.items():
            for checksum, position in inputs.items():
                self.note_inputs(key, checksum, position)

    def all_runs(self, key: int) -> Iterator[Run]:
        """Yield the runs of one run id, one for each job, in the order of their first events."""
        packed = [self.runs[key], *self.more_runs.get(key, {}).values()]
        packed.sort(key=lambda data: facts.unpacked(data).first)
        return map(facts.unpacked, packed)

    def _add_run(self, key: int, run: Run) -> None:
        data = self.runs.get(key)
        if data is None:
            self.runs[key] = facts.packed(run)
            return
        known = facts.unpacked(data)
        if known.job == run.job:
            self.runs[key] = facts.packed(self._joined(key, known, run))
            return
        others = self.more_runs.setdefault(key, {})
        if run.job in others:
            run = self._joined(key, facts.unpacked(others[run.job]), run)
        others[run.job] = facts.packed(run)

    def _joined(self, key: int, one: Run, other: Run) -> Run:
        """Return what is known of the events of one run by one job; ``other`` is the later."""
        running = [moment for moment in (one.running, other.running) if moment is not None]
        return Run(
            one.job,
            min(one.first, other.first),
            one.generated or other.generated,
            self._first(key, one.job, START, one.start, other.start),
            self._first(key, one.job, END, one.end, other.end),
            max(running, key=lambda moment: (moment.ticks, -moment.position), default=None),
        )

    def _first(
        self, key: int, job: int, part: str, one: Moment | None, other: Moment | None
    ) -> Moment | None:
        """Return the first START, or end, of a run; keep a later one that differs from all."""
        if one is None or other is None:
            return one or other
        further = further_key(key, job, part, other.checksum)
        if other.checksum == one.checksum or further in self.more_moments:
            self.repeated.append(other.position)
        else:
            self.more_moments[further] = facts.packed_moment(other)
        return one
