"""kill -9 at random moments, again and again: nothing is lost, and little comes twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.delivery.events import job, run, write
from support.delivery.servers import Broker, Server, forward

if TYPE_CHECKING:
    from pathlib import Path

# Hundreds of processes are started and killed: more than the time-out of the other tests.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
CONNECTIONS = 4


def kill_at(command: list[str], server: Server, requests: int, seconds: float) -> bool:
    """Start ``command``; kill it once the server has so many requests, and a moment later.

    Returns whether it was killed rather than done.
    """
    child = subprocess.Popen(
        [PROGRAM, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=clean_environment(),
    )  # fmt: skip
    end = time.monotonic() + 30
    while server.count() < requests and child.poll() is None and time.monotonic() < end:
        time.sleep(0.001)
    time.sleep(seconds)
    child.kill()
    return child.wait() == -signal.SIGKILL


@pytest.mark.parametrize("seed", range(4))
def test_send_killed_twenty_times_loses_nothing(tmp_path: Path, seed: int) -> None:
    moments = random.Random(seed)
    events = [run(f"j{n % 3}", "RUNNING", at=n) for n in range(2000)]
    file = write(tmp_path / "e.jsonl", *events)
    with Server(tmp_path, {"delay": 0.002}) as server:
        command = ["send", str(file), "--to", "marquez", "--url", server.url, "--progress-file",
                   str(tmp_path / "progress"), "--no-validate"]  # fmt: skip
        kills = 0
        for _ in range(20):
            wanted = server.count() + moments.randint(1, 20)
            kills += kill_at(command, server, wanted, moments.random() * 0.004)
        last = streamt_ol(*command)
        arrived = server.bodies()
    assert kills == 20
    assert last.returncode == 0, last.stderr
    assert set(arrived) == set(file.read_text().splitlines())
    # Twice is what had no acknowledgement when the process was killed: one at most on each
    # connection.
    assert len(arrived) - len(events) <= CONNECTIONS * kills
    first_time = list(dict.fromkeys(arrived))
    for name in ("j0", "j1", "j2"):
        places = [e["at"] for e in map(json.loads, first_time) if e["job"]["name"] == name]
        assert places == sorted(places)


def test_a_killed_design_sent_as_runs_keeps_its_run_ids(tmp_path: Path) -> None:
    moments = random.Random(1)
    file = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(300)))
    with Server(tmp_path, {"delay": 0.005}) as server:
        command = ["send", str(file), "--to", "marquez", "--url", server.url, "--progress-file",
                   str(tmp_path / "progress"), "--as-run-events"]  # fmt: skip
        for _ in range(4):
            kill_at(command, server, server.count() + 10, moments.random() * 0.02)
        last = streamt_ol(*command)
        arrived = [json.loads(body) for body in set(server.bodies())]
    assert last.returncode == 0
    runs = Counter((e["job"]["name"], e["run"]["runId"]) for e in arrived)
    assert len(runs) == 300, "one run for each job, through every kill"
    assert set(runs.values()) == {2}, "its START and its COMPLETE"


@pytest.mark.parametrize("seed", range(2))
def test_forward_killed_ten_times_loses_nothing(tmp_path: Path, seed: int) -> None:
    moments = random.Random(seed)
    values = [json.dumps(job(f"j{n}")).encode() for n in range(400)]
    with Broker() as broker, Server(tmp_path, {"delay": 0.003}) as server:
        broker.produce(*values)
        command = forward(broker, server, "--no-validate")
        kills = 0
        for _ in range(10):
            wanted = server.count() + moments.randint(1, 12)
            kills += kill_at(command, server, wanted, moments.random() * 0.006)
        # Members killed before are in the group until their sessions end, 45 s each.
        last = streamt_ol(*command, "--until-end", seconds=500)
        arrived = [body.encode() for body in server.bodies()]
    assert kills == 10
    assert last.returncode == 0, last.stderr
    assert list(dict.fromkeys(arrived)) == values, "each is there, in order"
    # Twice is only what was acknowledged, or posted, but not yet committed: one for each kill.
    assert len(arrived) - len(values) <= kills
