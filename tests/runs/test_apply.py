"""`streamt-ol apply`: the durable operation, seen from outside, at every point where it can end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from support.streamt.place import NAMESPACE, Json, Place, kinds, read_until, wait_for
from support.streamt.stand_in import SECRET
from support.streamt.terminal import Terminal

from streamt_ol.runs import watch

W112 = "W112_OPENLINEAGE_EMIT_FAILED"
OPERATION = "0b1f8f6e-3c5e-4d6a-9a51-7d1c1d8f2c11"
STARTED = "2026-03-14T09:26:53.589793+00:00"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


class TestTheDurableBoundary:
    def test_start_and_complete_have_the_operations_own_id_and_time(self, place: Place) -> None:
        done = place.run("apply", plan={"operation": OPERATION, "started_at": STARTED})
        assert (done.returncode, done.stdout, done.stderr) == (0, b"applied\n", b"")
        start, end = place.events()
        assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
        assert start["run"] == end["run"] == {"runId": OPERATION}
        assert start["eventTime"] == STARTED
        assert start["job"] == end["job"]
        assert start["job"]["namespace"] == NAMESPACE
        assert start["job"]["name"] == "streamt/shop/commands/apply"
        facet = start["job"]["facets"]["jobType"]
        assert (facet["processingType"], facet["integration"], facet["jobType"]) == (
            "BATCH",
            "STREAMT",
            "COMMAND",
        )
        for event in (start, end):
            assert not {"inputs", "outputs"} & set(event)

    @pytest.mark.parametrize("at", ["begin", "progress", "state"])
    @pytest.mark.parametrize("then", ["crash", "recovery", "kill"])
    def test_a_marker_that_stays_is_fail(self, place: Place, at: str, then: str) -> None:
        status, events, warnings = place.apply_here({"at": at, "then": then, "exit": 3})
        assert status == (128 + signal.SIGKILL if then == "kill" else 3)
        assert (kinds(events), warnings) == (["START", "FAIL"], [])
        message = events[1]["run"]["facets"]["errorMessage"]["message"]
        how = "in need of recovery" if then == "recovery" else "still in progress"
        assert message == f"streamt apply ended with exit status {status}, its operation {how}"

    def test_a_marker_cleared_before_a_mutation_is_fail(self, place: Place) -> None:
        status, events, warnings = place.apply_here({"at": "begin", "then": "rollback"})
        assert (status, kinds(events), warnings) == (1, ["START", "FAIL"], [])
        message = events[1]["run"]["facets"]["errorMessage"]["message"]
        assert message.endswith("exit status 1, its operation cleared without a commit")

    @pytest.mark.parametrize("watchdog", [True, False])
    @pytest.mark.parametrize("gap", [0, 0.001, 0.005, 0.01, 0.15])
    @pytest.mark.parametrize(("exit_status", "how"), [(1, "FAIL"), (130, "ABORT")])
    @pytest.mark.parametrize("actions", [0, 2])
    def test_a_first_state_file_is_no_commit(
        self,
        place: Place,
        monkeypatch: pytest.MonkeyPatch,
        actions: int,
        exit_status: int,
        how: str,
        gap: float,
        watchdog: bool,
    ) -> None:
        """The first state file is made just before the first marker, whatever follows."""
        monkeypatch.setattr(watch, "AT_FIRST", 0)
        if not watchdog:
            monkeypatch.setitem(sys.modules, "watchdog.observers", None)
        plan = {"at": "begin", "then": "rollback", "exit": exit_status, "actions": actions}
        status, events, warnings = place.apply_here({**plan, "pauses": {"created": gap}})
        assert (status, kinds(events), warnings) == (exit_status, ["START", how], [])

    @pytest.mark.parametrize("earlier", [True, False])
    @pytest.mark.parametrize("exit_status", [0, 1, 130])
    @pytest.mark.parametrize("stateless", [True, False])
    def test_a_commit_of_actions_that_nobody_saw_is_complete(
        self, place: Place, earlier: bool, exit_status: int, stateless: bool
    ) -> None:
        """The state is replaced while the marker stands, which a commit alone does."""
        if earlier:
            assert place.run("apply", emit=False).returncode == 0
        plan = {"done": 0, "exit": exit_status, "stateless": stateless}
        status, events, warnings = place.apply_here(plan)
        assert (status, kinds(events), warnings) == (exit_status, ["START", "COMPLETE"], [])

    @pytest.mark.parametrize(("exit_status", "how"), [(0, "FAIL"), (1, "FAIL"), (130, "ABORT")])
    @pytest.mark.parametrize("unchanged", [True, False])
    def test_a_failed_action_is_never_complete(
        self, place: Place, exit_status: int, how: str, unchanged: bool
    ) -> None:
        plan = {"done": 1, "failed": True, "unchanged": unchanged, "exit": exit_status}
        status, events, warnings = place.apply_here(plan)
        assert (status, kinds(events), warnings) == (exit_status, ["START", how], [])

    @pytest.mark.parametrize("actions", [0, 2])
    @pytest.mark.parametrize("earlier", [True, False])
    def test_an_apply_without_changes_is_complete(
        self, place: Place, actions: int, earlier: bool
    ) -> None:
        """It commits and clears the marker, and leaves the state file alone."""
        if earlier:
            assert place.run("apply", emit=False).returncode == 0
        status, events, warnings = place.apply_here({"unchanged": True, "actions": actions})
        assert (status, kinds(events), warnings) == (0, ["START", "COMPLETE"], [])

    @pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6, 99])
    def test_a_marker_of_any_version(self, place: Place, version: int) -> None:
        status, events, warnings = place.apply_here({"version": version})
        assert (status, kinds(events), warnings) == (0, ["START", "COMPLETE"], [])

    def test_an_interrupt_that_reaches_the_child_alone_is_abort(self, place: Place) -> None:
        status, events, warnings = place.apply_here({"at": "progress", "then": "interrupt"})
        assert (status, kinds(events), warnings) == (130, ["START", "ABORT"], [])

    def test_all_actions_completed_and_cleared_is_a_commit_whatever_follows(
        self, place: Place
    ) -> None:
        plan = {"unchanged": True, "pause": 0.3, "exit": 1}
        status, events, warnings = place.apply_here(plan)
        assert (status, kinds(events), warnings) == (1, ["START", "COMPLETE"], [])

    def test_a_commit_at_once_after_the_intent_is_complete(self, place: Place) -> None:
        """The first look at the operation then sees the replaced state already."""
        plan = {"pauses": {"begin": 0, "progress": 0, "state": 0.3}, "exit": 1}
        for _ in range(5):
            status, events, warnings = place.apply_here(plan)
            assert (status, kinds(events), warnings) == (1, ["START", "COMPLETE"], [])

    def test_an_error_after_the_commit_is_still_complete(self, place: Place) -> None:
        done = place.run("apply", plan={"at": "clear", "then": "crash", "exit": 6})
        assert (done.returncode, place.kinds()) == (6, ["START", "COMPLETE"])

    def test_start_goes_out_while_the_operation_runs(self, place: Place) -> None:
        process = place.start("apply", plan={"at": "begin", "then": "crash", "sleep": 60})
        read_until(process, b"ready")
        wait_for(lambda: place.kinds() == ["START"])
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        assert place.kinds() == ["START", "FAIL"]
        assert process.returncode == -signal.SIGTERM

    def test_complete_goes_out_while_the_command_still_runs(self, place: Place) -> None:
        process = place.start("apply", plan={"at": "clear", "then": "crash", "sleep": 60})
        read_until(process, b"ready")
        wait_for(lambda: place.kinds() == ["START", "COMPLETE"])
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert place.kinds() == ["START", "COMPLETE"]
        assert process.returncode == 130

    def test_the_operation_of_an_earlier_command_is_not_this_ones(self, place: Place) -> None:
        place.run("apply", emit=False, plan={"at": "state", "then": "recovery"})
        assert place.marker().exists()
        done = place.run("apply", "--dry-run", plan={"exit": 1})
        assert (done.returncode, done.stderr) == (1, b"")
        assert not place.events_file.exists() or place.lines() == []

    def test_an_operation_after_an_earlier_one_is_a_run_of_its_own(self, place: Place) -> None:
        place.run("apply", emit=False, plan={"at": "state", "then": "recovery"})
        assert place.run("apply").returncode == 0
        place.run("apply")
        assert place.kinds() == ["START", "COMPLETE"] * 2
        assert len({event["run"]["runId"] for event in place.events()}) == 2

    def test_two_operations_in_one_command_are_two_runs(self, place: Place) -> None:
        place.run("apply", plan={"operations": 2})
        events = place.events()
        assert [e["eventType"] for e in events] == ["START", "COMPLETE"] * 2
        ids = [event["run"]["runId"] for event in events]
        assert ids[0] == ids[1] != ids[2] == ids[3]

    def test_a_fast_operation_is_told_truly_or_not_at_all(self, place: Place) -> None:
        place.run("apply", emit=False)
        done = place.run("apply", plan={"pause": 0})
        assert done.returncode == 0
        if place.lines():
            assert (place.kinds(), done.stderr) == (["START", "COMPLETE"], b"")
        else:
            assert done.stderr.startswith(W112.encode())
            assert done.stderr.count(b"\n") == 1

    def test_a_slow_operation(self, place: Place) -> None:
        place.run("apply", plan={"pause": 0.4})
        assert place.kinds() == ["START", "COMPLETE"]


class TestNoOperationNoEvent:
    @pytest.mark.parametrize("status", [1, 2])
    def test_an_exit_before_the_operation(self, place: Place, status: int) -> None:
        done = place.run("apply", plan={"refused": True, "exit": status})
        assert (done.returncode, done.stderr) == (status, b"")
        assert place.lines() == []

    @pytest.mark.parametrize("words", [["--dry-run"], ["--", "--dry-run"], ["--", "--help"]])
    @pytest.mark.parametrize(
        "variables",
        [
            {},
            {"OPENLINEAGE__TRANSPORT__TYPE": "UNSET"},
            {"OPENLINEAGE__TRANSPORT__TYPE": "nonsense"},
            {"OPENLINEAGE_DISABLED": "true"},
            {"STREAMT_OPENLINEAGE_KAFKA_NAMESPACE": "nonsense"},
        ],
    )
    def test_a_dry_run_is_simply_run(
        self, place: Place, words: list[str], variables: dict[str, str]
    ) -> None:
        place.manifest.write_text("not JSON")
        line = place.streamt_line("apply", "--emit-openlineage", *words, emit=False)
        environment = place.environment({"exit": 3}, **variables)
        done = subprocess.run(
            line, capture_output=True, env=environment, cwd=place.folder, check=False
        )
        assert (done.returncode, done.stderr) == (3, b"")
        assert not place.events_file.exists()

    def test_a_first_clear_marker_is_no_operation(self, place: Place) -> None:
        plan = {"marker": {"status": "clear", "intent": None}, "at": "begin", "then": "crash"}
        done = place.run("apply", plan={**plan, "stateless": True, "exit": 0})
        assert (done.returncode, done.stderr, place.lines()) == (0, b"", [])

    def test_an_adoption_is_not_an_apply(self, place: Place) -> None:
        done = place.run("apply", plan={"kind": "adopt"})
        assert (done.returncode, done.stderr, place.lines()) == (0, b"", [])

    def test_a_child_that_cannot_be_started(self, place: Place) -> None:
        place.streamt.unlink()
        done = place.run("apply")
        assert (done.returncode, place.lines()) == (127, [])
        assert done.stderr.startswith(b"E507_COMMAND_NOT_STARTED: ")

    def test_without_the_flag_nothing_is_reported(self, place: Place) -> None:
        done = place.run("apply", emit=False, OPENLINEAGE_DISABLED="true")
        assert (done.returncode, done.stdout, place.lines()) == (0, b"applied\n", [])

    def test_openlineage_disabled_conflicts_before_the_child_runs(self, place: Place) -> None:
        done = place.run("apply", OPENLINEAGE_DISABLED="true")
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"E506_OPENLINEAGE_INVALID OPENLINEAGE_DISABLED: " in done.stderr
        assert not place.marker().exists()


class TestMarkersThatSayNothing:
    @pytest.mark.parametrize(
        ("plan", "reason"),
        [
            ({"text": "{"}, "it is not JSON"),
            ({"text": "[]"}, "it is not a JSON object"),
            ({"marker": {"control_version": 0}}, "its control_version is not known"),
            ({"marker": {"control_version": "3"}}, "its control_version is not known"),
            ({"marker": {"control_version": 3.0}}, "its control_version is not known"),
            ({"marker": {"control_version": None}}, "its control_version is not known"),
            ({"marker": {"control_version": True}}, "its control_version is not known"),
            ({"project": "other"}, "its address is not that of this project and environment"),
            ({"marker": {"address": "s3://x"}}, "its address is not that of this project"),
            ({"marker": {"address": None}}, "its address is not that of this project"),
            ({"marker": {"status": "paused"}}, "its status is not known"),
            ({"intent": {"operation_id": "42"}}, "is damaged: its operation_id is not a UUID"),
            ({"intent": {"operation_id": 7}}, "is damaged: its operation_id is not a UUID"),
            ({"intent": {"operation_id": None}}, "is damaged: its operation_id is not a UUID"),
            ({"intent": {"kind": "destroy"}}, "its kind is not known"),
            ({"intent": {"started_at": "yesterday"}}, "its started_at is not a UTC time"),
            ({"intent": {"started_at": "2026-03-14T09:26:53"}}, "its started_at is not a UTC time"),
        ],
    )
    def test_no_invented_event_and_one_warning(self, place: Place, plan: Json, reason: str) -> None:
        status, events, warnings = place.apply_here({"at": "state", "then": "crash", **plan})
        assert (status, events) == (1, [])
        (warning,) = warnings
        assert warning["code"] == W112
        assert reason in warning["message"]

    def test_the_warning_is_one_line_after_the_childs_own(self, place: Place) -> None:
        done = place.run("apply", plan={"err": b"child\n".hex(), "text": "{"})
        assert (done.returncode, place.lines()) == (0, [])
        assert done.stderr.decode() == (
            f"child\n{W112} {place.marker().relative_to(place.folder)}: "
            "the operation marker is damaged: it is not JSON\n"
        )

    def test_a_marker_that_is_no_file(self, place: Place) -> None:
        place.marker().mkdir(parents=True)
        done = place.run("apply", plan={"refused": True})
        assert (done.returncode, place.lines()) == (0, [])
        assert done.stderr.count(W112.encode()) == 1

    @pytest.mark.parametrize("text", ["{", '{"control_version": 2}', '{"control_version": 1}'])
    def test_only_a_clear_marker_after_it_is_no_operation(self, place: Place, text: str) -> None:
        place.marker().parent.mkdir(parents=True)
        place.marker().write_text(text)
        plan = {"marker": {"status": "clear", "intent": None}, "at": "begin", "then": "crash"}
        done = place.run("apply", plan={**plan, "stateless": True, "exit": 0})
        assert (done.returncode, done.stderr, place.lines()) == (0, b"", [])

    def test_a_fifo_does_not_hang(self, place: Place) -> None:
        place.marker().parent.mkdir(parents=True)
        os.mkfifo(place.marker())
        done = place.run("apply", plan={"refused": True})
        assert done.returncode == 0
        assert done.stderr.count(W112.encode()) == 1

    def test_an_unreadable_end_after_start_is_fail_and_one_warning(self, place: Place) -> None:
        plan = {"at": "begin", "then": "crash", "sleep": 60}
        process = place.start("apply", plan=plan)
        read_until(process, b"ready")
        wait_for(lambda: place.kinds() == ["START"])
        place.marker().write_text("{")
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
        assert place.kinds() == ["START", "FAIL"]
        assert err.count(W112.encode()) == 1

    def test_nothing_else_of_a_marker_is_ever_told(self, place: Place) -> None:
        done = place.run("apply", plan={"at": "state", "then": "recovery"})
        assert SECRET in place.marker().read_text()
        assert SECRET not in place.events_file.read_text()
        assert SECRET.encode() not in done.stderr


class TestWhereTheMarkerIs:
    def test_the_environment_names_it(self, place: Place) -> None:
        place.run("apply", "-e", "prod")
        assert place.marker("prod").exists()
        assert place.kinds() == ["START", "COMPLETE"]

    def test_streamt_env_names_it(self, place: Place) -> None:
        place.run("apply", STREAMT_ENV="staging")
        assert place.marker("staging").exists()
        assert place.kinds() == ["START", "COMPLETE"]

    def test_the_project_directory_holds_it(self, place: Place) -> None:
        (place.folder / "elsewhere").mkdir()
        place.run("apply", "--", "-p", "elsewhere")
        assert (place.folder / "elsewhere/.streamt/state/default.control.json").exists()
        assert place.kinds() == ["START", "COMPLETE"]

    def test_another_environments_marker_is_not_looked_at(self, place: Place) -> None:
        done = place.run("apply", "-e", "dev", plan={"path": str(place.marker("prod"))})
        assert (done.returncode, place.lines()) == (0, [])
        line, *more = done.stderr.decode().splitlines()
        assert more == []
        assert line.startswith(f"{W112} .streamt/state/dev.control.json: the command succeeded ")

    def test_an_operation_file_elsewhere(self, place: Place) -> None:
        path = place.folder / "state" / "operation.json"
        plan = {"path": str(path), "marker": {"address": "streamt-state://s3/shop/default"}}
        done = place.run("apply", "--operation-file", str(path), plan=plan)
        assert (done.returncode, done.stderr) == (0, b"")
        assert place.kinds() == ["START", "COMPLETE"]

    def test_nothing_is_created_by_looking(self, place: Place) -> None:
        before = sorted(place.folder.rglob("*"))
        place.run("apply", plan={"refused": True, "lock": "none", "exit": 1})
        assert sorted(set(place.folder.rglob("*")) - set(before)) == [place.events_file]


class TestInterrupts:
    @pytest.mark.parametrize("at", ["begin", "state"])
    def test_sigint_before_the_commit_is_abort(self, place: Place, at: str) -> None:
        process = place.start("apply", plan={"at": at, "then": "crash", "sleep": 60})
        read_until(process, b"ready")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (130, b"")
        start, end = place.events()
        assert end["eventType"] == "ABORT"
        assert start["run"] == end["run"]

    def test_sigint_before_any_operation_is_no_event(self, place: Place) -> None:
        process = place.start("apply", plan={"refused": True, "sleep": 60})
        read_until(process, b"ready")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert (process.returncode, place.lines()) == (130, [])


@pytest.mark.filterwarnings("ignore:.*use of forkpty:DeprecationWarning")
class TestOnATerminal:
    def test_a_confirmation_is_asked_and_answered(self, place: Place) -> None:
        terminal = Terminal(
            place.streamt_line("apply"), place.environment(place.seen({"ask": True})), place.folder
        )
        terminal.read_until(b"[y/N] ")
        assert place.lines() == []
        terminal.type(b"y\n")
        status, rest = terminal.end()
        assert (status, b"applied" in rest) == (0, True)
        assert place.kinds() == ["START", "COMPLETE"]

    def test_a_declined_confirmation_is_no_event(self, place: Place) -> None:
        terminal = Terminal(
            place.streamt_line("apply"), place.environment(place.seen({"ask": True})), place.folder
        )
        terminal.read_until(b"[y/N] ")
        terminal.type(b"n\n")
        status, rest = terminal.end()
        assert (status, b"declined" in rest) == (1, True)
        assert place.lines() == []

    def test_ctrl_c_reaches_the_child_once_and_is_abort(self, place: Place) -> None:
        plan = {"at": "begin", "then": "crash", "sleep": 1, "patient": True, "version": 5}
        terminal = Terminal(
            place.streamt_line("apply"), place.environment(place.seen(plan)), place.folder
        )
        terminal.read_until(b"ready")
        terminal.type(b"\x03")
        status, rest = terminal.end()
        assert (status, rest.count(b"got 2")) == (130, 1)
        assert place.kinds() == ["START", "ABORT"]


def test_every_run_has_one_start_and_one_end_with_one_identity(place: Place) -> None:
    for plan in ({}, {"at": "begin", "then": "crash"}, {"at": "clear", "then": "crash"}):
        place.run("apply", plan=plan)
    events = place.events()
    assert len(events) == 6
    for start, end in zip(events[::2], events[1::2], strict=True):
        assert start["eventType"] == "START"
        assert end["eventType"] in ("COMPLETE", "FAIL")
        assert start["run"]["runId"] == end["run"]["runId"]
        assert uuid.UUID(start["run"]["runId"])
        assert start["job"] == end["job"]


def test_without_watchdog_polling_sees_the_same(place: Place) -> None:
    blocked = place.folder / "blocked"
    blocked.mkdir()
    (blocked / "watchdog.py").write_text("raise ImportError('not installed')\n")
    done = place.run("apply", PYTHONPATH=str(blocked))
    assert (done.returncode, done.stderr) == (0, b"")
    assert place.kinds() == ["START", "COMPLETE"]


def test_the_manifest_is_never_read_from_the_childs_stdin(place: Place) -> None:
    done = subprocess.run(
        place.streamt_line("apply", "--manifest", "-"),
        input=json.dumps({"project": "shop"}).encode(),
        capture_output=True,
        env=place.environment(),
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"E500_USAGE_ERROR --manifest: standard input belongs to ")
