"""Kafka by confluent-kafka (the extra `streamt-ol[kafka]`): a producer that believes reports only.

Success is the broker's delivery report, with ``acks=all`` and an idempotent producer, and keys as
the official client makes them.
"""

from __future__ import annotations

import logging
import re
import time
from typing import TYPE_CHECKING, Any, final

from streamt_ol.delivery.items import key_of
from streamt_ol.delivery.outcome import Outcome
from streamt_ol.delivery.receivers.standard import DEFAULT_LIMIT, too_large
from streamt_ol.delivery.senders.kafka_settings import CONFIG, at_setting
from streamt_ol.problems import INVALID, Location, StreamtOlError
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    from streamt_ol.delivery.items import Item
    from streamt_ol.transport.base import Deadline

# Seconds in which a connection is made: a broker that is silent is told before an event's time
# is over, at most half of which this is.
_CONNECT = 10
RECEIVER = Location(option="to")
_SILENT = logging.getLogger("streamt_ol.kafka")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


def confluent_kafka(location: Location = RECEIVER) -> ModuleType:
    """Return the module, or raise ``StreamtOlError`` saying how to install it."""
    try:
        import confluent_kafka as module
    except ImportError:
        raise StreamtOlError(
            INVALID,
            "Kafka needs the package confluent-kafka, which is not installed",
            location=location,
            suggestion="pip install 'streamt-ol[kafka]'",
        ) from None
    return module


@final
class Causes:
    """The reports of a client besides the fate of messages: why its brokers cannot be used."""

    def __init__(self) -> None:
        self._module = confluent_kafka()
        self._said = ""
        self.is_lasting = False

    def note(self, error: Any) -> None:
        """Take an error of the client's own (its ``error_cb``)."""
        codes = self._module.KafkaError
        if error.code() == codes._ALL_BROKERS_DOWN and self._said:
            return  # the cause came before
        # No later attempt makes a certificate trusted, or a user known.
        self.is_lasting |= error.fatal() or error.code() in (codes._AUTHENTICATION, codes._SSL)
        self._said = shown(error.str(), 300)[1:-1]
        if "certificate verify failed" not in self._said and "SSL_HANDSHAKE" in self._said:
            self._said += " (the port may be one without TLS)"
        elif error.code() == codes._ALL_BROKERS_DOWN:  # none says why
            self._said += (
                " (the port may want another security.protocol, or a certificate of yours)"
            )

    def explain(self, message: str) -> str:
        """Return ``message`` with the cause that is known."""
        return f"{message}: {self._said}" if self._said else message


def connecting(seconds: float) -> dict[str, int]:
    """Return the setting by which a connection that is not made is reported within ``seconds``."""
    return {"socket.connection.setup.timeout.ms": max(1000, int(min(_CONNECT, seconds / 2) * 1000))}


def client(
    kind: str, settings: Mapping[str, Any], location: Location, causes: Causes | None = None
) -> Any:
    """Return a ``Producer`` or ``Consumer``. Raises ``StreamtOlError``, without any value."""
    module = confluent_kafka()
    causes = causes or Causes()
    # librdkafka's own log lines would go to stderr, past every redaction.
    try:
        return getattr(module, kind)({**settings, "logger": _SILENT, "error_cb": causes.note})
    except (module.KafkaException, TypeError, ValueError) as error:
        # What the library says holds the value: only the name of the setting is taken from it.
        named = _setting_in(error, settings)
        message = "the library does not know this setting, or not this value of it"
        if named.endswith((".location", ".pem")):
            message = "the library can read no certificate or key there"
        if not named:
            message = "the library refuses the Kafka settings"
        where = at_setting(location, named) if named else location
        raise StreamtOlError(INVALID, message, location=where) from None


