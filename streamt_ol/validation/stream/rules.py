"""The rules over a whole stream, judged from its state once it has ended.

Implements "finite runs have exactly one START and one terminal event with identical run and
job identity" and the uniqueness of static identities of "Offline validation boundary". A message
that has an earlier event ends with its location, which only the report knows.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from streamt_ol.redaction import shown
from streamt_ol.validation.findings import LocatedFinding
from streamt_ol.validation.rules import finding
from streamt_ol.validation.stream import facts
from streamt_ol.validation.stream.facts import END, START
from streamt_ol.validation.stream.further import FurtherMoments
from streamt_ol.validation.stream.packing import (
    is_dataset,
    job_type,
    run_inputs,
    static_position,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from streamt_ol.validation.stream.facts import Run
    from streamt_ol.validation.stream.state import StreamState

_TYPE_POINTER = "/job/facets/jobType/processingType"
_MORE = {START: "OL-R031", END: "OL-R032"}
_NAMES = {START: "START", END: "terminal event"}


def repeated(state: StreamState) -> Iterator[LocatedFinding]:
    """Take the positions of repeated events from ``state`` and yield their notes."""
    positions, state.repeated = state.repeated, []
    for position in positions:
        yield _located(position, "OL-R035", "", "repeated to the byte: a duplicate by delivery")


def continuous_jobs(state: StreamState) -> set[int]:
    """Return the keys of the jobs that are streams or services by any of their events."""
    found = {job for job, data in state.types.items() if job_type(data)[0] in facts.CONTINUOUS}
    found.update(
        job for job, types in state.more_types.items() if not facts.CONTINUOUS.isdisjoint(types)
    )
    return found


def stream_findings(state: StreamState, continuous: Collection[int]) -> Iterator[LocatedFinding]:
    """Yield each finding about the stream as a whole, with the position of the event it names.

    ``continuous`` holds the keys of the jobs whose runs need no end: ``continuous_jobs``.
    """
    yield from repeated(state)
    further = FurtherMoments(state.more_moments)
    for key, data in state.runs.items():
        if key in state.more_runs:
            yield from _shared_run(state, further, key)
        elif not facts.is_quiet(data):
            yield from _run(state, further, continuous, key)
    for key in further.runs():
        if key not in state.more_runs and facts.is_quiet(state.runs[key]):
            yield from _run(state, further, continuous, key)
    yield from _statics(state)
    yield from _types(state)
    yield from _inputs(state)


def _located(
    position: int, rule: str, pointer: str, message: str, earlier: int = -1
) -> LocatedFinding:
    return LocatedFinding(position, finding(rule, pointer, message), earlier=earlier)


def _run(
    state: StreamState, further: FurtherMoments, continuous: Collection[int], key: int
) -> Iterator[LocatedFinding]:
    """Yield what is wrong with a run of one job."""
    run = facts.unpacked(state.runs[key])
    if not _is_quiet(run) or any(any(further.of(key, run.job, part)) for part in (START, END)):
        yield from _order(further, key, run)
        if run.generated or run.job not in continuous:
            yield from _missing(state, key, run)


def _is_quiet(run: Run) -> bool:
    """Tell whether a run has its two ends in order: most have, and there is nothing to say."""
    start, end, running = run.start, run.end, run.running
    if start is None or end is None or start.ticks > end.ticks:
        return False
    return running is None or running.ticks <= end.ticks


def _shared_run(state: StreamState, further: FurtherMoments, key: int) -> Iterator[LocatedFinding]:
    """Yield that several jobs have one run id; a START or end of each is not a second one."""
    runs = state.all_runs(key)
    first = next(runs)
    yield from _order(further, key, first)
    before = _named(state, first.job)
    for run in runs:
        now = _named(state, run.job)
        message = f"run {facts.run_id_of(key)} belongs to {now} here, and to {before}"
        yield _located(run.first, "OL-R030", "/job", message, first.first)
        yield from _order(further, key, run)


def _named(state: StreamState, job: int) -> str:
    name = state.name_of(job)
    return "another job" if name is None else f"the job {name}"


def _order(further: FurtherMoments, key: int, run: Run) -> Iterator[LocatedFinding]:
    """Yield further STARTs and ends of a run, and what is later than its end."""
    run_id = facts.run_id_of(key)
    for part, first in ((START, run.start), (END, run.end)):
        for moment in further.of(key, run.job, part):
            assert first is not None
            message = f"a second {_NAMES[part]} of run {run_id}; the first is"
            yield _located(moment.position, _MORE[part], "/eventType", message, first.position)
    if run.end is None:
        return
    # Whichever end stands first in the input, a run is over at the earliest.
    ends = chain((run.end,), further.of(key, run.job, END))
    over = min(ends, key=lambda one: (one.ticks, one.position))
    starts = () if run.start is None else chain((run.start,), further.of(key, run.job, START))
    for start in starts:
        if start.ticks > over.ticks:
            message = f"START later than the terminal event of run {run_id}"
            yield _located(start.position, "OL-R033", "/eventType", message, over.position)
    if run.running is not None and run.running.ticks > over.ticks:
        message = f"RUNNING later than the terminal event of run {run_id}"
        yield _located(run.running.position, "OL-R034", "/eventType", message, over.position)


def _missing(state: StreamState, key: int, run: Run) -> Iterator[LocatedFinding]:
    """Yield the ends that a run misses: streamt's own must have both, another finite one too."""
    for moment, rule, part in ((run.start, "OL-R036", START), (run.end, "OL-R037", END)):
        if moment is None and facts.part_key(key, part) not in state.half_known:
            message = f"run {facts.run_id_of(key)} has no {_NAMES[part]} in the input"
            rule_here = "OL-R058" if run.generated else rule
            yield _located(run.first, rule_here, "/run/runId", message)


def _statics(state: StreamState) -> Iterator[LocatedFinding]:
    for further, version in state.more_statics.items():
        key = further[: -facts.CHECKSUM_BYTES]
        entity = "dataset" if is_dataset(version) else "job"
        known = state.name_of(key)
        name = f"this {entity}" if known is None else f"the {entity} {known}"
        message = f"{name} is described for the same time already"
        earlier = static_position(state.statics[key])
        yield _located(static_position(version), "OL-R039", f"/{entity}", message, earlier)


def _types(state: StreamState) -> Iterator[LocatedFinding]:
    for key, types in state.more_types.items():
        before, earlier = job_type(state.types[key])
        for name, position in types.items():
            message = f"{_named(state, key)} is {shown(name)} here, and was {shown(before)}"
            yield _located(position, "OL-R038", _TYPE_POINTER, message, earlier)


def _inputs(state: StreamState) -> Iterator[LocatedFinding]:
    """Yield the inputs of streamt's own runs that are not those of an earlier event."""
    for key, inputs in state.more_inputs.items():
        _, earlier = run_inputs(state.inputs[key])
        for position in inputs.values() if key not in state.more_runs else ():
            message = f"the inputs of run {facts.run_id_of(key)} differ from those"
            yield _located(position, "OL-R058", "/inputs", message, earlier)
