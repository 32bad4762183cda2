"""The rules over a whole stream, judged from its memory once it has ended.

Implements "finite runs have exactly one START and one terminal event with identical run and
job identity" and the uniqueness of static identities of "Offline validation boundary".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.validation.findings import Placed
from streamt_ol.validation.rules import finding
from streamt_ol.validation.stream import facts
from streamt_ol.validation.stream.facts import END, START
from streamt_ol.validation.stream.state import (
    Memory,
    is_dataset,
    job_type,
    static_position,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamt_ol.validation.stream.facts import Run

_TYPE_POINTER = "/job/facets/jobType/processingType"


def repeated(memory: Memory) -> Iterator[Placed]:
    """Take the positions of repeated events from ``memory`` and yield their notes."""
    positions, memory.repeated = memory.repeated, []
    for position in positions:
        yield _placed(position, "OL-R035", "", "repeated to the byte: a duplicate by delivery")


def stream_findings(memory: Memory) -> Iterator[Placed]:
    """Yield each finding about the stream as a whole, with the position of the event it names."""
    yield from repeated(memory)
    for key, data in memory.runs.items():
        run = facts.unpacked(data)
        more = (key, START) in memory.more_moments or (key, END) in memory.more_moments
        if more or not _is_quiet(run):
            yield from _run(memory, key, run)
    for (key, part), moments in memory.more_moments.items():
        for moment in moments:
            message = f"a second {_NAMES[part]} of run {facts.run_id_of(key)}"
            yield _placed(moment.position, _MORE[part], "/eventType", message)
    yield from _jobs(memory)
    for versions in memory.more_statics.values():
        for version in versions:
            entity = "dataset" if is_dataset(version) else "job"
            message = f"another event of the same time describes this {entity} already"
            yield _placed(static_position(version), "OL-R039", f"/{entity}", message)
    for key, types in memory.more_types.items():
        before = job_type(memory.types[key])[0]
        for name, position in types.items():
            message = f"the job was {before} before, and is {name} here"
            yield _placed(position, "OL-R038", _TYPE_POINTER, message)


_MORE = {START: "OL-R031", END: "OL-R032"}
_NAMES = {START: "START", END: "terminal event"}


def _placed(position: int, rule: str, pointer: str, message: str) -> Placed:
    return Placed(position, finding(rule, pointer, message))


def _is_quiet(run: Run) -> bool:
    """Tell whether a run has its two ends in order: most have, and nothing is to say."""
    start, end, running = run.start, run.end, run.running
    if start is None or end is None or start.ticks > end.ticks:
        return False
    return running is None or running.ticks <= end.ticks


def _run(memory: Memory, key: int, run: Run) -> Iterator[Placed]:
    run_id = facts.run_id_of(key)
    if run.end is not None:
        # Whichever end stands first in the input, a run is over at the earliest.
        over = min(one.ticks for one in (run.end, *memory.more_moments.get((key, END), ())))
        starts = [run.start, *memory.more_moments.get((key, START), ())]
        for start in starts:
            if start is not None and start.ticks > over:
                message = f"START later than the terminal event of run {run_id}"
                yield _placed(start.position, "OL-R033", "/eventType", message)
        if run.running is not None and run.running.ticks > over:
            message = f"RUNNING later than the terminal event of run {run_id}"
            yield _placed(run.running.position, "OL-R034", "/eventType", message)
    yield from _ends(memory, key, run, run_id)


def _ends(memory: Memory, key: int, run: Run, run_id: str) -> Iterator[Placed]:
    """Yield the ends that a run misses: streamt's own must have both, a continuous one none."""
    if not run.generated and _is_continuous(memory, {run.job, *memory.more_jobs.get(key, ())}):
        return
    for moment, rule, part in ((run.start, "OL-R036", START), (run.end, "OL-R037", END)):
        if moment is None and (key, part) not in memory.half_known:
            message = f"run {run_id} has no {_NAMES[part]} in the input"
            rule_here = "OL-R058" if run.generated else rule
            yield _placed(run.first, rule_here, "/run/runId", message)


def _is_continuous(memory: Memory, jobs: set[int]) -> bool:
    types = {job_type(memory.types[job])[0] for job in jobs if job in memory.types}
    types.update(name for job in jobs for name in memory.more_types.get(job, ()))
    return not types.isdisjoint(facts.CONTINUOUS)


def _jobs(memory: Memory) -> Iterator[Placed]:
    for key, jobs in memory.more_jobs.items():
        own = facts.unpacked(memory.runs[key]).job
        for job, position in jobs.items():
            if job != own:
                message = f"run {facts.run_id_of(key)} belongs to another job in an earlier event"
                yield _placed(position, "OL-R030", "/job", message)
