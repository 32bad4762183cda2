"""From a Kafka topic to a receiver: an offset is committed when its record is acknowledged.

At least once: what was posted but not yet committed when this process ends is posted again.
"""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamt_ol.delivery.items import Item, digest_of
from streamt_ol.delivery.judgement import judged
from streamt_ol.delivery.outcome import Outcome
from streamt_ol.delivery.reading import parsed_event
from streamt_ol.delivery.retries import deliver
from streamt_ol.delivery.senders.kafka import client, confluent_kafka
from streamt_ol.delivery.validity import InvalidEvents
from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping

    from streamt_ol.delivery.plan import Rules
    from streamt_ol.delivery.report import Report
    from streamt_ol.delivery.retries import RetryPolicy
    from streamt_ol.delivery.senders.sender import Sender

_POLL = 0.2
_OF_CONNECTION = frozenset({401, 403, 404, 405, 407})


def consumer(settings: Mapping[str, Any], group: str) -> Any:
    """Return a consumer of ``group`` that commits nothing by itself."""
    return client(
        "Consumer",
        {
            "client.id": "streamt-ol",
            "auto.offset.reset": "earliest",
            **settings,
            "group.id": group,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
        },
        "--kafka-config",
    )


def check_topic(source: Any, topic: str, seconds: float) -> None:
    """Raise ``StreamtOlError`` unless the brokers answer in time and know the topic.

    A consumer by itself would wait for both for ever, and say nothing.
    """
    module = confluent_kafka()
    try:
        error = source.list_topics(topic, timeout=seconds).topics[topic].error
    except module.KafkaException as exception:
        error = exception.args[0]
    if error is not None:
        raise _unreadable(error)


def _unreadable(error: Any) -> StreamtOlError:
    message = f"the topic cannot be read: {shown(error.str(), 200)[1:-1]}"
    return StreamtOlError(INVALID, message, location="--topic")


@dataclass
class Forwarder:
    """Reads records one after the other, and hands each to ``sender``.

    ``reject`` keeps a poison record (no event, refused, or without any edge); without it such a
    record stops the forwarding before it is committed. ``stop`` is set to end it after the
    record in hand.
    """

    source: Any
    topic: str
    sender: Sender
    rules: Rules
    policy: RetryPolicy
    report: Report
    stop: threading.Event
    reject: Callable[[bytes], None] | None = None
    until_end: bool = False
    invalid: InvalidEvents = field(default_factory=InvalidEvents)
    _ended: set[int] = field(default_factory=set)
    _assigned: set[int] = field(default_factory=set)
    _count: int = 0

    def run(self) -> str:
        """Forward until stopped or, with ``until_end``, until the topic's end; return why not on.

        Raises ``StreamtOlError`` when the topic cannot be read.
        """
        self.source.subscribe([self.topic], on_assign=self._on_assign, on_revoke=self._on_revoke)
        reason = ""
        while not reason and not self.stop.is_set() and not self._is_at_end():
            record = self.source.poll(_POLL)
            if record is not None:
                reason = self._take(record)
        return reason

    def _on_assign(self, _: Any, partitions: list[Any]) -> None:
        self._assigned |= {partition.partition for partition in partitions}

    def _on_revoke(self, _: Any, partitions: list[Any]) -> None:
        gone = {partition.partition for partition in partitions}
        self._assigned -= gone
        self._ended -= gone

    def _is_at_end(self) -> bool:
        return self.until_end and bool(self._assigned) and self._assigned <= self._ended

    def _take(self, record: Any) -> str:
        error = record.error()
        if error is not None:
            self._note(record, error)
            return ""
        self._ended.discard(record.partition())
        self._count += 1
        reason = self._forward(record)
        if not reason:
            self._commit(record)
        return reason

    def _commit(self, record: Any) -> None:
        """Commit before the next record is read, so that at most one is ever posted twice.

        A commit that fails, as while the group is rebalancing, is made good by the next one; at
        worst what was posted since is posted again, and nothing is lost.
        """
        with suppress(confluent_kafka().KafkaException):
            self.source.commit(message=record, asynchronous=False)

    def _note(self, record: Any, error: Any) -> None:
        codes = confluent_kafka().KafkaError
        if error.code() == codes._PARTITION_EOF:
            self._ended.add(record.partition())
        elif error.fatal() or error.code() in (
            codes.UNKNOWN_TOPIC_OR_PART, codes._UNKNOWN_TOPIC, codes.TOPIC_AUTHORIZATION_FAILED,
            codes.GROUP_AUTHORIZATION_FAILED, codes._AUTHENTICATION,
        ):  # fmt: skip
            raise _unreadable(error)

    def _forward(self, record: Any) -> str:
        """Deliver one record; return why it must not be committed, "" when it may be."""
        value = record.value()
        if value is None:  # a tombstone holds no event
            self.report.count("skipped")
            return ""
        where = f"partition {record.partition()} offset {record.offset()}"
        event, fault = parsed_event(value)
        if event is None:
            return self._poison(value, where, fault)
        item = Item(self._count, digest_of(value), value, value, event)
        name = f"{where} {item.name}"
        rules = self.rules
        verdict, faults = judged(rules.receiver, event, len(value), rules.validity)
        if not verdict.is_taken:
            if rules.skips_unsupported and not verdict.rules:
                self.report.count("skipped")
                return ""
            return self._poison(value, name, "; ".join(verdict.reasons), rules=verdict.rules)
        self.invalid.add(faults)
        (outcome,) = deliver(self.sender, [item], self.policy, self.stop)
        return self._settle(item, name, outcome)

    def _settle(self, item: Item, name: str, outcome: Outcome) -> str:
        if outcome.state == "unsent":
            return "stopped"
        if outcome.state == "refused" and is_about_connection(outcome.status):
            # The next record would fare no better, so this one is not poison.
            self.report.settle(item.line, lambda: name, outcome._replace(state="failed"))
            return f"status {outcome.status} is about the connection, not about this record"
        if outcome.state in ("refused", "no-edges"):
            return self._poison(item.body, name, outcome.detail, outcome)
        self.report.settle(item.line, lambda: name, outcome)
        return "" if outcome.state == "sent" else "the receiver does not acknowledge"

    def _poison(
        self,
        value: bytes,
        name: str,
        reason: str,
        outcome: Outcome | None = None,
        rules: tuple[str, ...] = (),
    ) -> str:
        if outcome is not None:
            self.report.settle(self._count, lambda: name, outcome)
        else:
            self.report.refuse(self._count, name, reason, rules)
        if self.reject is None:
            what = "made no edge" if outcome and outcome.state == "no-edges" else "was refused"
            return f"a record {what}, and there is no --rejected to keep it"
        self.reject(_one_line(value))
        return ""


def is_about_connection(status: int | None) -> bool:
    """Return whether a refusal is about the address or the token, and so about every record."""
    return status is not None and (status in range(300, 400) or status in _OF_CONNECTION)


def _one_line(value: bytes) -> bytes:
    """Return a record's value as one line; what cannot be one is kept in base64."""
    if b"\n" not in value and b"\r" not in value and value.strip():
        return value
    return json.dumps({"rejected_base64": base64.b64encode(value).decode()}).encode()
