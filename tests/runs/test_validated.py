"""Every event of every kind of run passes `streamt-ol validate --strict`, as one stream."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

import pytest
from support.commands import streamt_ol
from support.streamt.place import NAMESPACE, Json, Place, read_until

from streamt_ol.runs import Dataset, Job, Run, RunSpec
from streamt_ol.transport.memory import MemoryTransport


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def assert_strictly_valid(events: Path | bytes) -> None:
    stdin = events if isinstance(events, bytes) else events.read_bytes()
    done = streamt_ol("validate", "--strict", "-", stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b""), done.stdout.decode()


def test_the_commands(place: Place) -> None:
    place.run("test")
    place.run("test", "--type", "schema", plan={"exit": 1})
    place.run("test", plan={"suicide": signal.SIGKILL})
    plans: list[Json] = [{}, {"at": "begin", "then": "crash"}, {"at": "state", "then": "recovery"}]
    for plan in plans:
        place.run("apply", plan=plan)
    place.run("run", "--input", "s3://b", "k", "--output", "trino://t:80", "c.s.t", "--", "true")
    place.run("run", "--job-type", "BACKFILL", "--", "false")
    place.run("run", "--", "/nonexistent")
    for command in ("test", "apply"):
        process = place.start(command, plan={"sleep": 60, "at": "begin", "then": "crash"} if
                              command == "apply" else {"sleep": 60})  # fmt: skip
        read_until(process, b"ready")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    kinds = place.kinds()
    assert len(kinds) == 22
    assert {*kinds[::2]} == {"START"}
    assert {*kinds[1::2]} == {"COMPLETE", "FAIL", "ABORT"}
    assert_strictly_valid(place.events_file)


def test_the_library() -> None:
    transport = MemoryTransport()
    spec = RunSpec(
        Job(NAMESPACE, "nightly", integration="ACME"),
        (Dataset("s3://b", "k"),),
        (Dataset("s3://b", "o"),),
        producer="https://example.com/nightly",
    )
    for error in (None, ValueError("no"), KeyboardInterrupt(), SystemExit(3)):
        with suppress(BaseException), Run(spec, transport):
            if error is not None:
                raise error
    assert len(transport.events) == 8
    assert_strictly_valid(b"\n".join(transport.events) + b"\n")
