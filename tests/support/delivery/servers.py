"""Parts that the tests of delivery share: the server process, its certificates, events to send."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import trustme
from confluent_kafka import Producer

from streamt_ol.transport.base import Closing

PEER = Path(__file__).with_name("peer.py")


class Server(Closing):
    """A ``peer.py`` process; ``url``, ``requests()`` as logged, and the CA file with TLS."""

    def __init__(self, folder: Path, *plan: dict[str, Any], tls: str | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "peer.log"
        (folder / "plan.json").write_text(json.dumps(plan))
        self.log.touch()
        arguments = [sys.executable, str(PEER), str(folder / "plan.json"), str(self.log)]
        self.ca_file = folder / "ca.pem"
        if tls:
            authority = trustme.CA()
            authority.cert_pem.write_to_path(str(self.ca_file))
            issued = authority.issue_cert(tls)
            issued.private_key_and_cert_chain_pem.write_to_path(str(folder / "server.pem"))
            arguments.append(str(folder / "server.pem"))
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.port = int(self.process.stdout.readline())
        self.url = f"{'https' if tls else 'http'}://localhost:{self.port}"

    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def count(self) -> int:
        return self.log.read_bytes().count(b"\n")

    def bodies(self) -> list[str]:
        return [request["body"] for request in self.requests()]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()


class Broker(Closing):
    """A ``broker.py`` process; ``bootstrap`` is where it listens, ``records()`` what it holds."""

    def __init__(self, topic: str = "lineage-events") -> None:
        self.topic = topic
        self.process = subprocess.Popen(
            [sys.executable, str(PEER.with_name("broker.py")), topic],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout
        self.bootstrap = self.process.stdout.readline().strip()

    def records(self) -> list[dict[str, Any]]:
        """Read the topic back by a consumer in another process."""
        settings = json.dumps({"bootstrap.servers": self.bootstrap})
        done = subprocess.run(
            [sys.executable, str(PEER.with_name("records.py")), settings, self.topic],
            capture_output=True,
            check=True,
            timeout=60,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def produce(self, *values: bytes | None, partitions: int = 1) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap, "acks": "all"})
        for number, value in enumerate(values):
            producer.produce(self.topic, value, partition=number % partitions)
        assert producer.flush(20) == 0

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()


def forward(broker: Broker, server: Server, *more: str | Path) -> list[str]:
    # So that the cluster soon notices when a member of the group was killed.
    settings = server.log.with_name("kafka.yml")
    settings.write_text("session.timeout.ms: 1000\nheartbeat.interval.ms: 100\n")
    return ["forward", "--bootstrap", broker.bootstrap, "--topic", broker.topic, "--group", "g",
            "--kafka-config", str(settings), "--to", "marquez", "--url", server.url,
            *map(str, more)]  # fmt: skip
