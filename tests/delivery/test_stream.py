"""`send --stream`: events of a pipe go out as they come, in order, whatever comes after."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import time
import tracemalloc
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.delivery.events import job, run
from support.delivery.servers import Server

from streamt_ol.delivery.files.checkpoint import Checkpoint
from streamt_ol.delivery.files.dead_letter import DeadLetters
from streamt_ol.delivery.items import Item


def started(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [PROGRAM, "send", "-", "--stream", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=clean_environment(),
    )  # fmt: skip


def written(child: subprocess.Popen[bytes], *lines: str) -> None:
    assert child.stdin
    child.stdin.write("".join(f"{line}\n" for line in lines).encode())
    child.stdin.flush()


def wait_for(server: Server, count: int) -> None:
    end = time.monotonic() + 30
    while server.count() < count:
        assert time.monotonic() < end, "an event was held back"
        time.sleep(0.01)


def test_each_event_goes_out_when_it_is_there(tmp_path: Path) -> None:
    names = [f"j{n}" for n in range(30)]
    rejected = tmp_path / "rejected"
    with Server(tmp_path) as server:
        child = started("--to", "openlineage", "--url", server.url, "--rejected", str(rejected))
        for number, name in enumerate(names, 1):
            written(child, json.dumps(job(name)))
            wait_for(server, number)
        written(child, "no event", json.dumps(run("bad", run_id="17")), json.dumps(job("last")))
        out, err = child.communicate(timeout=30)
        sent = [json.loads(body)["job"]["name"] for body in server.bodies()]
    assert sent == [*names, "last"]
    assert (child.returncode, out) == (1, b"sent 31, skipped 0, refused 2\n")
    assert err.startswith(b"line 31: refused: no event: ")
    assert len(rejected.read_text().splitlines()) == 2


def test_order_is_kept_over_all_jobs(tmp_path: Path) -> None:
    lines = [json.dumps(job(f"j{n}")) for n in range(200)]
    with Server(tmp_path) as server:
        data = "\n".join(lines).encode()
        done = streamt_ol(
            "send", "-", "--stream", "--to", "marquez", "--url", server.url, stdin=data
        )
        assert server.bodies() == lines
    assert done.returncode == 0


def test_a_compressed_pipe(tmp_path: Path) -> None:
    data = gzip.compress(f"{json.dumps(job('a'))}\n{json.dumps(job('b'))}\n".encode())
    out = tmp_path / "out"
    done = streamt_ol("send", "-", "--stream", "--to", "file", "--path", out, stdin=data)
    assert done.stdout == b"sent 2, skipped 0, refused 0\n"


def test_a_receiver_that_is_not_there_ends_it_though_the_pipe_stays_open() -> None:
    child = started("--to", "marquez", "--url", "http://127.0.0.1:1", "--retries", "0")
    written(child, *(json.dumps(job(f"j{n}")) for n in range(3)))
    assert child.wait(30) == 1
    out, err = child.communicate(timeout=30)
    assert out == b"sent 0, skipped 0, refused 0, failed 3\n"
    assert b"3 events in a row could not be delivered" in err


def test_fail_fast_ends_it_at_the_first_refusal(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        child = started("--to", "marquez", "--url", server.url, "--fail-fast")
        written(child, json.dumps(job("a")))
        wait_for(server, 1)
        written(child, "no event")
        assert child.wait(30) == 1
        out, _ = child.communicate(timeout=30)
    assert out == b"sent 1, skipped 0, refused 1\n"


@pytest.mark.parametrize("events", [0, 1])
def test_the_deadline_ends_it_while_the_pipe_stays_open(tmp_path: Path, events: int) -> None:
    with Server(tmp_path) as server:
        child = started("--to", "marquez", "--url", server.url, "--deadline", "3")
        written(child, *[json.dumps(job("a"))] * events)
        assert child.wait(30) == 1
        out, err = child.communicate(timeout=30)
    assert out == f"sent {events}, skipped 0, refused 0\n".encode()
    assert err == b"stopped: the deadline has passed\n"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_while_it_waits(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    with Server(tmp_path) as server:
        child = started("--to", "marquez", "--url", server.url)
        written(child, json.dumps(job("a")))
        wait_for(server, 1)
        time.sleep(0.2)
        child.send_signal(number)
        assert child.wait(30) == status
        out, _ = child.communicate(timeout=30)
    assert out == b"sent 1, skipped 0, refused 0\n"


def test_the_same_pipe_again_sends_the_rest(tmp_path: Path) -> None:
    lines = "".join(f"{json.dumps(job(f'j{n}'))}\n" for n in range(5)).encode()
    command = ["send", "-", "--stream", "--to", "file", "--path", str(tmp_path / "out"),
               "--progress-file", str(tmp_path / "p")]  # fmt: skip
    streamt_ol(*command, stdin=lines)
    done = streamt_ol(*command, stdin=lines + json.dumps(job("new")).encode())
    assert done.stdout == b"sent 1, skipped 0, refused 0, sent before 5\n"


def test_nothing_is_remembered_of_events_that_have_passed(tmp_path: Path) -> None:
    """A pipe that never ends is not to fill the memory with their numbers."""
    body = json.dumps(job("a")).encode()
    with (
        Checkpoint(tmp_path / "progress", "a target", clock=lambda: 0.0) as checkpoint,
        DeadLetters(tmp_path / "rejected") as dead_letters,
    ):

        def pass_by(numbers: range) -> None:
            for number in numbers:
                item = Item(number, body, body, number)
                checkpoint.add(number, item.part, item.digest)
                dead_letters.add(item)

        pass_by(range(1000, 1100))
        tracemalloc.start()
        pass_by(range(2000, 4000))
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert kept < 20_000, "ten bytes an event"


@pytest.mark.parametrize("more", [["--dry-run"], ["--as-run-events"], ["--batch"]])
def test_what_needs_the_whole_input_is_refused(more: list[str]) -> None:
    done = streamt_ol(
        "send", "-", "--stream", "--to", "openmetadata", "--url", "http://127.0.0.1:1", *more
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"E500_USAGE_ERROR --stream: the option does not go with")
