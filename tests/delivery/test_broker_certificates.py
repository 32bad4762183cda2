"""Kafka with a real broker behind TLS: certificates that are wrong, of either side; and groups."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.delivery.events import job, write
from support.delivery.servers import Server
from support.delivery.tansu import QUICK_GROUP, RealBroker, certificate, needs_broker

pytestmark = [pytest.mark.slow, needs_broker]
NOW = datetime.now(UTC)
DAY = timedelta(days=1)


def settings_of(broker: RealBroker, **more: str) -> dict[str, str]:
    return {"security.protocol": "SSL", "ssl.ca.location": str(broker.ca_file), **more}


def send(broker: RealBroker, folder: Path, settings: dict[str, str]) -> Any:
    """Send one event."""
    (folder / "kafka.json").write_text(json.dumps(settings))
    return streamt_ol(
        "send", write(folder / "e.jsonl", job("secret")), "--to", "kafka", "--bootstrap",
        broker.bootstrap, "--topic", broker.topic, "--kafka-config", folder / "kafka.json",
        "--timeout", "5", "--retries", "0",
    )  # fmt: skip


def forward(
    broker: RealBroker, server: Server, group: str, *more: str, **settings: str
) -> list[str]:
    file = server.log.with_name("group.json")
    file.write_text(json.dumps(QUICK_GROUP | settings))
    return ["forward", "--bootstrap", broker.bootstrap, "--topic", broker.topic, "--group", group,
            "--kafka-config", str(file), "--to", "marquez", "--url", server.url, *more]  # fmt: skip


def run(broker: RealBroker, settings: dict[str, str]) -> Any:
    """Run a command whose events go to the broker."""
    config = {"bootstrap.servers": broker.bootstrap, **settings}
    transport = {"type": "kafka", "topic": broker.topic, "config": config}
    return streamt_ol(
        "run", "--job-namespace", "n", "--job-name", "j", "--", "sh", "-c", "echo ran; exit 3",
        environment={"OPENLINEAGE__TRANSPORT": json.dumps(transport)},
    )  # fmt: skip


@pytest.mark.parametrize(
    "dates",
    [
        {"not_before": NOW - 9 * DAY, "not_after": NOW - DAY},
        {"not_before": NOW + DAY, "not_after": NOW + 9 * DAY},
    ],
    ids=["expired", "not yet"],
)
def test_a_certificate_at_another_time_gets_nothing(
    tmp_path: Path, dates: dict[str, datetime]
) -> None:
    with (
        RealBroker(tmp_path / "b", tls="localhost", dates=dates) as broker,
        Server(tmp_path) as server,
    ):
        sent = send(broker, tmp_path, settings_of(broker))
        ran = run(broker, settings_of(broker))
        assert broker.records() == []
        broker.produce(json.dumps(job("there")).encode())
        command = forward(
            broker, server, "g", "--until-end", "--timeout", "5", **settings_of(broker)
        )
        forwarded = streamt_ol(*command)
        assert server.requests() == []
    for done, status in ((sent, 1), (ran, 3), (forwarded, 1)):
        assert done.returncode == status, done.stderr
        assert b"certificate verify failed" in done.stderr
        assert b"Traceback" not in done.stderr
    assert ran.stdout == b"ran\n"
    assert ran.stderr.count(b"W112_OPENLINEAGE_EMIT_FAILED") == 2


class TestOfClients:
    def test_its_own_is_taken(self, tmp_path: Path) -> None:
        with (
            RealBroker(tmp_path / "b", tls="localhost", wants_clients=True) as broker,
            Server(tmp_path) as server,
        ):
            settings = settings_of(broker, **certificate(broker.client_file))
            sent, ran = send(broker, tmp_path, settings), run(broker, settings)
            assert len(broker.records()) == 3
            forwarded = streamt_ol(*forward(broker, server, "g", "--until-end", **settings))
            assert server.count() == 3
        assert (sent.returncode, sent.stdout) == (0, b"sent 1, skipped 0, refused 0\n")
        assert (ran.returncode, ran.stdout, ran.stderr) == (3, b"ran\n", b"")
        assert forwarded.returncode == 0, forwarded.stderr

    @pytest.mark.parametrize("whose", ["nobody's", "another's"])
    def test_another_is_not(self, tmp_path: Path, whose: str) -> None:
        other = tmp_path / "other.pem"
        issued = trustme.CA().issue_cert("client")
        issued.private_key_and_cert_chain_pem.write_to_path(str(other))
        with RealBroker(tmp_path / "b", tls="localhost", wants_clients=True) as broker:
            given = certificate(other) if whose == "another's" else {}
            sent = send(broker, tmp_path, settings_of(broker, **given))
            ran = run(broker, settings_of(broker, **given))
            assert broker.records() == []
        assert (sent.returncode, ran.returncode) == (1, 3)
        assert sent.stdout == b"sent 0, skipped 0, refused 0, failed 1\n"
        for done in (sent, ran):
            assert b"another security.protocol, or a certificate of yours" in done.stderr

    @pytest.mark.parametrize("name", ["ssl.ca.location", "ssl.certificate.location"])
    @pytest.mark.parametrize("content", [None, "no certificate"])
    def test_a_file_that_is_none_is_named(
        self, tmp_path: Path, name: str, content: str | None
    ) -> None:
        file = tmp_path / "planted-secret.pem"
        if content is not None:
            file.write_text(content)
        with RealBroker(tmp_path / "b", tls="localhost", wants_clients=True) as broker:
            settings = settings_of(broker, **certificate(broker.client_file)) | {name: str(file)}
            sent, ran = send(broker, tmp_path, settings), run(broker, settings)
            assert broker.records() == []
        for done in (sent, ran):
            assert (done.returncode, b"ran" in done.stdout) == (1, False)
            where = f": {name}: the library can read no certificate or key there".encode()
            assert b"E506_OPENLINEAGE_INVALID " in done.stderr
            assert where in done.stderr
            assert b"planted-secret" not in done.stderr


def started(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [PROGRAM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment()
    )


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class TestGroups:
    def test_each_group_gets_every_record(self, tmp_path: Path) -> None:
        values = [json.dumps(job(f"j{n}")).encode() for n in range(30)]
        with RealBroker(tmp_path) as broker, Server(tmp_path) as server:
            broker.produce(*values)
            first = streamt_ol(*forward(broker, server, "one", "--until-end"))
            again = streamt_ol(*forward(broker, server, "one", "--until-end"))
            other = streamt_ol(*forward(broker, server, "two", "--until-end"))
            assert (broker.committed("one"), broker.committed("two")) == (30, 30)
            assert sorted(server.bodies()) == sorted(value.decode() for value in values * 2)
        said = [done.stdout for done in (first, again, other)]
        assert said == [f"sent {n}, skipped 0, refused 0\n".encode() for n in (30, 0, 30)]

    def test_a_member_that_is_asked_to_end_hands_over_without_a_second_time(
        self, tmp_path: Path
    ) -> None:
        values = [json.dumps(job(f"j{n}")).encode() for n in range(120)]
        with RealBroker(tmp_path) as broker, Server(tmp_path, {"delay": 0.01}) as server:
            broker.produce(*values)
            first = started(forward(broker, server, "g"))
            wait_until(lambda: server.count() > 20)
            first.send_signal(signal.SIGTERM)
            out, err = first.communicate(timeout=60)
            last = streamt_ol(*forward(broker, server, "g", "--until-end"))
            assert sorted(server.bodies()) == sorted(value.decode() for value in values)
        assert first.returncode == 143, (out, err)
        assert last.returncode == 0, last.stderr
