"""From looks at a marker to transitions: nothing is invented, whatever is seen or missed."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from signal import SIGINT
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamt_ol.runs.child import Ended
from streamt_ol.runs.marker import (
    Intent,
    Marker,
    MarkerLocation,
    Unusable,
    local_location,
    marker_of,
    read_marker,
)
from streamt_ol.runs.operation import UNSEEN, Finished, OperationTracker, Started
from streamt_ol.runs.ownership import Look

IDS = [f"0000000{n}-3c5e-4d6a-9a51-7d1c1d8f2c11" for n in range(6)]
CLEAR = Marker("clear")
FINE, FAILED, STOPPED = Ended(0), Ended(1), Ended(130, SIGINT)


def in_progress(number: int, kind: str = "apply", progress: Any = "none") -> Marker:
    intent = Intent(IDS[number], kind, f"2026-03-14T09:00:0{number}Z")
    return Marker("in_progress", intent, progress)


def look(marker: Marker | Unusable, state: Any = "s0", control: Any = None, at: str = "t") -> Look:
    return Look(marker, control if control is not None else (marker, state), state, at)


def kinds(tracker: OperationTracker, *looks: Look, ended: Ended = FINE) -> list[str]:
    transitions = [t for one in looks for t in tracker.see(one)]
    transitions += tracker.end(looks[-1], ended)
    return ["START" if isinstance(t, Started) else t.how for t in transitions]


class TestTransitions:
    def test_begun_committed_cleared(self) -> None:
        tracker = OperationTracker(look(CLEAR))
        assert tracker.see(look(in_progress(1))) == [Started(IDS[1], "2026-03-14T09:00:01Z")]
        assert tracker.see(look(in_progress(1), "s1")) == []
        assert tracker.see(look(CLEAR, "s1", at="t2")) == [Finished("COMPLETE", "t2")]
        assert tracker.end(look(CLEAR, "s1"), FAILED) == []

    def test_a_commit_before_the_interrupt_is_complete(self) -> None:
        tracker = OperationTracker(look(CLEAR))
        looks = [look(in_progress(1)), look(CLEAR, "s1")]
        assert kinds(tracker, *looks, ended=STOPPED) == ["START", "COMPLETE"]

    @pytest.mark.parametrize("ended", [FINE, FAILED, STOPPED])
    def test_a_commit_already_in_the_first_look_at_an_operation(self, ended: Ended) -> None:
        looks = [look(in_progress(1, progress="all"), "s1"), look(CLEAR, "s1")]
        assert kinds(OperationTracker(look(CLEAR)), *looks, ended=ended) == ["START", "COMPLETE"]
        tracker = OperationTracker(look(CLEAR, "s0"))
        more = [look(in_progress(2, progress="all"), "s2"), look(CLEAR, "s2")]
        assert kinds(tracker, *looks, *more, ended=ended) == ["START", "COMPLETE"] * 2

    @pytest.mark.parametrize("ended", [FINE, FAILED, STOPPED])
    def test_a_commit_of_the_first_state_of_all(self, ended: Ended) -> None:
        looks = [look(in_progress(1), None), look(CLEAR, "s1")]
        tracker = OperationTracker(look(CLEAR, None))
        assert kinds(tracker, *looks, ended=ended) == ["START", "COMPLETE"]

    @pytest.mark.parametrize("before", ["s0", None])
    @pytest.mark.parametrize(
        ("ended", "how"), [(FINE, "COMPLETE"), (FAILED, "FAIL"), (STOPPED, "ABORT")]
    )
    def test_a_state_file_from_before_the_marker_is_no_commit(
        self, before: Any, ended: Ended, how: str
    ) -> None:
        """The first one is made just before the marker, seen in a look of its own or not."""
        looks = [look(CLEAR, "s1"), look(in_progress(1), "s1"), look(CLEAR, "s1")]
        for seen in (looks, looks[1:]):
            tracker = OperationTracker(look(CLEAR, before))
            assert kinds(tracker, *seen, ended=ended) == ["START", how]

    def test_a_state_replaced_after_the_clear_is_anothers(self) -> None:
        tracker = OperationTracker(look(CLEAR))
        looks = [look(in_progress(1)), look(CLEAR), look(CLEAR, "s1")]
        assert kinds(tracker, *looks, ended=FAILED) == ["START", "FAIL"]

    def test_a_commit_that_may_be_either_ones_is_the_earlier_ones(self) -> None:
        """Of the later one streamt's exit status has to tell."""
        for before, first in ((look(CLEAR), ["START", "COMPLETE"]), (look(in_progress(1)), [])):
            for ended, how in ((FINE, "COMPLETE"), (FAILED, "FAIL"), (STOPPED, "ABORT")):
                looks = [look(in_progress(1)), look(in_progress(2), "s1"), look(CLEAR, "s1")]
                told = kinds(OperationTracker(before), *looks, ended=ended)
                assert told == [*first, "START", how]

    @pytest.mark.parametrize("status", ["in_progress", "recovery_required"])
    def test_left_behind_is_never_complete(self, status: Any) -> None:
        for ended, how in ((FINE, "FAIL"), (FAILED, "FAIL"), (STOPPED, "ABORT")):
            tracker = OperationTracker(look(CLEAR))
            last = look(in_progress(1)._replace(status=status), "s1")
            assert kinds(tracker, look(in_progress(1)), last, ended=ended) == ["START", how]

    def test_an_operation_first_seen_at_the_end(self) -> None:
        tracker = OperationTracker(look(CLEAR))
        assert kinds(tracker, look(in_progress(1)), ended=FAILED) == ["START", "FAIL"]

    def test_the_next_operation_ends_the_one_before_it(self) -> None:
        for state, how in (("s1", "COMPLETE"), ("s0", "FAIL")):
            tracker = OperationTracker(look(CLEAR))
            looks = [look(in_progress(1)), look(in_progress(2), state), look(CLEAR, "s2")]
            assert kinds(tracker, *looks) == ["START", how, "START", "COMPLETE"]

    def test_an_earlier_intent_is_not_ours(self) -> None:
        tracker = OperationTracker(look(in_progress(1)))
        assert kinds(tracker, look(in_progress(1)), look(CLEAR, "s1"), ended=FAILED) == []

    def test_an_adoption_is_not_ours(self) -> None:
        tracker = OperationTracker(look(CLEAR))
        assert kinds(tracker, look(in_progress(1, "adopt")), look(CLEAR, "s1")) == []


