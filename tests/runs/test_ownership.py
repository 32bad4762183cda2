"""The operation that a marker speaks of, with real processes, locks and signals."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.streamt.place import Json, Place, kinds, read_until, wait_for

from streamt_ol.runs import lock as locks
from streamt_ol.runs.lock import Holder, StateLock, holders_in

W112 = b"W112_OPENLINEAGE_EMIT_FAILED"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def bare(place: Place, plan: Json, *words: str) -> subprocess.Popen[bytes]:
    """Start the stand-in itself, without streamt-ol: another process."""
    return subprocess.Popen(
        [place.streamt, "apply", *words],
        stdout=subprocess.PIPE,
        env=place.environment(plan),
        cwd=place.folder,
    )


def lock_file(place: Place) -> Path:
    return place.marker().with_name(".default.json.lock")


def is_waited_for(path: Path) -> bool:
    inode = f":{path.stat().st_ino} "
    lines = Path("/proc/locks").read_text().splitlines()
    return any("->" in line and inode in line for line in lines)


class TestAnotherProcess:
    def test_its_operation_beside_a_command_that_waits_for_the_lock(self, place: Place) -> None:
        """The other one begins and ends its operation while ours waits; then ours follows."""
        other = bare(place, {"planning": 1.5, "pause": 0.2})
        wait_for(lambda: lock_file(place).exists())
        ours = place.start("apply", plan={"operation": "0b1f8f6e-3c5e-4d6a-9a51-7d1c1d8f2c11"})
        assert other.wait(30) == 0
        _, err = ours.communicate(timeout=30)
        assert (ours.returncode, err) == (0, b"")
        assert place.kinds() == ["START", "COMPLETE"]
        ids = {event["run"]["runId"] for event in place.events()}
        assert ids == {"0b1f8f6e-3c5e-4d6a-9a51-7d1c1d8f2c11"}
        assert other.communicate()[0] == b"applied\n"

    def test_its_operation_that_was_there_before_and_ends_meanwhile(self, place: Place) -> None:
        other = bare(place, {"at": "begin", "then": "recovery", "sleep": 1.5})
        read_until(other, b"ready")
        ours = place.start("apply", plan={"refused": True, "exit": 1})
        _, err = ours.communicate(timeout=30)
        assert (ours.returncode, err, place.lines()) == (1, b"", [])
        assert other.wait(30) == 1
        other.communicate()

    def test_two_wrapped_applies_report_one_operation_each(self, place: Place) -> None:
        both = [place.start("apply", plan={"planning": 0.3, "pause": 0.1}) for _ in range(2)]
        for one in both:
            _, err = one.communicate(timeout=60)
            assert (one.returncode, err) == (0, b"")
        events = place.events()
        assert sorted(kinds(events)) == ["COMPLETE"] * 2 + ["START"] * 2
        for run in {event["run"]["runId"] for event in events}:
            told = [e["eventType"] for e in events if e["run"]["runId"] == run]
            assert told == ["START", "COMPLETE"]

    def test_a_dry_run_beside_it(self, place: Place) -> None:
        other = bare(place, {"pause": 0.5})
        wait_for(lambda: place.marker().exists())
        done = place.run("apply", "--", "--dry-run")
        assert (done.returncode, done.stderr) == (0, b"")
        assert not place.events_file.exists()
        assert other.wait(30) == 0
        other.communicate()


class TestTheCommandsOwn:
    def test_of_a_process_below_the_child(self, place: Place) -> None:
        """As `uv run streamt` starts it."""
        real = place.streamt.rename(place.streamt.with_name("real"))
        place.streamt.write_text(f'#!/bin/sh\n{real} "$@"\nexit $?\n')
        place.streamt.chmod(0o755)
        done = place.run("apply")
        assert (done.returncode, done.stderr) == (0, b"")
        assert place.kinds() == ["START", "COMPLETE"]

    @pytest.mark.parametrize("pause", [0, 0.001, 0.005])
    def test_an_operation_of_milliseconds_is_proved_or_not_seen(
        self, place: Place, pause: float
    ) -> None:
        done = place.run("apply", plan={"pause": pause, "planning": 0.1})
        assert b"proved" not in done.stderr
        if place.lines():
            assert (place.kinds(), done.stderr) == (["START", "COMPLETE"], b"")

    def test_of_an_older_release_without_the_lock(self, place: Place) -> None:
        done = place.run("apply", plan={"lock": "none"})
        assert (done.returncode, done.stderr) == (0, b"")
        assert place.kinds() == ["START", "COMPLETE"]

    def test_interrupted_while_it_waits_for_the_lock(self, place: Place) -> None:
        other = bare(place, {"planning": 2, "refused": True})
        wait_for(lambda: lock_file(place).exists())
        ours = place.start("apply")
        wait_for(lambda: is_waited_for(lock_file(place)))
        ours.send_signal(signal.SIGINT)
        _, err = ours.communicate(timeout=30)
        assert (ours.returncode, err, place.lines()) == (130, b"", [])
        assert other.wait(30) == 0
        other.communicate()


class TestWhereTheHolderCannotBeSeen:
    def test_free_and_clear_at_the_start_is_reported_and_said(self, place: Place) -> None:
        done = place.run("apply", plan={"lock": "file"})
        assert (done.returncode, place.kinds()) == (0, ["START", "COMPLETE"])
        (line,) = done.stderr.splitlines()
        assert line.startswith(W112)
        assert b"it is not proved" in line

    @pytest.mark.parametrize("exit_status", [0, 1])
    def test_held_at_the_start_is_one_warning_and_no_event(
        self, place: Place, exit_status: int
    ) -> None:
        lock_file(place).parent.mkdir(parents=True)
        with lock_file(place).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            plan = {"lock": "file", "planning": 1, "exit": exit_status, "out": b"up\n".hex()}
            ours = place.start("apply", plan=plan)
            read_until(ours, b"up")
        _, err = ours.communicate(timeout=30)
        assert (ours.returncode, place.lines()) == (exit_status, [])
        assert err.count(W112) == 1
        assert b"it may be another process's" in err

    def test_a_marker_that_was_not_clear_at_the_start(self, place: Place) -> None:
        place.run("apply", emit=False, plan={"lock": "none", "at": "state", "then": "recovery"})
        done = place.run("apply", plan={"lock": "file"})
        assert (done.returncode, place.lines()) == (0, [])
        assert done.stderr.count(W112) == 1


class TestTheLock:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / ".default.json.lock"
        path.touch()
        return path

    def holding(self, path: Path) -> subprocess.Popen[bytes]:
        code = (
            "import fcntl,sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
            "print('held', flush=True); sys.stdin.read()"
        )
        return subprocess.Popen(
            [sys.executable, "-c", code, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    @pytest.mark.parametrize(
        "method",
        [
            "proc",
            pytest.param(
                "lsof",
                marks=pytest.mark.skipif(
                    not shutil.which("lsof"), reason="lsof, the method of macOS, is not installed"
                ),
            ),
        ],
    )
    def test_who_holds_it(self, path: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
        if method == "lsof":
            monkeypatch.setattr(locks, "_PROC_LOCKS", path / "nowhere")
        lock = StateLock(path)
        assert (lock.holder(), lock.is_free()) == (Holder.NOBODY, True)
        with self.holding(path) as process:
            read_until(process, b"held")
            # a child of ours that was not told of yet: it may be streamt's process
            assert (lock.holder(), lock.is_free()) == (Holder.UNKNOWN, False)
            mine = StateLock(path)
            mine.start(process.pid)
            assert mine.holder() is Holder.OURS
            tree = StateLock(path)
            tree.start(os.getpid())
            assert tree.holder() is Holder.OURS
            with self.holding(path) as waiting:
                wait_for(lambda: is_waited_for(path))
                theirs = StateLock(path)
                theirs.start(waiting.pid)
                # who waits has the file open too, which is all that lsof tells
                expected = Holder.OTHER if method == "proc" else Holder.UNKNOWN
                assert theirs.holder() is expected
                process.communicate()
                read_until(waiting, b"held")
                assert theirs.holder() is Holder.OURS
                waiting.communicate()
        assert (lock.holder(), lock.is_free()) == (Holder.NOBODY, True)

    def test_no_file(self, tmp_path: Path) -> None:
        lock = StateLock(tmp_path / "none")
        assert (lock.holder(), lock.is_free()) == (Holder.ABSENT, True)
        assert not (tmp_path / "none").exists()
        assert StateLock(None).holder() is Holder.ABSENT

    @pytest.mark.parametrize(
        ("locks", "expected"),
        [
            ("", set()),
            ("1: FLOCK  ADVISORY  WRITE 77 08:01:{inode} 0 EOF", {77}),
            ("1: POSIX  ADVISORY  WRITE 77 08:01:{inode} 0 EOF", {77}),
            ("1: FLOCK  ADVISORY  READ 77 08:01:{inode} 0 EOF", set()),
            ("1: -> FLOCK  ADVISORY  WRITE 77 08:01:{inode} 0 EOF", set()),
            ("1: FLOCK  ADVISORY  WRITE 77 08:01:9{inode} 0 EOF", set()),
            ("1: FLOCK  ADVISORY  WRITE 77 08:01:{inode}9 0 EOF", set()),
            # an overlay names a device of its own; where the right one is there, it counts
            ("1: FLOCK  ADVISORY  WRITE 77 00:2f:{inode} 0 EOF", {77}),
            (
                "1: FLOCK  ADVISORY  WRITE 77 00:2f:{inode} 0 EOF\n"
                "2: FLOCK  ADVISORY  WRITE 78 {device}:{inode} 0 EOF\n"
                "2: -> FLOCK  ADVISORY  WRITE 79 {device}:{inode} 0 EOF",
                {78},
            ),
            ("1: FLOCK  ADVISORY  WRITE 0 {device}:{inode} 0 EOF", set()),
            ("1: FLOCK  ADVISORY  WRITE -1 {device}:{inode} 0 EOF", set()),
        ],
    )
    def test_entries(self, path: Path, locks: str, expected: set[int]) -> None:
        status = path.stat()
        device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
        assert holders_in(locks.format(inode=status.st_ino, device=device), status) == expected
