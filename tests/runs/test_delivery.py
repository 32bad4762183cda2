"""Runs over a real HTTP server that misbehaves in every way: the child never feels it."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import psutil
import pytest
from support.delivery.servers import Server
from support.streamt.place import UNSET, Json, Place, kinds, read_until, sent

from streamt_ol.runs import Job, Run, RunSpec, watch
from streamt_ol.runs.child import run_child
from streamt_ol.runs.signals import signals_held
from streamt_ol.runs.wrapped import run_wrapped
from streamt_ol.transport.config import read_transport_config

W112 = b"W112_OPENLINEAGE_EMIT_FAILED "
KEY = "planted-key-4711-never-to-be-seen"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def failures(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """Return which events were not delivered, by the warnings on stderr and nothing else."""
    lines = done.stderr.splitlines()
    assert all(line.startswith(W112) for line in lines), lines
    assert all(len(line) < 600 for line in lines)
    return [line.split(b": ", 1)[1].split(b" ")[0].decode() for line in lines]


class TestAServerThatAnswers:
    def test_both_events_arrive_in_their_order(self, place: Place, tmp_path: Path) -> None:
        with Server(tmp_path / "s") as server:
            done = place.run("test", plan={"out": b"hello".hex()}, **place.to(server))
            events = sent(server)
            requests = server.requests()
        assert (done.returncode, done.stdout, done.stderr) == (0, b"hello", b"")
        assert kinds(events) == ["START", "COMPLETE"]
        assert {request["line"] for request in requests} == {"POST /api/v1/lineage HTTP/1.1"}

    def test_start_is_acknowledged_before_the_childs_first_line(
        self, place: Place, tmp_path: Path
    ) -> None:
        with Server(tmp_path / "s", {"delay": 0.3, "status": 201}) as server:
            plan = {"first": str(server.log)}
            done = place.run("test", plan=plan, **place.to(server))
        assert (done.stdout, done.stderr) == (b"1\n", b"")

    def test_a_slow_server_is_waited_for(self, place: Place, tmp_path: Path) -> None:
        with Server(tmp_path / "s", {"delay": 0.5, "status": 200}) as server:
            done = place.run("run", "--", "true", **place.to(server))
            assert (done.returncode, done.stderr) == (0, b"")
            assert kinds(sent(server)) == ["START", "COMPLETE"]

    def test_a_server_that_closes_idle_connections(self, place: Place, tmp_path: Path) -> None:
        with Server(tmp_path / "s", {"status": 201, "close": True}) as server:
            done = place.run("run", "--", "sleep", "0.3", **place.to(server))
            assert (done.returncode, done.stderr) == (0, b"")
            assert kinds(sent(server)) == ["START", "COMPLETE"]


MISBEHAVIOUR: dict[str, Json] = {
    "refuses": {"status": 400, "body": '{"error": "no"}'},
    "unauthorized": {"status": 401},
    "fails": {"status": 500},
    "is unavailable": {"status": 503, "headers": {"Retry-After": "60"}},
    "redirects": {"status": 302, "headers": {"Location": "http://127.0.0.1:9/"}},
    "hangs": {"kind": "hang", "seconds": 10},
    "resets": {"kind": "reset"},
    "closes at once": {"kind": "drop"},
    "closes halfway": {
        "kind": "drop",
        "raw": "HTTP/1.1 201 Created\r\nContent-Length: 50\r\n\r\n{",
    },
    "talks nonsense": {"kind": "raw", "raw": "SSH-2.0-x\r\n\r\n"},
    "never comes to a status": {
        "kind": "raw",
        "raw": "HTTP/1.1 103 Early\r\nx: " + "y" * 200_000,
    },
    "drips": {"kind": "drip", "seconds": 0.2},
}


class TestAServerThatMisbehaves:
    @pytest.mark.parametrize("behaviour", MISBEHAVIOUR)
    def test_the_childs_streams_and_status_are_its_own(
        self, place: Place, tmp_path: Path, behaviour: str
    ) -> None:
        with Server(tmp_path / "s", MISBEHAVIOUR[behaviour]) as server:
            plan = {"out": b"hello\n".hex(), "exit": 7}
            done = place.run("test", plan=plan, **place.to(server))
        assert (done.returncode, done.stdout) == (7, b"hello\n")
        assert failures(done) == ["START", "FAIL"]

    @pytest.mark.parametrize(
        "plan", [{"kind": "endless"}, {"status": 201, "headers": {"x": "y" * 200_000}}],
        ids=["body", "header"],
    )  # fmt: skip
    def test_a_status_of_success_needs_no_end(
        self, place: Place, tmp_path: Path, plan: Json
    ) -> None:
        with Server(tmp_path / "s", plan) as server:
            done = place.run("run", "--", "echo", "ran", **place.to(server))
        assert (done.returncode, done.stdout, failures(done)) == (0, b"ran\n", [])

    def test_a_server_that_is_down(self, place: Place, tmp_path: Path) -> None:
        with Server(tmp_path / "s") as server:
            variables = place.to(server)
        done = place.run("run", "--", "sh", "-c", "echo ran; exit 3", **variables)
        assert (done.returncode, done.stdout) == (3, b"ran\n")
        assert failures(done) == ["START", "FAIL"]

    def test_an_address_that_accepts_and_says_nothing(self, place: Place) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            done = place.run(
                "run", "--", "echo", "ran",
                OPENLINEAGE__TRANSPORT__TYPE="http",
                OPENLINEAGE__TRANSPORT__LOG_FILE_PATH=UNSET,
                OPENLINEAGE__TRANSPORT__URL=f"http://127.0.0.1:{silent.getsockname()[1]}",
                OPENLINEAGE__TRANSPORT__ENDPOINT="/api/v1/lineage",
                OPENLINEAGE__TRANSPORT__TIMEOUT="0.5",
            )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, b"ran\n")
        assert failures(done) == ["START", "COMPLETE"]

    @pytest.mark.parametrize(("lost", "arrived"), [("START", "COMPLETE"), ("COMPLETE", "START")])
    def test_one_event_lost_is_one_warning(
        self, place: Place, tmp_path: Path, lost: str, arrived: str
    ) -> None:
        with Server(tmp_path / "s", {"match": lost, "status": 500}) as server:
            done = place.run("test", **place.to(server))
            delivered = [r["body"] for r in server.requests() if r["rule"] == {"status": 201}]
        assert failures(done) == [lost]
        assert kinds([json.loads(body) for body in delivered]) == [arrived]

    def test_a_hanging_start_does_not_shift_the_time_of_complete(
        self, place: Place, tmp_path: Path
    ) -> None:
        with Server(tmp_path / "s", {"match": "START", "kind": "hang", "seconds": 3}) as server:
            variables = place.to(server, OPENLINEAGE__TRANSPORT__TIMEOUT="1.5")
            done = place.run("apply", plan={"pause": 0.02}, **variables)
            start, *_, last = server.requests()
        assert (done.returncode, failures(done)) == (0, ["START"])
        complete = json.loads(last["body"])
        assert complete["eventType"] == "COMPLETE"
        happened = datetime.fromisoformat(complete["eventTime"]).timestamp()
        assert last["time"] - start["time"] > 1.4  # it was sent after START had been given up
        assert last["time"] - happened > 0.5  # but had happened long before

    def test_a_full_disk_is_a_warning(self, place: Place) -> None:
        limited = 'ulimit -f 0; trap "" XFSZ; exec "$@"'
        place.events_file.touch()
        done = subprocess.run(
            ["sh", "-c", limited, "sh", *place.streamt_line("test")],
            capture_output=True,
            env=place.environment({"out": b"ran".hex(), "exit": 2}),
            check=False,
        )
        assert (done.returncode, done.stdout) == (2, b"ran")
        assert failures(done) == ["START", "FAIL"]

    def test_no_secret_of_the_configuration_is_ever_shown(
        self, place: Place, tmp_path: Path
    ) -> None:
        body = '{"echo": "Bearer ' + KEY + '"}'
        with Server(tmp_path / "s", {"status": 401, "body": body}, tls="localhost") as server:
            variables = place.to(server, OPENLINEAGE__TRANSPORT__VERIFY=str(server.ca_file))
            variables["OPENLINEAGE__TRANSPORT__AUTH"] = json.dumps(
                {"type": "api_key", "apiKey": KEY}
            )
            done = place.run("test", **variables)
            assert server.requests()[0]["headers"]["authorization"] == f"Bearer {KEY}"
            assert KEY not in "".join(server.bodies())
        assert failures(done) == ["START", "COMPLETE"]
        assert KEY.encode() not in done.stderr

    def test_warnings_that_cannot_be_written_change_nothing(
        self, place: Place, tmp_path: Path
    ) -> None:
        with Server(tmp_path / "s", {"status": 500}) as server:
            place.streamt.write_text("#!/bin/sh\nexit 5\n")
            environment = place.environment(**place.to(server))
            for stderr in ("2>&-", "2>/dev/full"):
                line = ["sh", "-c", f'exec "$@" {stderr}', "sh", *place.streamt_line("test")]
                assert subprocess.run(line, env=environment, check=False).returncode == 5


class TestImpatience:
    """Ctrl-C and SIGTERM while an event is being delivered."""

    def interrupted(
        self, place: Place, server: Server, match: bytes, number: signal.Signals
    ) -> tuple[int, bytes, bytes]:
        variables = place.to(server, OPENLINEAGE__TRANSPORT__TIMEOUT="5")
        environment = place.environment({"out": b"ran\n".hex(), "exit": 4}, **variables)
        process = subprocess.Popen(
            place.streamt_line("test"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=place.folder,
        )
        while match not in server.log.read_bytes():
            assert process.poll() is None
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err

    @pytest.mark.parametrize(
        ("number", "end"), [(signal.SIGINT, "ABORT"), (signal.SIGTERM, "FAIL")]
    )
    def test_while_start_is_delivered_the_child_is_not_run(
        self, place: Place, tmp_path: Path, number: signal.Signals, end: str
    ) -> None:
        plan = {"match": '"START"', "kind": "hang", "seconds": 20}
        with Server(tmp_path / "s", plan) as server:
            status, out, err = self.interrupted(place, server, b"START", number)
            events = sent(server)
        assert (status, out) == (128 + number, b"")
        assert kinds(events) == ["START", end]
        (warning,) = err.splitlines()
        assert warning.startswith(W112)
        assert warning.endswith(b": START was perhaps not delivered: it was interrupted")

    @pytest.mark.parametrize("command", ["test", "apply"])
    def test_however_often_ctrl_c_is_pressed_each_event_is_one_warning(
        self, place: Place, tmp_path: Path, command: str
    ) -> None:
        with Server(tmp_path / "s", {"kind": "hang", "seconds": 20}) as server:
            variables = place.to(server, OPENLINEAGE__TRANSPORT__TIMEOUT="5")
            process = subprocess.Popen(
                place.streamt_line(command),
                stderr=subprocess.PIPE,
                env=place.environment({"at": "begin", "then": "crash", "sleep": 30}, **variables),
                cwd=place.folder,
            )
            while b"START" not in server.log.read_bytes():
                assert process.poll() is None
            for _ in range(9):
                process.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.05)
            _, err = process.communicate(timeout=30)
        # 130 for a shell either way: the interpreter's own end is over at once on the next SIGINT.
        assert process.returncode in (130, -signal.SIGINT)
        lines = err.decode().splitlines()
        assert all(line.startswith(W112.decode()) for line in lines), lines
        first, second = [line.split(": ")[1] for line in lines]
        assert first == "START was perhaps not delivered"
        assert second.startswith(("ABORT was ", "the terminal event was "))

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_while_the_end_is_delivered_the_childs_status_stands(
        self, place: Place, tmp_path: Path, number: signal.Signals
    ) -> None:
        plan = {"match": '"FAIL"', "kind": "hang", "seconds": 20}
        with Server(tmp_path / "s", plan) as server:
            status, out, err = self.interrupted(place, server, b"FAIL", number)
        assert (status, out) == (4, b"ran\n")
        assert err.startswith(W112)
        assert err.endswith(b"FAIL was perhaps not delivered: it was interrupted\n")


@pytest.fixture
def same_process() -> Iterator[psutil.Process]:
    """Fail when descriptors, children or threads are left behind."""
    process = psutil.Process()
    gc.collect()  # what earlier tests left for it
    before = (process.num_fds(), len(process.children()), threading.active_count())
    yield process
    assert (process.num_fds(), len(process.children()), threading.active_count()) == before


class TestLeaks:
    @pytest.mark.slow
    def test_a_thousand_runs_leave_nothing_behind(
        self, place: Place, same_process: psutil.Process
    ) -> None:
        environment = {
            "OPENLINEAGE__TRANSPORT__TYPE": "file",
            "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": str(place.events_file),
        }
        spec = RunSpec(Job("ns", "nightly"), producer="urn:example:nightly")
        for number in range(1000):
            with read_transport_config(environment).open() as transport:
                run = Run(spec, transport)
                program = "/bin/true" if number % 3 else "/nonexistent"
                assert run_wrapped(run, [program], os.environ).exit_status in (0, 127)
            assert run.warnings == []
            if number == 10:
                descriptors = same_process.num_fds()
        assert same_process.num_fds() == descriptors
        events = place.events()
        assert len(events) == 2000
        assert len({event["run"]["runId"] for event in events}) == 1000

    @pytest.mark.parametrize("at_first", [0, watch.AT_FIRST])
    def test_applies_leave_nothing_behind(
        self,
        place: Place,
        same_process: psutil.Process,
        monkeypatch: pytest.MonkeyPatch,
        at_first: float,
    ) -> None:
        monkeypatch.setattr(watch, "AT_FIRST", at_first)
        for _ in range(50):
            status, events, warnings = place.apply_here({}, "/bin/false")
            assert (status, events, warnings) == (1, [], [])
        for _ in range(15):  # each the first of its project: folders appear while it runs
            shutil.rmtree(place.folder / ".streamt", ignore_errors=True)
            status, events, warnings = place.apply_here({"pause": 0.1})
            assert (status, kinds(events), warnings) == (0, ["START", "COMPLETE"], [])

    def test_runs_over_http_leave_nothing_behind(
        self, place: Place, tmp_path: Path, same_process: psutil.Process
    ) -> None:
        spec = RunSpec(Job("ns", "nightly"), producer="urn:example:nightly")
        with Server(tmp_path / "s", {"match": "START", "status": 500, "times": 10}) as server:
            for _ in range(20):
                config = read_transport_config(place.environment(**place.to(server)))
                with config.open() as transport:
                    run_wrapped(Run(spec, transport), ["/bin/true"], os.environ)


class TestTheChildsSignals:
    """``streamt_ol.runs.child`` by itself: what a child inherits."""

    def status(self, line: list[str]) -> str:
        with signals_held() as signals:
            ended = run_child(["sh", "-c", *line], os.environ, signals)
        assert ended.exit_status == 0
        return Path(line[-1]).read_text()

    def test_no_signal_is_blocked_or_ignored_in_the_child(self, tmp_path: Path) -> None:
        """As when the shell starts it: Python's own ignored SIGPIPE is not handed on."""
        target = str(tmp_path / "status")
        text = self.status(["grep -E 'Sig(Blk|Ign)' /proc/self/status > $0", target])
        values = dict(line.split(":\t") for line in text.splitlines())
        assert int(values["SigBlk"], 16) == 0
        assert int(values["SigIgn"], 16) & (1 << (signal.SIGPIPE - 1)) == 0

    def test_our_own_mask_is_as_before(self) -> None:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
        with signals_held() as signals:
            assert run_child(["true"], os.environ, signals).exit_status == 0
        assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before

    def test_a_thread_of_the_host_does_not_keep_the_childs_end_from_us(self) -> None:
        """Its mask is its own, so it may take the SIGCHLD."""
        stop = threading.Event()
        threads = [threading.Thread(target=stop.wait) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(50):
            with signals_held() as signals:
                assert run_child(["true"], os.environ, signals).exit_status == 0
        stop.set()
        for thread in threads:
            thread.join()

    def test_a_signal_that_a_thread_of_the_host_took_is_passed_on(self) -> None:
        stop = threading.Event()
        thread = threading.Thread(target=stop.wait)
        thread.start()
        assert thread.ident
        script = 'trap "exit 9" TERM; while :; do sleep 0.05; done'
        with signals_held() as signals:
            signal.pthread_kill(thread.ident, signal.SIGTERM)
            ended = run_child(["sh", "-c", f"sleep 0.2; {script}"], os.environ, signals)
        stop.set()
        thread.join()
        assert ended.stopped_by is signal.SIGTERM
        assert ended.exit_status in (9, 128 + signal.SIGTERM)

    def test_an_interrupt_after_the_childs_end_is_dropped(self) -> None:
        with signals_held() as signals:
            ended = run_child(["true"], os.environ, signals)
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        assert (ended.exit_status, ended.stopped_by) == (0, None)

    @pytest.mark.parametrize("line", [["echo", "a\0b"], ["", "a"]])
    def test_a_line_that_no_process_can_have(self, line: list[str]) -> None:
        with signals_held() as signals:
            ended = run_child(line, os.environ, signals)
        reason = "its name is empty, or an argument holds a NUL byte"
        assert (ended.exit_status, ended.not_started) == (126, reason)

    def test_a_stopped_child_is_waited_for(self, place: Place) -> None:
        process = place.start("test", plan={"sleep": 0.3})
        read_until(process, b"ready")
        (child,) = psutil.Process(process.pid).children()
        child.suspend()
        child.resume()
        process.communicate(timeout=30)
        assert (process.returncode, place.kinds()) == (0, ["START", "COMPLETE"])
