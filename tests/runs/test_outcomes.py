"""The ends of an operation, case by case, and the table of `docs/runs.md` that lists the cases."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from signal import SIGINT, SIGTERM
from typing import Any

import pytest

from streamt_ol.runs.child import Ended
from streamt_ol.runs.marker import Intent, Marker, MarkerLocation, marker_of
from streamt_ol.runs.operation import Finished, OperationTracker, Started
from streamt_ol.runs.ownership import Look
from streamt_ol.runs.wrapped import outcome

ID = "00000001-3c5e-4d6a-9a51-7d1c1d8f2c11"
INTENT = Intent(ID, "apply", "2026-03-14T09:00:01Z")
ENDS = {
    "0": Ended(0),
    "other": Ended(1),
    "130": Ended(130),
    "killed by SIGINT": Ended(130, killed_by=SIGINT),
    "0, SIGINT": Ended(0, SIGINT),
    "other, SIGINT": Ended(1, SIGINT),
    "130, SIGINT": Ended(130, SIGINT),
    "0, SIGTERM": Ended(0, SIGTERM),
    "other, SIGTERM": Ended(143, SIGTERM, killed_by=SIGTERM),
}
INTERRUPTED = {"130", "killed by SIGINT", "0, SIGINT", "other, SIGINT", "130, SIGINT"}
PROGRESS = ("none", "some", "all", "failed")


def how(
    progress: Any, last: Marker, ended: Ended, *, replaced: bool, at_the_start: Any = "s0"
) -> str:
    before = Look(Marker("clear"), 0, at_the_start, "t0")
    tracker = OperationTracker(before)
    begun = Look(Marker("in_progress", INTENT, progress), 1, "s0", "t1")
    end = Look(last, 2, "s1" if replaced else "s0", "t2")
    start, *rest = [*tracker.see(begun), *tracker.end(end, ended)]
    assert start == Started(ID, INTENT.started_at)
    (finished,) = rest
    assert isinstance(finished, Finished)
    assert finished.at == "t2"
    return finished.how


def expected(progress: str, end: str, *, cleared: bool, replaced: bool, recorded: bool) -> str:
    """Return the answer of the page, worked out from its sentences and not from the code's."""
    succeeded = end in {"0", "0, SIGINT", "0, SIGTERM"}
    if cleared and progress == "all":
        return "COMPLETE"
    if cleared and progress in {"none", "some"} and (replaced or succeeded):
        return "COMPLETE"
    return "ABORT" if end in INTERRUPTED or recorded else "FAIL"


@pytest.mark.parametrize("at_the_start", ["s0", None, "older"])
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("progress", PROGRESS)
def test_every_case(progress: str, end: str, at_the_start: Any) -> None:
    """A state file that appeared, or was replaced, before the marker stood makes no difference."""
    for replaced in (True, False):
        cleared = how(
            progress, Marker("clear"), ENDS[end], replaced=replaced, at_the_start=at_the_start
        )
        assert cleared == expected(progress, end, cleared=True, replaced=replaced, recorded=False)
        for status, recorded in itertools.product(("in_progress", "recovery_required"), (0, 1)):
            last = Marker(status, INTENT, progress, interrupted=bool(recorded))  # type: ignore[arg-type]
            left = how(progress, last, ENDS[end], replaced=replaced, at_the_start=at_the_start)
            assert left == expected(
                progress, end, cleared=False, replaced=replaced, recorded=bool(recorded)
            )


ROW = re.compile(
    r"^\| (cleared|left) \| ([^|]*) \| ([^|]*) \| ([^|]*) \| `(\w+)` \|$", re.MULTILINE
)
WORDS: dict[str, dict[str, Any]] = {
    "progress": {"any": PROGRESS, "none or some": ("none", "some"), "not failed": PROGRESS[:3]}
    | {word: (word,) for word in PROGRESS},
    "state": {"any": (True, False), "replaced": (True,), "not replaced": (False,)},
    "end": {
        "any": tuple(ENDS),
        "exit status 0": ("0", "0, SIGINT", "0, SIGTERM"),
        "interrupted": tuple(INTERRUPTED),
        "interrupted, not 0": tuple(INTERRUPTED - {"0, SIGINT"}),
        "neither": ("other", "other, SIGTERM"),
        "not interrupted": ("0", "other", "0, SIGTERM", "other, SIGTERM"),
    },
}


