"""Validate an archive: plan, map, merge, finish, on the engine that was chosen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from streamt_ol import __version__
from streamt_ol.problems import INVALID, USAGE, Location, StreamtOlError
from streamt_ol.reading.opening import openers
from streamt_ol.scale import tasks
from streamt_ol.scale.engines import EngineOptions, engine
from streamt_ol.scale.finish import leave_across, report_of, splits_of
from streamt_ol.scale.pieces import Outcome, Summary, decoded, encoded
from streamt_ol.scale.plan import Plan, partitions_for, plan_inputs
from streamt_ol.scale.work_dir import work_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from streamt_ol.scale.engines import Engine, Task
    from streamt_ol.scale.options import ScaleOptions
    from streamt_ol.scale.work_dir import WorkDir
    from streamt_ol.validation.options import Options
    from streamt_ol.validation.report.collector import Report

    Progress = Callable[[int, int], None]
    Items = Callable[[int], bytes]  # the order for the task of a number

_FORMAT = "2"  # of the pieces in a work directory


def validate(
    names: Sequence[str], options: Options, scale: ScaleOptions, progress: Progress
) -> Report:
    """Check the inputs ``names`` in splits, and return the report of one process to the byte.

    ``progress`` is told the bytes read and the events checked so far. Raises E500 for a work
    directory of another run, E506 where the engine or the work directory fails.
    """
    with engine(scale.engine, EngineOptions(scale.jobs, scale.master)) as started:
        if scale.work_dir is None and not started.shares_files:
            raise StreamtOlError(
                USAGE,
                "workers on other machines need a work directory that all of them reach",
                location=Location(option="work_dir"),
                suggestion="name one, e.g. s3://bucket/pieces",
            )
        with work_dir(scale.work_dir) as work:
            plan = _plan(names, options, scale)
            work.claim(as_bytes := encoded(plan))
            items = partial(tasks.item, work, as_bytes)
            _check(started, work, plan, items, progress)
            splits = splits_of(work, plan)
            merges = leave_across(work, plan, splits)
            missing = map(items, _missing(work, "merged", range(merges)))
            for _ in _outcomes(started, tasks.merge, missing):
                pass
            return report_of(work, plan, splits, merges)


def _plan(names: Sequence[str], options: Options, scale: ScaleOptions) -> Plan:
    openers(names)  # refuses standard input twice
    try:
        inputs, splits = plan_inputs(names, scale.split_bytes)
    except OSError as error:
        location = Location(option="split_bytes")
        raise StreamtOlError(INVALID, error.strerror or "", location=location) from None
    return Plan(
        f"{__version__}/{_FORMAT}",
        inputs,
        splits,
        scale.partitions or partitions_for(inputs, splits),
        scale.partitions is not None,
        options.settings.max_line_bytes,
        options.max_problems,
        options.strict,
        sorted(options.settings.ignored),
    )


def _check(started: Engine, work: WorkDir, plan: Plan, items: Items, progress: Progress) -> None:
    """Check every split that is not checked yet; a pipe is read here, by the one that has it.

    A pipe is always read, and what could not be read is tried again.
    """
    here = [split.number for split in plan.splits if not plan.inputs[split.input].mark]
    there = _unchecked(work, plan)
    if here or there:  # what was merged before is not what there is to merge now
        work.remove(name for name in work.pieces() if name.startswith("merged-"))
    size = events = 0
    for number in here:
        done = decoded(tasks.check(items(number)), Outcome)
        _raise(done)
        size, events = size + done.size, events + done.events
        progress(size, events)
    for done in _outcomes(started, tasks.check, map(items, there)):
        size, events = size + done.size, events + done.events
        progress(size, events)


def _unchecked(work: WorkDir, plan: Plan) -> list[int]:
    marked = [split.number for split in plan.splits if plan.inputs[split.input].mark]
    missing = set(_missing(work, "summary", marked))
    for number in marked:
        if number not in missing:
            summary = decoded(work.read(f"summary-{number}"), Summary)
            if summary.failure is not None:
                missing.add(number)
    return sorted(missing)


def _missing(work: WorkDir, piece: str, numbers: Iterable[int]) -> list[int]:
    there = work.pieces()
    return [number for number in numbers if f"{piece}-{number}" not in there]


def _outcomes(started: Engine, task: Task, items: Iterable[bytes]) -> Iterable[Outcome]:
    for result in started.map(task, list(items)):
        done = decoded(result, Outcome)
        _raise(done)
        yield done


def _raise(done: Outcome) -> None:
    error = tasks.error_of(done)
    if error is not None:
        raise error