def _setting_in(error: Exception, settings: Mapping[str, Any]) -> str:
    """Return the name of the setting that an error is about, "" if it names none."""
    said = str(error)
    found = {
        match.start(): name
        for name in settings
        if (match := re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", said))
    }
    return found[min(found)] if found else ""


@final
class KafkaSender:
    """Produces a batch of events and waits for the delivery report of each of them.

    ``seconds`` bound one event's delivery, librdkafka's own retries included, and ``deadline``,
    where there is one, that of all of them. ``key`` replaces the keys of the official client;
    ``location`` is that of the settings, for an error.
    """

    batch_size = 1000

    def __init__(
        self,
        settings: Mapping[str, Any],
        topic: str,
        seconds: float,
        deadline: Deadline | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        key: str | None = None,
        location: Location = CONFIG,
    ) -> None:
        self._topic = topic
        self._key = key
        self._seconds = seconds
        self._clock = clock
        self._deadline = deadline
        self._module = confluent_kafka()
        self._limit = int(settings.get("message.max.bytes", DEFAULT_LIMIT))
        self._causes = Causes()
        self._producer = client(
            "Producer",
            {
                "client.id": "streamt-ol",
                "linger.ms": 5,
                **connecting(seconds),
                **settings,
                "acks": "all",
                "enable.idempotence": True,
                "message.timeout.ms": max(1, int(self._within(seconds) * 1000)),
            },
            location,
            self._causes,
        )

    def deliver(self, items: Sequence[Item]) -> list[Outcome]:
        """Produce all items; return when each has its report, or none will come."""
        outcomes: dict[int, Outcome] = {}
        for index, item in enumerate(items):
            self._produce(index, item, outcomes)
        # librdkafka reports every message by its own timeout; the rest is room for the report.
        end = self._clock() + self._within(self._seconds + 10)
        while len(outcomes) < len(items) and (left := end - self._clock()) > 0:
            self._producer.poll(min(0.1, left))
            if self._causes.is_lasting:
                break
        said = self._causes.explain("Kafka: not delivered")
        missing = Outcome("failed", said, is_fatal=True)
        return [outcomes.get(index, missing) for index in range(len(items))]

    def close(self) -> None:
        """Drop what has no report yet: it was reported as failed."""
        self._producer.purge()
        self._producer.poll(0)

    def _within(self, seconds: float) -> float:
        """Return ``seconds``, or how many are left of the whole delivery."""
        if self._deadline is None:
            return seconds
        try:
            return min(seconds, self._deadline.left())
        except TimeoutError:
            return 0

    def _produce(self, index: int, item: Item, outcomes: dict[int, Outcome]) -> None:
        def report(error: Any, _message: Any) -> None:
            outcomes[index] = self._failed(error, item) if error else Outcome("sent")

        while True:
            try:
                key = self._key or key_of(item.event)
                self._producer.produce(self._topic, item.body, key.encode(), on_delivery=report)
            except BufferError:  # the local queue is full: reports make room
                self._producer.poll(0.1)
            except self._module.KafkaException as error:
                outcomes[index] = self._failed(error.args[0], item)
                return
            else:
                self._producer.poll(0)
                return

    def _failed(self, error: Any, item: Item) -> Outcome:
        """Read an error: a message that the broker will never take, or one not taken in time."""
        codes = self._module.KafkaError
        lasting = {
            codes.MSG_SIZE_TOO_LARGE, codes.INVALID_MSG, codes.INVALID_MSG_SIZE,
            codes.INVALID_RECORD,
        }  # fmt: skip
        fatal = {
            codes._AUTHENTICATION, codes.TOPIC_AUTHORIZATION_FAILED, codes._UNKNOWN_TOPIC,
            codes.UNKNOWN_TOPIC_OR_PART, codes.TOPIC_EXCEPTION, codes._MSG_TIMED_OUT,
        }  # fmt: skip
        code = error.code()
        detail = f"Kafka: {shown(error.str(), 200)[1:-1]}"
        if code in (codes._MSG_TIMED_OUT, codes._TRANSPORT, codes._ALL_BROKERS_DOWN):
            detail = self._causes.explain(detail)
        if code == codes.MSG_SIZE_TOO_LARGE:
            detail = too_large(item.event, len(item.body), self._limit) or detail
        if code in lasting:
            return Outcome("refused", detail)
        return Outcome("failed", detail, is_fatal=code in fatal or error.fatal())