def test_the_page_lists_every_case_once_and_truly() -> None:
    page = (Path(__file__).parents[2] / "docs/runs.md").read_text()
    listed: dict[tuple[str, str, bool, str], str] = {}
    for marker, progress, state, end, result in ROW.findall(page):
        for case in itertools.product(
            [marker], WORDS["progress"][progress], WORDS["state"][state], WORDS["end"][end]
        ):
            assert case not in listed, case
            listed[case] = result
    for (marker, progress, replaced, end), result in listed.items():
        last = Marker("clear") if marker == "cleared" else Marker("in_progress", INTENT)
        assert how(progress, last, ENDS[end], replaced=replaced) == result
    assert len(listed) == 2 * len(PROGRESS) * 2 * len(ENDS)


@pytest.mark.parametrize(
    ("end", "of_streamt", "of_any"),
    [
        ("0", "COMPLETE", "COMPLETE"),
        ("other", "FAIL", "FAIL"),
        ("130", "ABORT", "FAIL"),
        ("killed by SIGINT", "ABORT", "ABORT"),
        ("0, SIGINT", "ABORT", "COMPLETE"),
        ("other, SIGINT", "ABORT", "ABORT"),
        ("130, SIGINT", "ABORT", "ABORT"),
        ("0, SIGTERM", "COMPLETE", "COMPLETE"),
        ("other, SIGTERM", "FAIL", "FAIL"),
    ],
)
def test_the_end_of_a_command(end: str, of_streamt: str, of_any: str) -> None:
    assert outcome(ENDS[end], streamt=True) == of_streamt
    assert outcome(ENDS[end], streamt=False) == of_any


def action(index: Any, status: Any = "completed", succeeded: Any = True) -> dict[str, Any]:
    return {"action_index": index, "status": status, "succeeded": succeeded}


@pytest.mark.parametrize(
    ("actions", "entries", "progress"),
    [
        ([], [], "none"),
        ([1, 2], [], "none"),
        ([1, 2], None, "none"),
        ([1, 2], {}, "none"),
        ([1], [action(0, "started", None)], "some"),
        ([1], [action(0, "started", False)], "some"),
        ([1, 2], [action(0)], "some"),
        ([1, 2], [action(0), action(0)], "some"),
        ([1, 2], [action(0), action(7)], "some"),
        ([1, 2], [action(0), action(1)], "all"),
        ([1, 2], [action(1), action(0, "started", None), action(0)], "all"),
        ([1, 2], [action(0), action(1, succeeded=False)], "failed"),
        ([1, 2], [action(0), action(1, succeeded=None)], "some"),
        ([1, 2], ["a", 3, None], "some"),
        ([1], [action([])], "some"),
        ([], [action(0)], "some"),
        (None, [action(0)], "some"),
        ("xy", [action(0), action(1)], "some"),
    ],
)
def test_how_far_the_actions_have_come(actions: Any, entries: Any, progress: str) -> None:
    document = {
        "control_version": 3,
        "address": "streamt-state://local/p/e",
        "status": "in_progress",
        "intent": {**INTENT._asdict(), "actions": actions},
        "progress": entries,
    }
    place = MarkerLocation(Path("e.control.json"), "p", "e")
    assert marker_of(document, place) == Marker("in_progress", INTENT, progress)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("recovery", "interrupted"),
    [
        ({"failure_code": "operation_interrupted"}, True),
        ({"failure_code": "action_failed"}, False),
        ({}, False),
        (None, False),
        (["operation_interrupted"], False),
    ],
)
def test_a_recovery_record(recovery: Any, interrupted: bool) -> None:
    document = {
        "control_version": 5,
        "address": "streamt-state://local/p/e",
        "status": "recovery_required",
        "intent": INTENT._asdict(),
        "recovery": recovery,
    }
    marker = marker_of(document, MarkerLocation(Path("e.control.json"), "p", "e"))
    assert marker == Marker("recovery_required", INTENT, "none", interrupted)
