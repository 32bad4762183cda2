"""Readers by the documents make of a topic or a file what `check` says of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.commands import streamt_ol
from support.delivery import broker as cluster
from support.delivery.core import meets_core
from support.delivery.enforcing import SERVERS
from support.delivery.events import dataset, job, refs, run, write
from support.delivery.generated_events import ANSWERS, Sample, check_generated
from support.delivery.readers import Connector, Follower, Record, official_key, parsed
from support.delivery.servers import Broker

from streamt_ol.delivery.items import Item
from streamt_ol.delivery.judgement import judged
from streamt_ol.delivery.outcome import Outcome, Verdict
from streamt_ol.delivery.receivers import CHECKED
from streamt_ol.delivery.routes import route_for
from streamt_ol.delivery.routes.options import DeliveryOptions
from streamt_ol.delivery.validity import Validity

Event = dict[str, Any]
Judging = Callable[[Event, Verdict, Outcome], None]


def test_every_receiver_is_enforced() -> None:
    assert set(CHECKED) == {*SERVERS, "kafka", "openmetadata-kafka", "file"} == set(ANSWERS)


def deliver_generated(options: DeliveryOptions, judging: Judging) -> Sample:
    """Deliver generated events, whatever is said of them, and hand what happened to ``judging``."""
    sample = Sample()
    route = route_for(options, os.environ)
    sender = route.make()

    def body_of(event: Event) -> bytes:
        text = json.dumps(event).encode()
        return route.receiver.adapted(Item(1, text, text))

    def verdict_on(event: Event) -> Verdict:
        text = json.dumps(event).encode()
        item = Item(1, text, text)
        return judged(route.receiver, item, len(body_of(event)), Validity())[0]

    def check(event: Event) -> None:
        body, verdict = body_of(event), verdict_on(event)
        sample.add(event, verdict.status)
        (outcome,) = sender.deliver([Item(1, body, body)])
        judging(event, verdict, outcome)

    try:
        check_generated(options.to, verdict_on, check)
    finally:
        sender.close()
    return sample


@contextmanager
def topic(name: str) -> Iterator[tuple[DeliveryOptions, Follower]]:
    with (
        Broker() as broker,
        Follower(broker.bootstrap, broker.topic, cluster.PARTITIONS) as follower,
    ):
        yield (
            DeliveryOptions(name, bootstrap=broker.bootstrap, topic=broker.topic, timeout=60),
            follower,
        )


def to_topic(options: DeliveryOptions) -> list[str]:
    """Return the options of `send` that say the same."""
    assert options.bootstrap is not None
    assert options.topic is not None
    return ["--to", options.to, "--bootstrap", options.bootstrap, "--topic", options.topic]


def test_a_topic_holds_what_a_reader_of_the_standard_takes(tmp_path: Path) -> None:
    with topic("kafka") as (options, follower):

        def judging(event: Event, verdict: Verdict, outcome: Outcome) -> None:
            assert outcome.state in ("sent", "refused"), outcome
            record = follower.next() if outcome.state == "sent" else None
            if verdict.status == "refused":
                assert record is None or not meets_core(parsed(record)), (verdict, outcome)
                return
            assert record == Record(official_key(event), json.dumps(event).encode())
            assert meets_core(event)

        deliver_generated(options, judging).send(tmp_path, *to_topic(options))


def test_the_connector_makes_edges_of_what_depends_and_of_nothing_else(tmp_path: Path) -> None:
    """Its catalog holds every topic; the second service never matches, for its upper case."""
    connector = Connector("b:9092", "B:9092")
    with topic("openmetadata-kafka") as (options, follower):

        def judging(event: Event, verdict: Verdict, outcome: Outcome) -> None:
            if verdict.status == "refused":
                assert outcome.state == "refused", (verdict, outcome)
                return
            assert outcome.state == "sent", (verdict, outcome)
            read = parsed(follower.next())
            edges = connector.edges(read)
            if verdict.status == "ignored":
                assert not edges, (verdict, edges)
                return
            assert edges is not None, (verdict, "the connector drops it")
            assert verdict.edges is not None
            assert len(edges) <= verdict.edges
            assert "B:9092" not in str(edges)
            ends = [*read["inputs"], *read["outputs"]]
            if all(e["namespace"] in ("kafka://b:9092", "kafka://B:9092") for e in ends):
                assert len(edges) == verdict.edges

        deliver_generated(options, judging).send(tmp_path, *to_topic(options))


def test_a_file_holds_what_a_reader_of_the_standard_takes(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    read = 0

    def judging(event: Event, verdict: Verdict, outcome: Outcome) -> None:
        nonlocal read
        assert outcome.state == "sent", outcome
        with path.open("rb") as file:
            file.seek(read)
            line = file.read()
        read += len(line)
        assert line == json.dumps(event).encode() + b"\n"
        assert meets_core(json.loads(line)) == (verdict.status == "accepted"), verdict

    sample = deliver_generated(DeliveryOptions("file", path=str(path)), judging)
    sample.send(tmp_path, "--to", "file", "--path", str(tmp_path / "again.jsonl"))


SIDES: dict[str, Any] = {
    "inputs": refs("in", namespace="kafka://b:9092"),
    "outputs": refs("out", namespace="kafka://b:9092"),
}


class TestSend:
    @pytest.mark.parametrize(("name", "sent"), [("kafka", 3), ("openmetadata-kafka", 1)])
    def test_what_is_sent_to_a_topic_is_there(self, tmp_path: Path, name: str, sent: int) -> None:
        lines = write(tmp_path / "e.jsonl", run("good", **SIDES), job("static"), dataset("d"))
        with topic(name) as (options, follower):
            done = streamt_ol("send", lines, *to_topic(options), "--skip-unsupported")
            found = [parsed(follower.next()) for _ in range(sent)]
        assert done.stdout == f"sent {sent}, skipped {3 - sent}, refused 0\n".encode()
        assert done.returncode == 0, done.stderr
        if name == "openmetadata-kafka":
            assert Connector("a:1,b:9092").edges(found[0]) == [("a:1,b:9092 in", "a:1,b:9092 out")]

    def test_what_is_sent_to_a_file_is_there(self, tmp_path: Path) -> None:
        lines = write(tmp_path / "e.jsonl", run("good", **SIDES), job("static"), dataset("d"))
        done = streamt_ol("send", lines, "--to", "file", "--path", tmp_path / "out")
        assert (done.returncode, done.stdout) == (0, b"sent 3, skipped 0, refused 0\n")
        assert (tmp_path / "out").read_bytes() == lines.read_bytes()
