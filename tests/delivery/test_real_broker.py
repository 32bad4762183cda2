"""Kafka with a real broker, Tansu: keys, order, groups, kills of either side, and TLS."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import trustme
from confluent_kafka import Producer
from openlineage.client import event_v2
from openlineage.client.facet_v2 import parent_run
from openlineage.client.transport.kafka import KafkaConfig, KafkaTransport
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.delivery.events import RUN_ID, dataset, facet, job, run, write
from support.delivery.servers import Server
from support.delivery.tansu import QUICK_GROUP, RealBroker, needs_broker

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.slow, needs_broker]


def send(broker: RealBroker, file: Path, *more: str | Path) -> list[str]:
    """Return the arguments that send ``file`` to the topic of ``broker``."""
    return ["send", str(file), "--to", "kafka", "--bootstrap", broker.bootstrap, "--topic",
            broker.topic, *map(str, more)]  # fmt: skip


def forward(broker: RealBroker, server: Server, *more: str | Path, **settings: Any) -> list[str]:
    """Return the arguments of a member of the group `g` that posts to ``server``."""
    file = server.log.with_name("kafka.json")
    file.write_text(json.dumps(QUICK_GROUP | settings))
    return ["forward", "--bootstrap", broker.bootstrap, "--topic", broker.topic, "--group", "g",
            "--kafka-config", str(file), "--to", "marquez", "--url", server.url,
            *map(str, more)]  # fmt: skip


def started(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [PROGRAM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment()
    )


def places(records: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Return, for each job, the numbers of its events in the order of the topic."""
    found: dict[str, list[int]] = {}
    for event in (json.loads(record["value"]) for record in records):
        found.setdefault(event["job"]["name"], []).append(event["at"])
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class TestSend:
    def test_records_keys_and_order(self, tmp_path: Path) -> None:
        events = [run(f"j{n % 7}", "RUNNING", at=n) for n in range(300)]
        file = write(tmp_path / "e.jsonl", *events, job("ä"), dataset("d"))
        with RealBroker(tmp_path) as broker:
            done = streamt_ol(*send(broker, file))
            records = broker.records()
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == b"sent 302, skipped 0, refused 0\n"
        assert sorted(r["value"] for r in records) == sorted(file.read_text().splitlines())
        for name in (f"j{n}" for n in range(7)):
            mine = [r for r in records if r["key"] == f"run:jobs/{name}"]
            assert len({r["partition"] for r in mine}) == 1
            places = [json.loads(r["value"])["at"] for r in mine]
            assert places == sorted(places)
            assert len(places) in (42, 43)

    def test_keys_and_partitions_are_the_official_clients(self, tmp_path: Path) -> None:
        """Its transport and ours write to one topic: each name's records stand together."""
        names = [f"job {n}/ä" for n in range(20)]
        parent = facet(
            "ParentRunFacet",
            run={"runId": RUN_ID},
            job={"namespace": "p", "name": "parent"},
        )
        child = run("child")
        child["run"]["facets"] = {"parent": parent}
        file = write(tmp_path / "e.jsonl", *(run(n) for n in names), child, job("j"), dataset("d"))
        with RealBroker(tmp_path) as broker:
            assert streamt_ol(*send(broker, file)).returncode == 0
            config = {"bootstrap.servers": broker.bootstrap, "acks": "all"}
            transport = KafkaTransport(KafkaConfig(config=config, topic=broker.topic))
            for event in official(names):
                transport.emit(event)
            transport.close()
            records = broker.records()
        found = Counter((r["key"], r["partition"]) for r in records)
        assert len(found) == len(names) + 3
        assert set(found.values()) == {2}

    def test_a_broker_that_comes_late_gets_everything(self, tmp_path: Path) -> None:
        file = write(tmp_path / "e.jsonl", *(run(f"j{n}") for n in range(50)))
        with RealBroker(tmp_path) as broker:
            broker.kill()
            child = started(send(broker, file, "--timeout", "60"))
            time.sleep(2)
            broker.start()
            out, _ = child.communicate(timeout=90)
            assert (child.returncode, out) == (0, b"sent 50, skipped 0, refused 0\n")
            assert len(broker.records()) == 50

    def test_a_broker_that_is_suspended_gets_everything_once(self, tmp_path: Path) -> None:
        file = write(tmp_path / "e.jsonl", *(run(f"j{n}", at=n) for n in range(5_000)))
        with RealBroker(tmp_path) as broker:
            child = started(send(broker, file, "--timeout", "60"))
            time.sleep(0.5)
            broker.suspend()
            time.sleep(2)
            broker.resume()
            out, _ = child.communicate(timeout=90)
            assert (child.returncode, out) == (0, b"sent 5000, skipped 0, refused 0\n")
            assert len(broker.records()) == 5_000

    @pytest.mark.parametrize(
        ("moment", "step"),
        [("before", "meta.json"), ("after", ".batch")],
        ids=["between", "answer"],
    )
    def test_a_broker_that_is_killed_again_and_again_loses_nothing(
        self, tmp_path: Path, moment: str, step: str
    ) -> None:
        """Killed between two batches, or with a batch kept whose answer is not out.

        Each arrives once: the producer is idempotent. Killed within a batch this broker loses it
        and acknowledges it all the same, see ``TestTheBroker``.
        """
        lines = [json.dumps(run(f"j{n % 50}", "RUNNING", at=n)) for n in range(20_000)]
        file = write(tmp_path / "e.jsonl", *lines)
        numbers = random.Random(step)
        progress = tmp_path / "done"
        with RealBroker(tmp_path) as broker:
            command = send(broker, file, "--timeout", "60", "--progress-file", progress)
            child = started(command)
            for _ in range(4):
                broker.kill_at(moment, step, numbers.randint(1, 9))
                time.sleep(numbers.random())
                broker.start()
            out, err = child.communicate(timeout=120)
            records = broker.records()
        assert (child.returncode, out) == (0, b"sent 20000, skipped 0, refused 0\n"), err
        assert sorted(r["value"] for r in records) == sorted(lines)
        assert all(of_job == sorted(of_job) for of_job in places(records).values())
        done = [json.loads(line) for line in progress.read_text().splitlines()[1:]]
        assert sorted(record["event"] for record in done) == list(range(1, 20_001))

    def test_kill_9_of_send_loses_nothing(self, tmp_path: Path) -> None:
        lines = [json.dumps(run(f"j{n % 50}", "RUNNING", at=n)) for n in range(20_000)]
        file = write(tmp_path / "e.jsonl", *lines)
        with RealBroker(tmp_path) as broker:
            command = send(broker, file, "--progress-file", tmp_path / "done", "--no-validate")
            killed = 0
            for seconds in (0.6, 0.7, 0.8, 0.9):
                child = started(command)
                with pytest.raises(subprocess.TimeoutExpired):
                    child.communicate(timeout=seconds)
                child.kill()
                child.communicate()
                killed += child.returncode == -signal.SIGKILL
            last = streamt_ol(*command)
            arrived = [r["value"] for r in broker.records()]
        assert killed == 4
        assert last.returncode == 0, last.stderr
        assert set(arrived) == set(lines)


