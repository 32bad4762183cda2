"""`streamt-ol validate` over archives: resumption, a full disk, inputs that change, folders."""

from __future__ import annotations

import json
import os
import pty
import resource
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from support.archives import write_archive
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.openlineage_events import dataset_event, run_event

from streamt_ol.scale import tasks
from streamt_ol.scale.pieces import Outcome, Summary, decoded, encoded
from streamt_ol.scale.plan import Plan, plan_inputs
from streamt_ol.scale.work_dir import WorkDir

SMALL = ("--split-bytes", "20k", "--partitions", "3", "--jobs", "2")


@pytest.fixture
def archive(tmp_path: Path) -> list[str]:
    """Files in which runs cross from one to the next, none of them damaged or absent."""
    names = []
    for number in range(3):
        file = tmp_path / f"{number}.jsonl"
        lines = []
        for run in range(300):
            event = run_event(("START", "RUNNING", "COMPLETE")[number])
            event["run"] = {"runId": f"00000000-0000-4000-8000-{run:012x}"}
            event["eventTime"] = f"2026-01-31T23:{number:02}:{run % 60:02}Z"
            lines.append(json.dumps(event))
        file.write_text("\n".join(lines))
        names.append(str(file))
    return names


def test_the_same_command_goes_on_where_a_killed_one_stopped(
    archive: list[str], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    command = ["validate", *archive, "--work-dir", str(work), *SMALL, "-f", "json"]
    started = subprocess.Popen(
        [PROGRAM, *command], env=clean_environment(), stdout=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + 60
    while time.monotonic() < end and not list(work.glob("summary-*")):
        time.sleep(0.01)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    done = {file.name: file.stat().st_mtime_ns for file in work.glob("summary-*")}
    assert done
    ran = streamt_ol(*command)
    alone = streamt_ol("validate", *archive, "-f", "json")
    assert ran.stdout == alone.stdout
    assert {name: (work / name).stat().st_mtime_ns for name in done} == done
    assert json.loads(ran.stdout)["data"]["events"] == 900


def test_a_work_directory_of_another_run_is_refused(archive: list[str], tmp_path: Path) -> None:
    work = str(tmp_path / "work")
    assert streamt_ol("validate", archive[0], "--work-dir", work, *SMALL).returncode == 1
    for other in (archive[1:2], [archive[0], "--strict"], [archive[0], "--max-problems", "1"]):
        ran = streamt_ol("validate", *other, "--work-dir", work, *SMALL)
        assert ran.returncode == 2
        assert ran.stderr.startswith(b"E500_USAGE_ERROR --work-dir: the work directory was left")
        assert ran.stdout == b""


def test_a_full_disk_is_one_error_and_nothing_is_lost(archive: list[str], tmp_path: Path) -> None:
    work = tmp_path / "work"
    command = [PROGRAM, "validate", *archive, "--work-dir", str(work), *SMALL[:4], "--jobs", "1"]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, resource.RLIM_INFINITY))

    ran = subprocess.run(
        command, env=clean_environment(), capture_output=True, preexec_fn=limited, check=False
    )
    assert ran.returncode == 1
    assert ran.stdout == b""
    error = ran.stderr.decode().splitlines()[0]
    assert error == (
        f"E506_OPENLINEAGE_INVALID --work-dir: the work directory {work} fails: File too large"
    )
    again = subprocess.run(command, env=clean_environment(), capture_output=True, check=False)
    assert again.stdout == streamt_ol("validate", *archive).stdout


def test_a_killed_process_is_one_error(archive: list[str], tmp_path: Path) -> None:
    big = tmp_path / "big.jsonl"
    big.write_bytes(b"".join(json.dumps(run_event()).encode() + b"\n" for _ in range(40_000)))
    command = [PROGRAM, "validate", str(big), "--split-bytes", "8M", "--jobs", "2"]
    started = subprocess.Popen(
        command, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    end = time.monotonic() + 60
    workers: list[int] = []
    while not workers and time.monotonic() < end:
        workers = children(started.pid)
        time.sleep(0.01)
    os.kill(workers[0], signal.SIGKILL)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 1
    assert out == b""
    assert err.startswith(b"E506_OPENLINEAGE_INVALID: a process that checks events was ended")


def test_folders_and_patterns_give_names_as_they_were_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a/2.jsonl", "a/1.jsonl", "a/_temporary/0.jsonl", "b.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}\n")
    for given in ("a", "a/*.jsonl"):
        ran = streamt_ol("validate", given, "--engine", "local", cwd=tmp_path)
        lines = ran.stdout.decode().splitlines()
        assert [line.partition(" ")[0] for line in lines[:2]] == ["a/1.jsonl:1:", "a/2.jsonl:1:"]
        assert ran.stdout == streamt_ol("validate", given, cwd=tmp_path).stdout


