"""Kafka, spoken over real sockets to a cluster in another process, read back by a third one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from openlineage.client import event_v2
from openlineage.client.facet_v2 import parent_run
from openlineage.client.transport.kafka import KafkaTransport
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.delivery.events import dataset, job, refs, run, write
from support.delivery.servers import Broker, Server, forward

from streamt_ol.delivery.items import Item, key_of
from streamt_ol.delivery.senders.kafka import KafkaSender
from streamt_ol.delivery.senders.kafka_settings import kafka_settings
from streamt_ol.problems import StreamtOlError
from streamt_ol.transport.base import Deadline

if TYPE_CHECKING:
    from pathlib import Path

KEY = "planted-key-4711-never-to-be-seen"


class TestKeys:
    """As ``KafkaTransport._get_message_key`` of the official client makes them."""

    @pytest.mark.parametrize(
        ("event", "key"),
        [
            (run("r"), "run:jobs/r"),
            (job("j"), "job:jobs/j"),
            (dataset("d"), "dataset:db://h/d"),
        ],
    )
    def test_by_kind(self, event: dict[str, object], key: str) -> None:
        assert key_of(event) == key

    def test_the_official_client_agrees(self) -> None:
        """Its own method, on its own classes, for runs with a parent and a root."""
        transport = KafkaTransport.__new__(KafkaTransport)
        for facet in (
            None,
            {"run": {"runId": RUN}, "job": {"namespace": "p", "name": "parent"}},
            {
                "run": {"runId": RUN},
                "job": {"namespace": "p", "name": "parent"},
                "root": {"run": {"runId": RUN}, "job": {"namespace": "q", "name": "root"}},
            },
        ):
            mine = run("child")
            facets: dict[str, Any] = {}
            if facet is not None:
                mine["run"]["facets"] = {"parent": facet}
                root = facet.get("root")
                facets["parent"] = parent_run.ParentRunFacet(
                    run=parent_run.Run(RUN),
                    job=parent_run.Job("p", "parent"),
                    root=parent_run.Root(
                        run=parent_run.RootRun(RUN), job=parent_run.RootJob("q", "root")
                    )
                    if root
                    else None,
                )
            theirs = event_v2.RunEvent(
                eventType=event_v2.RunState.COMPLETE,
                eventTime="2026-10-21T08:00:00Z",
                producer="https://example.com",
                run=event_v2.Run(RUN, facets=facets),
                job=event_v2.Job("jobs", "child"),
            )
            assert key_of(mine) == transport._get_message_key(theirs)


RUN = "4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"


class TestSend:
    def test_records_keys_and_order(self, tmp_path: Path) -> None:
        events = [run(f"j{n % 7}", "RUNNING", at=n) for n in range(300)]
        file = write(tmp_path / "e.jsonl", *events, job("ä"), dataset("d"))
        with Broker() as broker:
            done = streamt_ol(
                "send", file, "--to", "kafka", "--bootstrap", broker.bootstrap, "--topic",
                broker.topic,
            )  # fmt: skip
            records = broker.records()
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == b"sent 302, skipped 0, refused 0\n"
        assert sorted(r["value"] for r in records) == sorted(file.read_text().splitlines())
        assert all(r["key"] == key_of(json.loads(r["value"])) for r in records)
        for name in (f"j{n}" for n in range(7)):
            mine = [r for r in records if r["key"] == f"run:jobs/{name}"]
            assert len({r["partition"] for r in mine}) == 1
            places = [json.loads(r["value"])["at"] for r in mine]
            assert places == sorted(places)

    def test_no_broker_is_told(self, tmp_path: Path) -> None:
        file = write(tmp_path / "e.jsonl", job("a"), job("b"))
        done = streamt_ol(
            "send", file, "--to", "kafka", "--bootstrap", "127.0.0.1:1", "--topic", "t",
            "--timeout", "0.5", "--retries", "0",
        )  # fmt: skip
        assert done.returncode == 1
        assert done.stdout == b"sent 0, skipped 0, refused 0, failed 2\n"
        assert b"%3|" not in done.stderr  # librdkafka's own log lines

    def test_a_record_that_is_too_large_is_refused_and_the_rest_goes_on(
        self, tmp_path: Path
    ) -> None:
        file = write(tmp_path / "e.jsonl", job("big", text="x" * 2_000_000), job("b"))
        with Broker() as broker:
            done = streamt_ol(
                "send", file, "--to", "kafka", "--bootstrap", broker.bootstrap, "--topic",
                broker.topic, "--rejected", tmp_path / "rejected",
            )  # fmt: skip
            assert [r["key"] for r in broker.records()] == ["job:jobs/b"]
        assert done.stdout == b"sent 1, skipped 0, refused 1\n"
        assert len((tmp_path / "rejected").read_text().splitlines()) == 1

    @pytest.mark.parametrize(
        ("settings", "field"),
        [
            ("acks: '0'", "acks"),
            ("enable.idempotence: false", "enable.idempotence"),
            ("enable.ssl.certificate.verification: false", "enable.ssl.certificate.verification"),
            ("ssl.endpoint.identification.algorithm: none", "ssl.endpoint.identification"),
            (f"sasl.password: {KEY}\nsasl.username: u", "security.protocol"),
            (f"sasl.password: [{KEY}]\nsecurity.protocol: SASL_SSL", "sasl.password"),
            (f"sasl.passwort: {KEY}\nsecurity.protocol: SASL_SSL", "--kafka-config: sasl.passwort"),
            (f"security.protocol: {KEY}", "--kafka-config: security.protocol"),
            (f"statistics.interval.ms: {KEY}", "--kafka-config: statistics.interval.ms"),
            (f"error_cb: {KEY}", "--kafka-config: error_cb"),
            (f"stats_cb: {KEY}", "--kafka-config: stats_cb"),
            (f"oauth_cb: {KEY}", "--kafka-config: oauth_cb"),
            (f"throttle_cb: {KEY}", "--kafka-config: throttle_cb"),
            (f"on_delivery: {KEY}", "--kafka-config: on_delivery"),
            (f"key.serializer: {KEY}", "--kafka-config"),
            ("test.mock.num.brokers: 3", "--kafka-config: test.mock.num.brokers"),
            (f"- {KEY}", "--kafka-config"),
        ],
    )
    def test_settings_that_are_refused(self, tmp_path: Path, settings: str, field: str) -> None:
        (tmp_path / "kafka.yml").write_text(settings)
        done = streamt_ol(
            "send", write(tmp_path / "e", job("a")), "--to", "kafka", "--bootstrap",
            "broker.example:9092", "--topic", "t", "--kafka-config", tmp_path / "kafka.yml",
        )  # fmt: skip
        assert done.returncode == 1
        assert field in done.stderr.decode()
        assert KEY not in done.stderr.decode()
        assert b"Traceback" not in done.stderr

    def test_the_deadline_ends_the_wait_for_reports(self) -> None:
        """No broker, ten seconds for an event: after the deadline nothing is waited for."""
        now = [0.0]

        def clock() -> float:
            now[0] += 0.3
            return now[0]

        line = json.dumps(job("a")).encode()
        sender = KafkaSender(
            {"bootstrap.servers": "127.0.0.1:1"}, "t", 10, Deadline(1.0, clock), clock
        )
        (outcome,) = sender.deliver([Item(1, line, line)])
        sender.close()
        assert outcome.state == "failed"
        assert now[0] < 10, "more than its ten seconds were not counted"

    def test_without_the_package_it_says_how_to_install_it(self, tmp_path: Path) -> None:
        program = (
            "import sys; sys.modules['confluent_kafka'] = None\n"
            "from streamt_ol.cli.app import run\n"
            "sys.exit(run(['send', sys.argv[1], '--to', 'kafka', '--bootstrap', 'b:9', "
            "'--topic', 't']))"
        )
        file = write(tmp_path / "e.jsonl", job("a"))
        done = subprocess.run(
            [sys.executable, "-c", program, str(file)], capture_output=True, check=False
        )
        assert done.returncode == 1
        assert b"pip install 'streamt-ol[kafka]'" in done.stderr
        assert b"Traceback" not in done.stderr


class TestForward:
    def test_to_the_end_and_then_only_what_is_new(self, tmp_path: Path) -> None:
        values = [json.dumps(job(f"j{n}")).encode() for n in range(20)]
        with Broker() as broker, Server(tmp_path) as server:
            broker.produce(*values[:15], partitions=2)
            first = streamt_ol(*forward(broker, server, "--until-end"))
            broker.produce(*values[15:], partitions=2)
            second = streamt_ol(*forward(broker, server, "--until-end"))
            bodies = [body.encode() for body in server.bodies()]
        assert (first.returncode, first.stdout) == (0, b"sent 15, skipped 0, refused 0\n")
        assert (second.returncode, second.stdout) == (0, b"sent 5, skipped 0, refused 0\n")
        assert sorted(bodies) == sorted(values)

    def test_poison_is_kept_and_passed(self, tmp_path: Path) -> None:
        good = json.dumps(job("good")).encode()
        refused = json.dumps(job("bad")).encode()
        values = [b"no json", None, b"two\nlines", refused, good]
        rejected = tmp_path / "rejected.jsonl"
        with Broker() as broker, Server(tmp_path, {"match": '"bad"', "status": 400}) as server:
            broker.produce(*values)
            done = streamt_ol(*forward(broker, server, "--until-end", "--rejected", rejected))
            again = streamt_ol(*forward(broker, server, "--until-end"))
            assert server.bodies() == [refused.decode(), good.decode()]
        assert (done.returncode, again.returncode) == (1, 0)
        assert done.stdout == b"sent 1, skipped 1, refused 3\n"
        assert rejected.read_bytes().splitlines() == [
            b"no json", b'{"rejected_base64": "dHdvCmxpbmVz"}', refused
        ]  # fmt: skip

    def test_poison_without_a_place_to_keep_it_stops_before_it_is_committed(
        self, tmp_path: Path
    ) -> None:
        values = [json.dumps(job("a")).encode(), b"poison", json.dumps(job("b")).encode()]
        with Broker() as broker, Server(tmp_path) as server:
            broker.produce(*values)
            done = streamt_ol(*forward(broker, server, "--until-end"))
            rest = streamt_ol(*forward(broker, server, "--until-end", "--rejected", tmp_path / "r"))
            assert [json.loads(b)["job"]["name"] for b in server.bodies()] == ["a", "b"]
        assert done.returncode == 1
        assert b"there is no --rejected" in done.stderr
        assert rest.stdout == b"sent 1, skipped 0, refused 1\n"

    @pytest.mark.parametrize("status", [301, 401, 403, 404])
    def test_what_is_about_the_connection_is_no_poison(self, tmp_path: Path, status: int) -> None:
        values = [json.dumps(job(f"j{n}")).encode() for n in range(3)]
        plan = {"match": '"j1"', "status": status, "times": 1}
        rejected = tmp_path / "rejected"
        with Broker() as broker, Server(tmp_path, plan) as server:
            broker.produce(*values)
            done = streamt_ol(*forward(broker, server, "--until-end", "--rejected", rejected))
            rest = streamt_ol(*forward(broker, server, "--until-end", "--rejected", rejected))
            names = [json.loads(b)["job"]["name"] for b in server.bodies()]
        assert (done.returncode, rest.returncode) == (1, 0)
        assert done.stdout == b"sent 1, skipped 0, refused 0, failed 1\n"
        assert f"status {status} is about the connection".encode() in done.stderr
        assert rejected.read_bytes() == b""
        assert names == ["j0", "j1", "j1", "j2"]

    @pytest.mark.slow
    def test_what_made_no_edge_is_kept(self, tmp_path: Path) -> None:
        sides: dict[str, Any] = {"inputs": refs("a.b.c"), "outputs": refs("a.b.d")}
        values = [json.dumps(run(name, **sides)).encode() for name in ("none", "one")]
        rejected = tmp_path / "rejected"
        plans = (
            {"match": '"none"', "status": 200, "body": '{"lineageEdgesCreated": 0}'},
            {"status": 200, "body": '{"status": "success", "lineageEdgesCreated": 1}'},
        )
        with Broker() as broker, Server(tmp_path, *plans) as server:
            broker.produce(*values)
            command = ["forward", "--bootstrap", broker.bootstrap, "--topic", broker.topic,
                       "--group", "g", "--to", "openmetadata", "--url", server.url,
                       "--until-end"]  # fmt: skip
            stopped = streamt_ol(*command)
            kept = streamt_ol(*command, "--rejected", rejected)
        assert (stopped.returncode, kept.returncode) == (1, 1)
        assert b"made no edge, and there is no --rejected" in stopped.stderr
        assert kept.stdout == b"sent 1, skipped 0, refused 0, without edges 1\n"
        assert rejected.read_bytes().splitlines() == values[:1]

    def test_a_receiver_that_is_down_loses_nothing(self, tmp_path: Path) -> None:
        values = [json.dumps(job(f"j{n}")).encode() for n in range(5)]
        plan = {"match": '"j2"', "status": 503, "times": 2}
        with Broker() as broker, Server(tmp_path, plan) as server:
            broker.produce(*values)
            done = streamt_ol(*forward(broker, server, "--until-end", "--retries", "1"))
            rest = streamt_ol(*forward(broker, server, "--until-end"))
            names = [json.loads(b)["job"]["name"] for b in server.bodies()]
        assert (done.returncode, rest.returncode) == (1, 0)
        assert names == ["j0", "j1", "j2", "j2", "j2", "j3", "j4"]

    @pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_a_signal_ends_it_after_the_record_in_hand(
        self, tmp_path: Path, number: signal.Signals, status: int
    ) -> None:
        values = [json.dumps(job(f"j{n}")).encode() for n in range(200)]
        with Broker() as broker, Server(tmp_path, {"delay": 0.01}) as server:
            broker.produce(*values)
            child = subprocess.Popen(
                [PROGRAM, *forward(broker, server)], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, env=clean_environment(),
            )  # fmt: skip
            while len(server.requests()) < 5:
                time.sleep(0.01)
            child.send_signal(number)
            out, err = child.communicate(timeout=30)
            before = len(server.bodies())
            streamt_ol(*forward(broker, server, "--until-end"))
            bodies = [body.encode() for body in server.bodies()]
        assert child.returncode == status
        assert out == f"sent {before}, skipped 0, refused 0\n".encode()
        assert b"Traceback" not in err
        assert bodies == values

    def test_brokers_that_are_not_there(self) -> None:
        options = ("forward", "--bootstrap", "127.0.0.1:1", "--topic", "t", "--group", "g")
        done = streamt_ol(
            *options, "--to", "marquez", "--url", "http://127.0.0.1:1", "--timeout", "0.5"
        )
        assert done.returncode == 1
        assert done.stderr.startswith(b"E506_OPENLINEAGE_INVALID --topic: the topic cannot be read")
        assert streamt_ol(*options, "--to", "kafka").returncode == 2

    def test_unsupported_kinds(self, tmp_path: Path) -> None:
        values = [json.dumps(e).encode() for e in (job("j"), dataset("d"))]
        with Broker() as broker, Server(tmp_path) as server:
            broker.produce(*values)
            done = streamt_ol(
                "forward", "--bootstrap", broker.bootstrap, "--topic", broker.topic, "--group",
                "g", "--to", "openmetadata", "--url", server.url, "--until-end",
                "--skip-unsupported",
            )  # fmt: skip
            assert server.requests() == []
        assert (done.returncode, done.stdout) == (0, b"sent 0, skipped 2, refused 0\n")


class TestSettings:
    def test_settings_that_say_what_is_done_anyway(self, tmp_path: Path) -> None:
        path = tmp_path / "kafka.yml"
        path.write_text(
            "acks: all\nenable.idempotence: true\nenable.auto.commit: 'False'\n"
            "ssl.endpoint.identification.algorithm: https\nqueuing.strategy: fifo\n"
            "bootstrap.servers: b:9092\nlinger.ms: 7\n"
        )
        found = kafka_settings("b:9092", str(path))
        assert found == {"bootstrap.servers": "b:9092", "linger.ms": 7}

    @pytest.mark.parametrize(
        "line",
        ["acks: 1", "acks: 0", "enable.idempotence: false", "bootstrap.servers: other:9092",
         "ssl.endpoint.identification.algorithm: none", "enable.auto.commit: true", "debug: all"],
    )  # fmt: skip
    def test_settings_that_say_something_else(self, tmp_path: Path, line: str) -> None:
        path = tmp_path / "kafka.yml"
        path.write_text(line)
        with pytest.raises(StreamtOlError) as refused:
            kafka_settings("b:9092", str(path))
        assert refused.value.location == f"kafka_config: {line.split(':', maxsplit=1)[0]}"