def official(names: list[str]) -> list[Any]:
    """Return the events of the test of keys, made of the official client's classes."""
    fields: dict[str, Any] = {
        "eventTime": "2026-10-21T08:00:00Z",
        "producer": "https://example.com",
    }
    parent = parent_run.ParentRunFacet(
        run=parent_run.Run(RUN_ID), job=parent_run.Job("p", "parent")
    )
    runs: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in names]
    runs.append(("child", {"parent": parent}))
    return [
        *(
            event_v2.RunEvent(
                eventType=event_v2.RunState.COMPLETE,
                run=event_v2.Run(RUN_ID, facets=facets),
                job=event_v2.Job("jobs", name),
                **fields,
            )
            for name, facets in runs
        ),
        event_v2.JobEvent(job=event_v2.Job("jobs", "j"), **fields),
        event_v2.DatasetEvent(dataset=event_v2.StaticDataset("db://h", "d"), **fields),
    ]


class TestTheBroker:
    """The broker's own faults, seen by a plain producer: what tests of `send` cannot ask of it."""

    @pytest.mark.parametrize("idempotent", [True, False])
    def test_it_takes_a_batch_for_kept_whose_sequence_is(
        self, tmp_path: Path, idempotent: bool
    ) -> None:
        """Tansu 0.6 writes the sequence of the producer first, then the records, each for itself.

        Killed between the two it has the one without the other. It answers the same batch, sent
        again, with DUPLICATE_SEQUENCE_NUMBER, which by the protocol says that the records are
        kept: every idempotent producer counts them as delivered, at no known offset, and they are
        nowhere. Without a sequence nothing is lost. Once this fails, the broker is mended, and
        `send` can be tested with kills at any moment.
        """
        acknowledged: dict[str, int | None] = {}

        def note(error: Any, message: Any) -> None:
            assert error is None
            acknowledged[message.value().decode()] = message.offset()

        with RealBroker(tmp_path) as broker:
            producer = Producer(
                broker.client()
                | {"acks": "all", "enable.idempotence": idempotent, "message.timeout.ms": 60_000}
            )
            for n in range(3):
                producer.produce(broker.topic, str(n), partition=0, on_delivery=note)
                assert n == 2 or producer.flush(30) == 0
            broker.kill_at("before", "watermark.json", 1)
            broker.start()
            assert producer.flush(60) == 0
            arrived = {record["value"] for record in broker.records()}
        assert len(acknowledged) == 3
        if idempotent:
            assert arrived == {"0", "1"}
            assert acknowledged == {"0": 0, "1": 1, "2": None}
        else:
            assert arrived == {"0", "1", "2"}