def test_a_pipe_is_one_split(archive: list[str], tmp_path: Path) -> None:
    data = b"\n".join(Path(name).read_bytes() for name in archive)
    ran = streamt_ol("validate", "--engine", "local", "-f", "json", stdin=data)
    assert ran.stdout == streamt_ol("validate", "-f", "json", stdin=data).stdout
    assert json.loads(ran.stdout)["data"]["events"] == 900


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\xef\xbb\xbf \n"])
def test_a_document_is_one_split_after_a_byte_order_mark_too(start: bytes, tmp_path: Path) -> None:
    name = str(tmp_path / "a.json")
    events = [dataset_event(), {}, dataset_event()]
    Path(name).write_bytes(start + json.dumps(events, indent=1).encode())
    ran = streamt_ol("validate", name, "--split-bytes", "100", "-f", "json")
    assert ran.stdout == streamt_ol("validate", name, "-f", "json").stdout
    assert json.loads(ran.stdout)["data"]["events"] == 3


@pytest.mark.parametrize("size", ["0", "x", "64Q", "-1M", "M", "1.5M", ""])
def test_a_size_is_a_number_with_a_unit(size: str, archive: list[str]) -> None:
    ran = streamt_ol("validate", archive[0], f"--split-bytes={size}")
    assert ran.returncode == 2
    assert ran.stderr.startswith(b"E500_USAGE_ERROR --split-bytes: ")


class TestInputsThatChange:
    """The version of an input at the plan is what is read; another is an error that names it."""

    def planned(self, tmp_path: Path, *names: str) -> tuple[WorkDir, Plan]:
        inputs, splits = plan_inputs(names, 1 << 20)
        plan = Plan("test", inputs, splits, 1, True, 1 << 20, 100, False, [])
        work = WorkDir(str(tmp_path / "work"))
        work.claim(encoded(plan))
        return work, plan

    def rules(self, work: WorkDir) -> dict[str, int]:
        outcome = decoded(tasks.check(encoded(tasks.Item(work.where, 0))), Outcome)
        assert outcome.error is None
        return decoded(work.read("summary-0"), Summary).counts.rules

    def test_a_log_that_grows_is_read_to_its_size_at_the_plan(self, tmp_path: Path) -> None:
        log = tmp_path / "log.jsonl"
        line = json.dumps(dataset_event()) + "\n"
        log.write_text(line)
        work, plan = self.planned(tmp_path, str(log))
        with log.open("a") as more:
            more.write("{\n" * 5)
        assert self.rules(work) == {}
        assert plan.splits[0].end == len(line)

    @pytest.mark.parametrize("change", ["replaced", "truncated", "removed", "rewritten"])
    def test_another_file_is_a_fault_of_the_input(self, change: str, tmp_path: Path) -> None:
        file = tmp_path / "a.jsonl"
        file.write_text(json.dumps(dataset_event()) + "\n")
        work, _ = self.planned(tmp_path, str(file))
        if change == "replaced":
            other = tmp_path / "b"
            other.write_text(file.read_text())
            other.rename(file)
        elif change == "truncated":
            file.write_text("")
        elif change == "removed":
            file.unlink()
        else:
            os.utime(file, ns=(1, 1))
        assert self.rules(work)["OL-R061"] == 1


def test_more_seeds_agree_through_the_command(tmp_path: Path) -> None:
    names = write_archive(tmp_path, Random(4711), files=6, events=100)
    work = str(tmp_path / "work")
    ran = streamt_ol("validate", *names, "--work-dir", work, *SMALL, "--max-problems", "1000")
    alone = streamt_ol("validate", *names, "--max-problems", "1000")
    assert (ran.returncode, ran.stdout, ran.stderr) == (
        alone.returncode, alone.stdout, alone.stderr,
    )  # fmt: skip


def test_standard_input_named_twice_is_an_error(archive: list[str]) -> None:
    ran = streamt_ol("validate", "-", "-", "--engine", "local", stdin=b"{}\n")
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"E500_USAGE_ERROR -: standard input (-) is named twice\n")


