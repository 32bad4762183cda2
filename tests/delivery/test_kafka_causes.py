"""Kafka: why a delivery failed, in the words of its cause; and a group that is lost on the way."""

from __future__ import annotations

import json
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from confluent_kafka import Consumer, Producer, TopicPartition
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.delivery.broker import PARTITIONS
from support.delivery.events import job, write
from support.delivery.servers import Broker, Server, forward

from streamt_ol.delivery.membership import Membership
from streamt_ol.delivery.outcome import Outcome


@contextmanager
def tls_listener() -> Iterator[int]:
    """Yield the port of a listener whose certificate nobody trusts; it ends every handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(context)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            try:
                context.wrap_socket(connection, server_side=True).close()
            except OSError:
                connection.close()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def send(tmp_path: Path, bootstrap: str, settings: str = "") -> tuple[bytes, float]:
    """Try to send one event; return what was said, and how long that took."""
    (tmp_path / "kafka.yml").write_text(settings or "linger.ms: 5")
    before = time.monotonic()
    done = streamt_ol(
        "send", str(write(tmp_path / "e.jsonl", job("a"))), "--to", "kafka", "--bootstrap",
        bootstrap, "--topic", "t", "--kafka-config", str(tmp_path / "kafka.yml"), "--timeout", "8",
        "--retries", "0",
    )  # fmt: skip
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    return done.stderr, time.monotonic() - before


def test_a_certificate_that_is_not_trusted(tmp_path: Path) -> None:
    with tls_listener() as port:
        said, seconds = send(tmp_path, f"localhost:{port}", "security.protocol: SSL")
    assert b"certificate verify failed" in said
    assert seconds < 8, "its whole time was waited"


def test_tls_against_a_plain_port(tmp_path: Path) -> None:
    with Broker("t") as broker:
        said, _ = send(tmp_path, broker.bootstrap.split(",")[0], "security.protocol: SSL")
    assert b"the port may be one without TLS" in said


def test_no_broker_at_all(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said, _ = send(tmp_path, f"127.0.0.1:{port}")
    assert b"Connection refused" in said


def test_forward_names_the_cause_as_well(tmp_path: Path) -> None:
    (tmp_path / "kafka.yml").write_text("security.protocol: SSL")
    with tls_listener() as port:
        done = streamt_ol(
            "forward", "--bootstrap", f"localhost:{port}", "--topic", "t", "--group", "g",
            "--to", "file", "--path", str(tmp_path / "out"), "--timeout", "3",
            "--kafka-config", str(tmp_path / "kafka.yml"),
        )  # fmt: skip
    assert done.returncode == 1
    assert b"certificate verify failed" in done.stderr


class TestTooLarge:
    def test_the_size_and_the_limit_are_named_by_check_and_send(self, tmp_path: Path) -> None:
        key = len("job:jobs/big") + 36  # librdkafka's overhead
        body = json.dumps(job("big", x=""))
        exact = job("big", x="x" * (1_000_000 - key - len(body)))
        over = job("big", x="x" * (1_000_001 - key - len(body)))
        events = str(write(tmp_path / "e.jsonl", exact, over))
        checked = streamt_ol("check", events, "--for", "kafka", "--no-validate")
        words = b"a message of 1,000,001 bytes is over the limit of 1,000,000 (message.max.bytes)"
        assert checked.stdout.count(words) == 1
        assert checked.stdout.endswith(b"kafka: accepted 1, ignored 0, refused 1\n")
        with Broker() as broker:
            done = streamt_ol(
                "send", events, "--to", "kafka", "--bootstrap", broker.bootstrap, "--topic",
                broker.topic, "--no-validate",
            )  # fmt: skip
        assert done.stdout == b"sent 1, skipped 0, refused 1\n"
        assert words in done.stderr

    def test_the_limit_of_the_settings_counts(self, tmp_path: Path) -> None:
        (tmp_path / "kafka.yml").write_text("message.max.bytes: 2000")
        events = str(write(tmp_path / "e.jsonl", job("a"), job("b" * 2000)))
        more = ["--kafka-config", str(tmp_path / "kafka.yml")]
        done = streamt_ol("check", events, "--for", "kafka", *more)
        assert b"over the limit of 2,000 (message.max.bytes)" in done.stdout
        assert done.stdout.endswith(b"accepted 1, ignored 0, refused 1\n")
        elsewhere = streamt_ol("check", events, "--for", "marquez", *more)
        assert elsewhere.returncode == 2


def test_json_behind_a_schema_registry_is_called_that(tmp_path: Path) -> None:
    rejected = tmp_path / "rejected"
    with Broker() as broker, Server(tmp_path) as server:
        broker.produce(b"\0\0\0\1\7" + json.dumps(job("a")).encode())
        done = streamt_ol(*forward(broker, server, "--until-end", "--rejected", rejected))
    words = b"the text is JSON behind a schema registry's five bytes (schema id 263)"
    assert words in done.stderr
    assert done.returncode == 1


class TestGroup:
    @pytest.mark.timeout(120)
    def test_a_delivery_longer_than_the_poll_interval_is_posted_once(self, tmp_path: Path) -> None:
        with Broker() as broker, Server(tmp_path, {"match": '"slow"', "delay": 5}) as server:
            broker.produce(*(json.dumps(job(n)).encode() for n in ("a", "slow", "b")))
            command = forward(broker, server, "--until-end")
            settings = Path(command[command.index("--kafka-config") + 1])
            settings.write_text("session.timeout.ms: 1000\nheartbeat.interval.ms: 100\n"
                                "max.poll.interval.ms: 2000\n")  # fmt: skip
            first, second = streamt_ol(*command), streamt_ol(*command)
            names = [json.loads(body)["job"]["name"] for body in server.bodies()]
        assert (first.returncode, first.stdout) == (0, b"sent 3, skipped 0, refused 0\n")
        assert second.stdout == b"sent 0, skipped 0, refused 0\n"
        assert names == ["a", "slow", "b"]

    @pytest.mark.timeout(120)
    def test_a_rebalance_that_leaves_the_partition_changes_nothing(self, tmp_path: Path) -> None:
        """Another member of the group comes and goes; it reads another topic."""
        with Broker() as broker, Server(tmp_path, {"match": '"slow"', "delay": 6}) as server:
            broker.produce(*(json.dumps(job(n)).encode() for n in ("a", "slow", "b")))
            maker = Producer({"bootstrap.servers": broker.bootstrap})
            maker.produce("another", b"x")
            assert maker.flush(20) == 0
            command = forward(broker, server)
            first = started(command)
            wait_for(server, 2)
            other = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g"})
            assigned: list[object] = []
            other.subscribe(["another"], on_assign=lambda _, found: assigned.extend(found))
            limit = time.monotonic() + 30
            while not assigned and time.monotonic() < limit:
                other.poll(0.1)
            other.close()
            assert assigned, "the group has formed anew"
            wait_for(server, 3)
            time.sleep(1)
            first.terminate()
            out, err = first.communicate(timeout=60)
            again = streamt_ol(*command, "--until-end")
            names = [json.loads(body)["job"]["name"] for body in server.bodies()]
        assert (first.returncode, out) == (143, b"sent 3, skipped 0, refused 0\n"), err
        assert again.stdout == b"sent 0, skipped 0, refused 0\n"
        assert names == ["a", "slow", "b"]

    @pytest.mark.timeout(60)
    def test_a_partition_that_comes_back_is_read_again(self) -> None:
        """It went while reading paused, for a record that was seen to: the client keeps that."""
        with Broker() as broker:
            broker.produce(*[b"{}"] * PARTITIONS, partitions=PARTITIONS)
            source = Handed({"bootstrap.servers": broker.bootstrap, "group.id": "g"})
            member = Membership(source, broker.topic)
            member.subscribe()
            source.give([TopicPartition(broker.topic, number, 0) for number in range(PARTITIONS)])

            def long() -> Outcome:
                time.sleep(1.5)
                source.is_to_lose = True
                while source.is_to_lose:
                    time.sleep(0.01)
                return Outcome("sent")

            member.during(long)
            assert member.poll() is None
            source.give([TopicPartition(broker.topic, number, 0) for number in range(PARTITIONS)])
            found: set[int] = set()
            limit = time.monotonic() + 30
            while len(found) < PARTITIONS and time.monotonic() < limit:
                if record := member.poll():
                    found.add(record.partition())
            source.close()
        assert found == set(range(PARTITIONS))

    @pytest.mark.timeout(120)
    def test_a_partition_that_is_given_away_is_said_and_not_counted(self, tmp_path: Path) -> None:
        """The first member is suspended, as a laptop's is, for longer than the group waits."""
        with Broker() as broker, Server(tmp_path, {"match": '"slow"', "delay": 8}) as server:
            broker.produce(json.dumps(job("slow")).encode())
            first = started(forward(broker, server))
            wait_for(server, 1)
            first.send_signal(signal.SIGSTOP)
            second = started(forward(broker, server))
            wait_for(server, 2)
            first.send_signal(signal.SIGCONT)
            out, err = first.communicate(timeout=60)
            second.terminate()
            second.communicate(timeout=60)
        assert first.returncode == 1
        assert out == b"sent 0, skipped 0, refused 0\n"
        assert b"the group has given the partition to another member" in err


class Handed(Consumer):
    """A consumer whose partitions come and go as a test says, not as its group does."""

    is_to_lose = False

    def subscribe(self, _: object, **callbacks: Callable[..., None]) -> None:  # type: ignore[override]
        self.callbacks = callbacks

    def give(self, partitions: list[TopicPartition]) -> None:
        self.callbacks["on_assign"](self, partitions)
        self.assign(partitions)

    def poll(self, timeout: float = -1) -> Any:
        if self.is_to_lose:
            self.callbacks["on_revoke"](self, self.assignment())
            self.unassign()
            self.is_to_lose = False
        return super().poll(timeout)


def started(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [PROGRAM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment()
    )


def wait_for(server: Server, requests: int) -> None:
    while server.count() < requests:
        time.sleep(0.05)