class TestForward:
    def test_to_the_end_and_then_only_what_is_new(self, tmp_path: Path) -> None:
        values = [json.dumps(job(f"j{n}")).encode() for n in range(40)]
        with RealBroker(tmp_path) as broker, Server(tmp_path) as server:
            broker.produce(*values[:30])
            first = streamt_ol(*forward(broker, server, "--until-end"))
            broker.produce(*values[30:])
            second = streamt_ol(*forward(broker, server, "--until-end"))
            bodies = [body.encode() for body in server.bodies()]
        assert (first.returncode, first.stdout) == (0, b"sent 30, skipped 0, refused 0\n")
        assert (second.returncode, second.stdout) == (0, b"sent 10, skipped 0, refused 0\n")
        assert sorted(bodies) == sorted(values)

    def test_what_is_sent_arrives_byte_for_byte(self, tmp_path: Path) -> None:
        file = write(tmp_path / "e.jsonl", *(job(f"ä {n}", n=[1.0, 1e3]) for n in range(10)))
        with RealBroker(tmp_path) as broker, Server(tmp_path) as server:
            assert streamt_ol(*send(broker, file)).returncode == 0
            assert streamt_ol(*forward(broker, server, "--until-end")).returncode == 0
            assert sorted(server.bodies()) == sorted(file.read_text().splitlines())

    def test_two_members_of_a_group_share_the_records(self, tmp_path: Path) -> None:
        values = [json.dumps(job(f"j{n}")).encode() for n in range(600)]
        with (
            RealBroker(tmp_path) as broker,
            Server(tmp_path / "a", {"delay": 0.005}) as one,
            Server(tmp_path / "b", {"delay": 0.005}) as two,
        ):
            # None is to be missed on a busy machine: it would end, and say so.
            patient = {"session.timeout.ms": 10_000}
            members = [started(forward(broker, server, **patient)) for server in (one, two)]
            broker.produce(*values)
            arrived: set[str] = set()
            while len(arrived) < len(values):
                assert all(member.poll() is None for member in members)
                arrived = {*one.bodies(), *two.bodies()}
                time.sleep(0.1)
            for member in members:
                member.send_signal(signal.SIGTERM)
            reports = [member.communicate(timeout=60) for member in members]
            assert broker.committed("g") == len(values)
        assert [member.returncode for member in members] == [143, 143], reports
        assert arrived == {value.decode() for value in values}

    def test_a_member_that_joins_takes_over_from_one_that_is_killed(self, tmp_path: Path) -> None:
        values = [json.dumps(job(f"j{n}")).encode() for n in range(300)]
        with RealBroker(tmp_path) as broker, Server(tmp_path, {"delay": 0.01}) as server:
            broker.produce(*values)
            first = started(forward(broker, server))
            wait_until(lambda: server.count() > 20)
            second = started(forward(broker, server))
            first.kill()
            first.communicate()
            wait_until(lambda: set(server.bodies()) == {value.decode() for value in values})
            second.send_signal(signal.SIGTERM)
            second.communicate(timeout=60)
            assert second.returncode == 143
            assert server.count() - len(values) <= 1 + 1, "in hand at the kill and at the change"

    def test_kill_9_at_every_moment_loses_nothing(self, tmp_path: Path) -> None:
        values = [json.dumps(job(f"j{n}")).encode() for n in range(1_500)]
        moments = random.Random(2)
        kills = 8
        with RealBroker(tmp_path) as broker, Server(tmp_path) as server:
            broker.produce(*values)
            command = forward(broker, server, "--no-validate")
            for _ in range(kills):
                wanted = server.count() + moments.randint(1, 150)
                child = started(command)
                wait_until(lambda least=wanted: server.count() >= least)  # type: ignore[misc]
                child.kill()
                child.communicate()
            last = streamt_ol(*command, "--until-end")
            arrived = [body.encode() for body in server.bodies()]
        assert last.returncode == 0, last.stderr
        assert set(arrived) == set(values)
        assert len(arrived) - len(values) <= kills

    def test_a_broker_that_is_killed_and_comes_back_loses_nothing(self, tmp_path: Path) -> None:
        """`forward` says that the group is lost; no more than arrived is committed."""
        values = [json.dumps(job(f"j{n}")).encode() for n in range(400)]
        wanted = {value.decode() for value in values}
        kills = 0
        with RealBroker(tmp_path) as broker, Server(tmp_path, {"delay": 0.005}) as server:
            broker.produce(*values[:300])
            child = started(forward(broker, server))
            end = time.monotonic() + 120
            while (arrived := set(server.bodies())) != wanted:
                assert time.monotonic() < end
                if kills < 3 and len(arrived) > 60 * (kills + 1):
                    kills += 1
                    broker.kill()
                    time.sleep(0.5)
                    broker.start()
                    if kills == 3:
                        broker.produce(*values[300:])
                if child.poll() is not None:
                    _, err = child.communicate()
                    assert (child.returncode, err[:9]) == (1, b"stopped: "), err
                    assert broker.committed("g") <= len(set(server.bodies()))
                    return  # the broker keeps a member that left as leader: none can take over
                time.sleep(0.05)
            child.send_signal(signal.SIGTERM)
            _, err = child.communicate(timeout=60)
        assert kills == 3
        assert b"Traceback" not in err


