"""Finish a run: what the splits and partitions counted and found becomes one report."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.reading.sources import Origin, place_of_single
from streamt_ol.scale.check import collector_of
from streamt_ol.scale.groups import groups_of
from streamt_ol.scale.pieces import Across, KeySet, Name, Origins, Summary, decoded, encoded
from streamt_ol.scale.plan import LINE_BITS
from streamt_ol.validation.findings import LocatedFinding
from streamt_ol.validation.report.collector import Counts
from streamt_ol.validation.rules import finding
from streamt_ol.validation.stream.identities import NAMED

if TYPE_CHECKING:
    from streamt_ol.scale.plan import Plan
    from streamt_ol.scale.work_dir import WorkDir
    from streamt_ol.validation.report.collector import Collector, Report

_OFFSET = (1 << LINE_BITS) - 1
_NOTHING = Counts({}, {}, {}, [])


class Splits(NamedTuple):
    """All that is known of the splits: their counts, the continuous jobs, the rest in order."""

    collector: Collector
    continuous: set[int]
    summaries: list[Summary]


def splits_of(work: WorkDir, plan: Plan) -> Splits:
    """Read the summaries of all splits; what they found is not held twice."""
    splits = Splits(collector_of(plan), set(), [])
    for split in plan.splits:
        summary = decoded(work.read(f"summary-{split.number}"), Summary)
        splits.collector.take(summary.counts, summary.kinds, summary.blank)
        splits.continuous.update(summary.continuous)
        summary.counts, summary.continuous = _NOTHING, []
        splits.summaries.append(summary)
    return splits


def leave_across(work: WorkDir, plan: Plan, splits: Splits) -> int:
    """Leave what each merge needs of the others, ``across``; return how many merges there are."""
    firsts = []
    at = 0
    for number, (split, summary) in enumerate(zip(plan.splits, splits.summaries, strict=True)):
        if number and split.input != plan.splits[number - 1].input:
            at += 1  # as between the inputs of one process
        firsts.append(at)
        at += summary.lines
    parts = [summary.parts for summary in splits.summaries]
    groups = groups_of(work, plan, parts)
    continuous = KeySet.packed(splits.continuous)
    names = _first_names(work, plan)
    work.write("across", encoded(Across(groups, firsts, parts, continuous, names)))
    return len(groups)


def _first_names(work: WorkDir, plan: Plan) -> list[Name]:
    """Return the words for the identities that one process would have kept them for."""
    found: dict[int | bytes, str] = {}
    for split in plan.splits:
        if len(found) == NAMED:
            break
        for key, name in decoded(work.read(f"names-{split.number}"), list[Name]):
            if len(found) < NAMED:
                found.setdefault(key, name)
    return list(found.items())


def report_of(work: WorkDir, plan: Plan, splits: Splits, merges: int) -> Report:
    """Return the report of a run of which every piece is there."""
    collector, _, summaries = splits
    for number in range(merges):
        collector.take(decoded(work.read(f"merged-{number}"), Counts))
    collector.add(_empty(plan, summaries))
    origins = _OriginTable(work, plan, summaries)
    return collector.report(
        tuple(one.name for one in plan.inputs), origins.of, _failures(plan, summaries)
    )


def _empty(plan: Plan, summaries: list[Summary]) -> list[LocatedFinding]:
    """Return a note for each input that holds no event."""
    seen: Counter[int] = Counter()
    first: dict[int, int] = {}
    for split, summary in zip(plan.splits, summaries, strict=True):
        seen[split.input] += summary.seen
        first.setdefault(split.input, split.number)
    message = "there is no event in it"
    return [
        LocatedFinding(number << LINE_BITS, finding("OL-R009", "", message))
        for one, number in first.items()
        if not seen[one]
    ]


def _failures(plan: Plan, summaries: list[Summary]) -> tuple[StreamtOlError, ...]:
    """Return the errors of inputs that could not be read, one for each input."""
    found: dict[int, StreamtOlError] = {}
    for split, summary in zip(plan.splits, summaries, strict=True):
        if summary.failure is not None:
            message, file, suggestion = summary.failure
            error = StreamtOlError(
                PARSE, message, location=Location(file=file), suggestion=suggestion
            )
            found.setdefault(split.input, error)
    return tuple(found.values())


class _OriginTable:
    """Turns positions of splits into origins, as they are asked for."""

    def __init__(self, work: WorkDir, plan: Plan, summaries: list[Summary]) -> None:
        self._work = work
        self._plan = plan
        self._summaries = summaries
        before = list(accumulate((one.lines for one in summaries), initial=0))
        start: dict[int, int] = {}
        for split in plan.splits:
            start.setdefault(split.input, before[split.number])
        self._lines_before = [before[split.number] - start[split.input] for split in plan.splits]
        self._singles = lru_cache(maxsize=4)(self._read_singles)

    def of(self, position: int) -> Origin:
        """Return where the event at ``position`` stands."""
        number, offset = position >> LINE_BITS, position & _OFFSET
        name = self._plan.inputs[self._plan.splits[number].input].name
        before = self._lines_before[number]
        if self._summaries[number].has_origins:
            found = self._singles(number)
            single = place_of_single(found.starts, found.places, offset)
            if single is not None:
                line, pointer = single
                return Origin(name, before + line, pointer)
        return Origin(name, before + offset + 1, "")

    def _read_singles(self, number: int) -> Origins:
        return decoded(self._work.read(f"origins-{number}"), Origins)
