"""A consumer as a member of its group: polled while a delivery takes its time, committed for.

A member that does not poll for ``max.poll.interval.ms`` loses its partitions, and with them the
right to commit: the record would be posted again, for ever if every delivery takes as long. So a
delivery runs beside the polling; its partitions are paused meanwhile. A rebalance that leaves the
partition of the record in hand with this member changes nothing; one that gives it to another ends
the forwarding.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

from streamt_ol.delivery.senders.kafka import Causes, client, confluent_kafka, connecting
from streamt_ol.delivery.senders.kafka_settings import CONFIG
from streamt_ol.problems import INVALID, Location, StreamtOlError
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamt_ol.delivery.outcome import Outcome

POLL = 0.2
_BEFORE_PAUSE = 1.0
_COMMITS = 25
LOST = "the group has given the partition to another member: the record in hand may come again"


def consumer(
    settings: Mapping[str, Any], group: str, causes: Causes | None = None, seconds: float = 10
) -> Any:
    """Return a consumer of ``group`` that commits nothing by itself.

    Within ``seconds`` it says that a connection cannot be made.
    """
    return client(
        "Consumer",
        {
            "client.id": "streamt-ol",
            "auto.offset.reset": "earliest",
            **connecting(seconds),
            **settings,
            "group.id": group,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
        },
        CONFIG,
        causes,
    )


def check_topic(source: Any, topic: str, seconds: float, causes: Causes) -> None:
    """Raise ``StreamtOlError`` unless the brokers answer in time and know the topic.

    A consumer by itself would wait for both for ever, and say nothing.
    """
    module = confluent_kafka()
    source.poll(0)  # lets the client report why a broker cannot be used
    try:
        error = source.list_topics(topic, timeout=seconds).topics[topic].error
    except module.KafkaException as exception:
        source.poll(0)
        raise unreadable(causes.explain(exception.args[0].str())) from None
    except RuntimeError:  # the client makes no topic of this name
        raise unreadable("no topic can have this name") from None
    if error is not None:
        raise unreadable(error.str())


def unreadable(said: str) -> StreamtOlError:
    """Return the error of a topic that cannot be read, and what the client says of it."""
    message = f"the topic cannot be read: {shown(said, 400)[1:-1]}"
    return StreamtOlError(INVALID, message, location=Location(option="topic"))


@final
class Membership:
    """The partitions of one topic that ``source`` is assigned, one record of them in hand."""

    def __init__(self, source: Any, topic: str) -> None:
        self._source = source
        self._topic = topic
        self._codes = confluent_kafka().KafkaError
        self._assigned: set[int] = set()
        self._ended: set[int] = set()
        self._in_hand: int | None = None  # the partition of the record that is seen to
        self._committed: dict[int, int] = {}  # by partition; what lies before may be read again
        self._done = threading.Event()
        self._is_paused = False
        self._is_lost = False

    def subscribe(self) -> None:
        """Join the group."""
        self._source.subscribe(
            [self._topic],
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_lost,
        )

    def poll(self) -> Any:
        """Return the next record, or None. Raises ``StreamtOlError`` when there can be none."""
        self._in_hand = None
        self._resume()
        record = self._source.poll(POLL)
        if record is None:
            return None
        error = record.error()
        if error is None:
            self._ended.discard(record.partition())
            if record.offset() < self._committed.get(record.partition(), 0):
                return None
            self._in_hand, self._is_lost = record.partition(), False
            return record
        if error.code() == self._codes._PARTITION_EOF:
            self._ended.add(record.partition())
        elif error.fatal() or error.code() in (
            self._codes.UNKNOWN_TOPIC_OR_PART, self._codes._UNKNOWN_TOPIC,
            self._codes.TOPIC_AUTHORIZATION_FAILED, self._codes.GROUP_AUTHORIZATION_FAILED,
            self._codes._AUTHENTICATION,
        ):  # fmt: skip
            raise unreadable(error.str())
        return None

    @property
    def is_at_end(self) -> bool:
        """Whether every assigned partition is read to its end."""
        return bool(self._assigned) and self._assigned <= self._ended

    def during(self, work: Callable[[], Outcome]) -> Outcome:
        """Return what ``work`` returns, done in another thread while the group is polled."""
        results: queue.SimpleQueue[Outcome | BaseException] = queue.SimpleQueue()

        def deliver() -> None:
            try:
                results.put(work())
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
                results.put(error)
            self._done.set()

        self._done.clear()
        threading.Thread(target=deliver, name="forward", daemon=True).start()
        if not self._done.wait(_BEFORE_PAUSE):
            while not self._done.is_set():
                self._poll_paused()
        result = results.get()
        if isinstance(result, BaseException):
            raise result
        return result

    def commit(self, record: Any) -> str:
        """Commit a record before the next one is read; return why that failed, "" if it did not.

        While the group is rebalancing a commit fails for now: it is tried again.
        """
        module = confluent_kafka()
        passing = (self._codes.REBALANCE_IN_PROGRESS, self._codes._WAIT_COORD,
                   self._codes.COORDINATOR_LOAD_IN_PROGRESS, self._codes.NOT_COORDINATOR,
                   self._codes._TIMED_OUT, self._codes._TRANSPORT)  # fmt: skip
        for _ in range(_COMMITS):
            if self._is_lost:
                return LOST
            if record.partition() not in self._assigned:  # until it is known who has it next
                self._poll_paused()
                continue
            try:
                self._source.commit(message=record, asynchronous=False)
            except module.KafkaException as exception:
                error = exception.args[0]
                if error.code() not in passing:
                    return f"{LOST} ({shown(error.str(), 200)[1:-1]})"
                self._poll_paused()
                continue
            self._committed[record.partition()] = record.offset() + 1
            return ""
        return LOST

    def _poll_paused(self) -> None:
        """Poll without taking a record: what comes in spite of the pause is read again later."""
        self._source.pause(self._source.assignment())
        self._is_paused = True
        record = self._source.poll(POLL)
        if record is None:
            return
        error = record.error()
        if error is None:
            offset = confluent_kafka().TopicPartition(
                record.topic(), record.partition(), record.offset()
            )
            self._source.seek(offset)
        elif error.code() == self._codes._PARTITION_EOF:
            self._ended.add(record.partition())
        elif error.code() == self._codes._MAX_POLL_EXCEEDED:
            self._is_lost = True

    def _resume(self) -> None:
        if self._is_paused:
            self._source.resume(self._source.assignment())
            self._is_paused = False

    def _on_assign(self, _: Any, partitions: list[Any]) -> None:
        self._assigned |= {partition.partition for partition in partitions}
        self._is_paused = True  # as the client remembers of one that comes back
        if self._in_hand is not None and self._in_hand not in self._assigned:
            self._is_lost = True  # whoever has the partition now gets the record again

    def _on_revoke(self, _: Any, partitions: list[Any]) -> None:
        gone = {partition.partition for partition in partitions}
        for partition in gone:
            self._committed.pop(partition, None)
        self._assigned -= gone
        self._ended -= gone

    def _on_lost(self, source: Any, partitions: list[Any]) -> None:
        self._is_lost = True
        self._on_revoke(source, partitions)