class TestTrouble:
    def test_a_marker_that_came_and_went_unseen(self) -> None:
        tracker = OperationTracker(look(CLEAR, control=1))
        last = look(CLEAR, "s1", control=2)
        assert kinds(tracker, last) == []
        assert tracker.troubles(last, FINE) == [UNSEEN]

    def test_a_marker_that_was_only_created(self) -> None:
        tracker = OperationTracker(Look(CLEAR, None, None, "t"))
        last = Look(CLEAR, 1, None, "t")
        assert kinds(tracker, last) == []
        assert tracker.troubles(last, FINE) == []

    def test_a_clear_marker_in_place_of_one_that_said_nothing(self) -> None:
        tracker = OperationTracker(look(Unusable("?"), control=1))
        last = look(CLEAR, control=2)
        assert kinds(tracker, last) == []
        assert tracker.troubles(last, FINE) == []
        committed = look(CLEAR, "s1", control=2)
        assert kinds(tracker, committed) == []
        assert tracker.troubles(committed, FINE) == [UNSEEN]

    def test_the_end_of_an_earlier_operation(self) -> None:
        tracker = OperationTracker(look(in_progress(1), control=1))
        last = look(CLEAR, "s1", control=2)
        assert kinds(tracker, last) == []
        assert tracker.troubles(last, FINE) == []

    def test_nothing_happened(self) -> None:
        tracker = OperationTracker(look(CLEAR, control=1))
        assert tracker.troubles(look(CLEAR, control=1), FINE) == []

    def test_an_operation_that_was_seen_is_no_trouble(self) -> None:
        tracker = OperationTracker(look(CLEAR, control=1))
        last = look(CLEAR, "s1", control=3)
        assert kinds(tracker, look(in_progress(1), control=2), last) == ["START", "COMPLETE"]
        assert tracker.troubles(last, FINE) == []

    def test_a_passing_fault_is_no_trouble(self) -> None:
        tracker = OperationTracker(look(CLEAR))
        last = look(CLEAR, "s1")
        looks = [look(Unusable("?")), look(in_progress(1)), look(Unusable("?")), last]
        assert kinds(tracker, *looks) == ["START", "COMPLETE"]
        assert tracker.troubles(last, FINE) == []


MARKERS = st.one_of(
    st.just(CLEAR),
    st.just(Unusable("it is not JSON")),
    st.builds(
        lambda number, kind, status: Marker(status, in_progress(number, kind).intent),
        st.integers(0, 5),
        st.sampled_from(["apply", "apply", "adopt"]),
        st.sampled_from(["in_progress", "recovery_required"]),
    ),
)
LOOKS = st.lists(st.builds(look, MARKERS, st.sampled_from(["s0", "s1", "s2"])), max_size=12)


