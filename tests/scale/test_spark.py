"""A real Spark cluster of two executors on loopback: the report of one process, kills included."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.openlineage_events import run_event

if TYPE_CHECKING:
    from collections.abc import Callable

MISSING = [
    name
    for name, there in (
        ("PySpark (pip install 'streamt-ol[spark]')", importlib.util.find_spec("pyspark")),
        ("a Java runtime", shutil.which("java")),
    )
    if not there
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(bool(MISSING), reason=f"a real Spark needs {' and '.join(MISSING)}"),
]
EVENTS = 40_000
MASTER = ("--engine", "spark", "--master", "local-cluster[2,1,2048]")
SPLITS = ("--split-bytes", "1M", "--partitions", "4")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40,000 events whose runs lie in two files, with a few that break rules."""
    folder = tmp_path_factory.mktemp("archive")
    for number, kind in enumerate(("START", "COMPLETE")):
        with (folder / f"{number}.jsonl").open("w") as file:
            for run in range(EVENTS // 2):
                event = run_event(kind)
                event["run"] = {"runId": f"00000000-0000-4000-8000-{run:012x}"}
                event["eventTime"] = f"2026-01-31T2{number + 1}:00:00Z"
                if run % 997 == 0:
                    event["job"]["name"] = "other"
                file.write(json.dumps(event) + "\n")
    return folder


@pytest.fixture(scope="module")
def expected(archive: Path) -> bytes:
    return streamt_ol("validate", archive, "-f", "json", "--jobs", "1", seconds=300).stdout


def environment() -> dict[str, str]:
    """Return the environment of a cluster that stays on loopback."""
    return clean_environment(
        SPARK_LOCAL_IP="127.0.0.1",
        SPARK_LOCAL_HOSTNAME="localhost",
        PYSPARK_PYTHON=sys.executable,
        HOME=os.environ.get("HOME", "/"),
    )


def command(archive: Path, *more: str) -> list[str]:
    return [PROGRAM, "validate", str(archive), "-f", "json", *MASTER, *SPLITS, *more]


def ran(archive: Path, *more: str) -> bytes:
    done = subprocess.run(
        command(archive, *more), env=environment(), capture_output=True, timeout=600, check=False
    )
    assert done.returncode == 1, done.stderr[-2000:]
    return done.stdout


def processes(*words: str) -> list[int]:
    """Return the processes in whose command line all ``words`` stand."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and int(process.name) != os.getpid():
            try:
                line = (process / "cmdline").read_bytes().replace(b"\0", b" ")
            except OSError:
                continue
            if all(word.encode() in line for word in words):
                found.append(int(process.name))
    return found


def killing(victims: Callable[[], list[int]], work: Path) -> threading.Thread:
    """Return a started thread that kills one of ``victims`` once a split is checked."""

    def kill() -> None:
        end = time.monotonic() + 300
        while time.monotonic() < end:
            if list(work.glob("summary-*")) and (found := victims()):
                os.kill(found[0], signal.SIGKILL)
                return
            time.sleep(0.02)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread


def test_undisturbed(archive: Path, expected: bytes) -> None:
    assert ran(archive) == expected
    assert json.loads(expected)["data"]["events"] == EVENTS


def test_with_an_executor_killed(archive: Path, expected: bytes, tmp_path: Path) -> None:
    work = tmp_path / "work"
    thread = killing(lambda: processes("CoarseGrainedExecutorBackend", "--executor-id"), work)
    assert ran(archive, "--work-dir", str(work)) == expected
    thread.join(1)
    assert not thread.is_alive()


def test_with_a_python_worker_killed(archive: Path, expected: bytes, tmp_path: Path) -> None:
    work = tmp_path / "work"
    thread = killing(lambda: processes("pyspark.daemon")[1:], work)
    assert ran(archive, "--work-dir", str(work)) == expected
    thread.join(1)
    assert not thread.is_alive()


def wait_for_a_summary(work: Path) -> None:
    """Wait until a split is done."""
    end = time.monotonic() + 300
    while time.monotonic() < end and not list(work.glob("summary-*")):
        time.sleep(0.02)


def test_resumed_after_the_driver_was_killed(
    archive: Path, expected: bytes, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    driver = subprocess.Popen(
        command(archive, "--work-dir", str(work)), env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    wait_for_a_summary(work)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    done = {file.name: file.stat().st_mtime_ns for file in work.glob("summary-*")}
    assert done
    assert ran(archive, "--work-dir", str(work)) == expected
    assert {name: (work / name).stat().st_mtime_ns for name in done} == done


def test_an_interrupt_ends_it_without_a_traceback(archive: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    driver = subprocess.Popen(
        command(archive, "--work-dir", str(work)), env=environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    wait_for_a_summary(work)
    os.killpg(driver.pid, signal.SIGINT)
    out, err = driver.communicate(timeout=300)
    assert (driver.returncode, out) == (130, b"")
    assert b"KeyboardInterrupt" not in err
    assert b"py4j" not in err


# As on a cluster that has none: ``mapInArrow`` refuses to work there.
WITHOUT_PANDAS = """
import sys
sys.modules["pandas"] = None
from streamt_ol.__main__ import main
main()
"""


def test_a_cluster_without_pandas_takes_rdds(archive: Path, expected: bytes) -> None:
    line = command(archive, "--master", "local[2]")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PANDAS, *line[1:]],
        env=environment(), capture_output=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr[-2000:]
    assert done.stdout == expected
