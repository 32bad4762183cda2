"""Readers of what is delivered to a topic: one of the standard, and OpenMetadata's connector.

They are written from what is documented. A reader follows the topic from where it was made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from confluent_kafka import Consumer, TopicPartition

from streamt_ol.transport.base import Closing

Event = dict[str, Any]


class Record(NamedTuple):
    """One record as it was read."""

    key: str
    value: bytes


class Follower(Closing):
    """Reads the records of a topic as they come."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        self._consumer = Consumer({
            "bootstrap.servers": bootstrap,
            "group.id": "follower-of-the-tests",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 10,
            "fetch.message.max.bytes": 4_000_000,
        })  # fmt: skip
        self._consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])

    def next(self, seconds: float = 20) -> Record:
        """Return the next record, of which one is known to be there."""
        record = self._consumer.poll(seconds)
        assert record is not None
        assert record.error() is None, record.error()
        key, value = record.key(), record.value()
        assert key is not None
        assert value is not None
        return Record(bytes(key).decode(), bytes(value))

    def close(self) -> None:
        self._consumer.close()


def official_key(event: Event) -> str:
    """Return the key by what the official client documents: the root, the parent, or the job."""
    if "run" in event and "job" in event:  # a DatasetEvent may hold a run
        parent = event["run"].get("facets", {}).get("parent", {})
        jobs = [parent.get("root", {}).get("job"), parent.get("job"), event["job"]]
        job = next(job for job in jobs if job)
        return f"run:{job['namespace']}/{job['name']}"
    kind = "job" if "job" in event else "dataset"
    return f"{kind}:{event[kind]['namespace']}/{event[kind]['name']}"


class Connector:
    """OpenMetadata's ingestion connector with a catalog of topics.

    ``services`` are the ``bootstrapServers`` of its messaging services; each has every topic.
    """

    def __init__(self, *services: str) -> None:
        self._services = services

    def edges(self, event: Event) -> list[tuple[str, str]] | None:
        """Return the edges that the event makes, None where it is dropped as malformed."""
        is_run = event.get("eventType") in ("START", "RUNNING", "COMPLETE") and "run" in event
        job = event.get("job", {})
        if not is_run or "inputs" not in event or "outputs" not in event:
            return None
        if not job.get("namespace") or not job.get("name"):
            return None
        inputs, outputs = (
            [topic for one in event[side] for topic in self._topics(one)]
            for side in ("inputs", "outputs")
        )
        if not event["inputs"] or not event["outputs"]:
            parent = event["run"].get("facets", {}).get("parent")
            pipeline = (parent or event)["job"]["name"]
            return [(i, pipeline) for i in inputs] + [(pipeline, o) for o in outputs]
        return [(i, o) for i in inputs for o in outputs]

    def _topics(self, dataset: Event) -> Iterator[str]:
        url = urlsplit(dataset["namespace"])
        if url.scheme != "kafka" or "," in url.netloc:
            return
        broker = f"{url.hostname}:{url.port}"
        for service in self._services:
            if broker in service.split(","):
                yield f"{service} {dataset['name']}"


def parsed(record: Record) -> Event:
    """Return the event of a record."""
    event: Event = json.loads(record.value)
    return event