class TestTls:
    def test_the_authority_of_the_broker_is_trusted(self, tmp_path: Path) -> None:
        file = write(tmp_path / "e.jsonl", *(job(f"j{n}") for n in range(10)))
        with (
            RealBroker(tmp_path / "broker", tls="localhost") as broker,
            Server(tmp_path) as server,
        ):
            settings = {"security.protocol": "SSL", "ssl.ca.location": str(broker.ca_file)}
            (tmp_path / "tls.json").write_text(json.dumps(settings))
            sent = streamt_ol(*send(broker, file, "--kafka-config", tmp_path / "tls.json"))
            assert len(broker.records()) == 10
            forwarded = streamt_ol(*forward(broker, server, "--until-end", **settings))
            assert sorted(server.bodies()) == sorted(file.read_text().splitlines())
        assert (sent.returncode, sent.stdout) == (0, b"sent 10, skipped 0, refused 0\n")
        assert forwarded.returncode == 0, forwarded.stderr

    @pytest.mark.parametrize(
        ("case", "cause"),
        [
            ("another authority", b"certificate verify failed"),
            ("another name", b"certificate verify failed"),
            ("plain", b"the port may want another security.protocol"),
            ("no tls", b"the port may want another security.protocol"),
        ],
    )
    def test_what_is_not_trusted_gets_nothing(
        self, tmp_path: Path, case: str, cause: bytes
    ) -> None:
        file = write(tmp_path / "e.jsonl", job("secret"))
        name = {"another name": "other.example", "no tls": None}.get(case, "localhost")
        with RealBroker(tmp_path / "broker", tls=name) as broker, Server(tmp_path) as server:
            if case in ("another authority", "no tls"):
                trustme.CA().cert_pem.write_to_path(str(broker.ca_file))
            settings = {"security.protocol": "SSL", "ssl.ca.location": str(broker.ca_file)}
            if case == "plain":
                settings = {}
            (tmp_path / "tls.json").write_text(json.dumps(settings))
            config = ("--kafka-config", tmp_path / "tls.json", "--timeout", "3")
            sent = streamt_ol(*send(broker, file, *config))
            forwarded = streamt_ol(
                *forward(broker, server, "--until-end", "--timeout", "3", **settings)
            )
            assert server.requests() == []
        assert (sent.returncode, forwarded.returncode) == (1, 1)
        assert sent.stdout == b"sent 0, skipped 0, refused 0, failed 1\n"
        for done in (sent, forwarded):
            assert cause in done.stderr
            assert b"without TLS" not in done.stderr, "it is one with TLS, or says nothing"
            assert b"Traceback" not in done.stderr
            assert b"%3|" not in done.stderr