def test_another_pipe_is_merged_anew(archive: list[str], tmp_path: Path) -> None:
    starts, ends = Path(archive[0]).read_bytes(), Path(archive[2]).read_bytes()
    command = ("validate", "-", "--work-dir", str(tmp_path / "work"), "-f", "json")
    for data in (starts + b"\n" + ends, starts, ends):
        ran = streamt_ol(*command, stdin=data)
        assert ran.stdout == streamt_ol("validate", "-", "-f", "json", stdin=data).stdout


def test_what_could_not_be_read_is_tried_again(archive: list[str], tmp_path: Path) -> None:
    """A store that fails for a while leaves a fault for that split; the next run reads it."""
    work = WorkDir(str(tmp_path / "work"))
    command = ("validate", *archive, "--work-dir", work.where, "--jobs", "1", "-f", "json")
    first = streamt_ol(*command)
    summary = decoded(work.read("summary-1"), Summary)
    summary.failure = ("the input cannot be read: it fails", archive[1], None)
    summary.counts.rules["OL-R061"] = 1
    work.write("summary-1", encoded(summary))
    again = streamt_ol(*command)
    assert (again.returncode, again.stdout) == (first.returncode, first.stdout)
    assert again.stderr == b""


@pytest.mark.parametrize("piece", ["summary-0", "state-0-0", "names-0", "merged-0"])
@pytest.mark.parametrize("left", [0, 5])
def test_a_damaged_piece_is_one_error(
    piece: str, left: int, archive: list[str], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    command = ("validate", archive[0], "--work-dir", str(work), "--jobs", "1")
    streamt_ol(*command)
    (work / piece).write_bytes((work / piece).read_bytes()[:left])
    if piece != "merged-0":
        (work / "merged-0").unlink()
    ran = streamt_ol(*command)
    assert (ran.returncode, ran.stdout) == (1, b"")
    assert ran.stderr.decode().splitlines() == [
        "E506_OPENLINEAGE_INVALID --work-dir: a piece in the work directory is damaged",
        "  hint: remove the directory, and run the command again",
    ]


def children(process: int) -> list[int]:
    """Return the processes that a command has started."""
    return [
        int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


def is_worker(process: int) -> bool:
    try:
        line = Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return False
    return "spawn_main" in line or "--jobs" in line  # started afresh, or a copy of the command


@pytest.mark.parametrize("on_a_terminal", [False, True])  # where a thread draws the progress
@pytest.mark.parametrize("ends", [[signal.SIGKILL], [signal.SIGINT], [signal.SIGINT] * 2])
def test_processes_end_with_the_command_whatever_ends_it(
    ends: list[signal.Signals], on_a_terminal: bool, tmp_path: Path
) -> None:
    big = tmp_path / "big.jsonl"
    big.write_bytes(b"".join(json.dumps(run_event()).encode() + b"\n" for _ in range(100_000)))
    ours, theirs = pty.openpty() if on_a_terminal else os.pipe()
    started = subprocess.Popen(
        [PROGRAM, "validate", str(big), "--split-bytes", "8M", "--jobs", "2"],
        env={**clean_environment(), "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    end = time.monotonic() + 60
    workers: list[int] = []
    while len(workers) < 2 and time.monotonic() < end:  # while others are still being started
        workers = children(started.pid)
        time.sleep(0.01)
    assert len(workers) >= 2
    for one in ends:
        os.killpg(started.pid, one) if one == signal.SIGINT else os.kill(started.pid, one)
        time.sleep(0.05)
    started.wait(timeout=60)
    with suppress(OSError):  # a terminal whose other end was closed
        assert ends == [signal.SIGKILL] or b"Traceback" not in os.read(ours, 65536)
    os.close(ours)
    assert started.returncode == (-signal.SIGKILL if ends == [signal.SIGKILL] else 130)
    while any(map(is_worker, workers)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(map(is_worker, workers))


def test_a_pattern_does_not_follow_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.jsonl").write_text(json.dumps(dataset_event()) + "\n")
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "b").symlink_to("a")
    for given in ("**/*.jsonl", "./**/*.jsonl", str(tmp_path / "**" / "*.jsonl")):
        ran = streamt_ol("validate", given, "-f", "json", "--engine", "local", cwd=tmp_path)
        found = json.loads(ran.stdout)["data"]["files"]
        assert [name.replace(str(tmp_path), ".").removeprefix("./") for name in found] == [
            "a/1.jsonl"
        ]