@given(st.builds(look, MARKERS), LOOKS, st.sampled_from([FINE, FAILED, STOPPED]))
def test_whatever_is_seen_each_start_has_one_end_and_an_intent(
    before: Look, looks: list[Look], ended: Ended
) -> None:
    tracker = OperationTracker(before)
    last = looks[-1] if looks else before
    transitions = [t for one in looks for t in tracker.see(one)] + tracker.end(last, ended)
    starts, ends = transitions[::2], transitions[1::2]
    assert all(isinstance(t, Started) for t in starts)
    assert all(isinstance(t, Finished) for t in ends)
    assert len(starts) == len(ends)
    ids = [t.run_id for t in starts if isinstance(t, Started)]
    assert len(set(ids)) == len(ids)
    seen = {
        one.marker.intent.operation_id
        for one in looks
        if isinstance(one.marker, Marker)
        and one.marker.intent
        and one.marker.intent.kind == "apply"
    }
    assert set(ids) <= seen
    if isinstance(before.marker, Marker) and before.marker.intent:
        assert before.marker.intent.operation_id not in ids
    if ended.exit_status:
        for run_id, last_one in zip(ids, ends, strict=True):
            of_run = [bool(one.intent and one.intent.operation_id == run_id) for one in looks]
            since = {one.state for one in looks[of_run.index(True) :]}
            assert len(since) > 1 or (isinstance(last_one, Finished) and last_one.how != "COMPLETE")


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(["operation_id", "kind", "started_at", "x"])
    return st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4)


def _read(document: Any) -> Marker | Unusable:

    return marker_of(document, MarkerLocation(Path("e.control.json"), "p", "e"))


class TestReading:
    def marker(self, folder: Path, **fields: Any) -> Path:
        path = folder / "prod.control.json"
        intent = {"operation_id": IDS[1], "kind": "apply", "started_at": "2026-03-14T09:00:00Z"}
        document = {
            "control_version": 1,
            "address": "streamt-state://local/acme%2Fshop/prod",
            "status": "in_progress",
            "intent": intent,
            **fields,
        }
        path.write_text(json.dumps(document))
        return path

    def test_what_is_read(self, tmp_path: Path) -> None:
        place = MarkerLocation(self.marker(tmp_path), "acme/shop", "prod")
        intent = Intent(IDS[1], "apply", "2026-03-14T09:00:00Z")
        assert read_marker(place)[0] == Marker("in_progress", intent)

    def test_the_address_may_hold_the_name_as_it_is(self, tmp_path: Path) -> None:
        path = self.marker(tmp_path, address="streamt-state://local/acme/shop/prod")
        assert isinstance(read_marker(MarkerLocation(path, "acme/shop", "prod"))[0], Marker)
        for project, environment in (("acme", "prod"), ("acme/shop", "dev"), ("shop", "prod")):
            assert isinstance(read_marker(MarkerLocation(path, project, environment))[0], Unusable)

    def test_another_backend_only_where_the_file_was_named(self, tmp_path: Path) -> None:
        path = self.marker(tmp_path, address="streamt-state://s3/acme%2Fshop/prod")
        assert isinstance(read_marker(MarkerLocation(path, "acme/shop", "prod"))[0], Unusable)
        assert isinstance(read_marker(MarkerLocation(path, "acme/shop", "prod", None))[0], Marker)

    def test_no_file_is_clear(self, tmp_path: Path) -> None:
        assert read_marker(local_location(tmp_path, "shop", "prod"))[0] == CLEAR

    def test_the_identity_is_that_of_the_file_that_was_read(self, tmp_path: Path) -> None:
        usable = self.marker(tmp_path)
        contents = {len(usable.read_bytes()): Marker, 1: Unusable}
        (tmp_path / "damaged").write_text("{")
        (tmp_path / "usable").write_bytes(usable.read_bytes())
        seen: set[type] = set()
        ended = threading.Event()

        def replace() -> None:
            for _ in range(2_000):
                for name in ("damaged", "usable"):
                    os.link(tmp_path / name, tmp_path / "new")
                    (tmp_path / "new").replace(usable)
            ended.set()

        replacing = threading.Thread(target=replace)
        replacing.start()
        while not ended.is_set():
            marker, identity = read_marker(MarkerLocation(usable, "acme/shop", "prod"))
            assert isinstance(identity, tuple)
            assert isinstance(marker, contents[identity[-1]])
            seen.add(type(marker))
        replacing.join()
        assert seen == {Marker, Unusable}

    def test_a_clear_marker_has_no_intent(self, tmp_path: Path) -> None:
        path = self.marker(tmp_path, status="clear", intent=None)
        assert read_marker(MarkerLocation(path, "acme/shop", "prod"))[0] == CLEAR

    @pytest.mark.parametrize("content", [b"", b"\xff", b"null", b"3", b"[" * 100_000, b"{}"])
    def test_garbage_is_a_value(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "prod.control.json"
        path.write_bytes(content)
        assert isinstance(read_marker(MarkerLocation(path, "acme/shop", "prod"))[0], Unusable)

    @given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), _nested))
    def test_any_json_is_a_value(self, document: Any) -> None:
        for field in ("control_version", "address", "status", "intent"):
            fields = {
                "control_version": 1,
                "address": "streamt-state://local/p/e",
                "status": "in_progress",
                "intent": document,
                field: document,
            }
            assert isinstance(_read(fields), Marker | Unusable)
