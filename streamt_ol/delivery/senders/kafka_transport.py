"""Kafka as a transport of the configuration: the fields of the official client's ``KafkaConfig``.

For `streamt-ol run` only: the specification leaves Kafka out for streamt's own commands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from streamt_ol.delivery.items import Item
from streamt_ol.delivery.senders.kafka import KafkaSender, confluent_kafka
from streamt_ol.delivery.senders.kafka_settings import (
    BROKERS,
    checked_settings,
)
from streamt_ol.problems import Location
from streamt_ol.redaction import shown, shown_path
from streamt_ol.transport.base import Closing, DeliveryError, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamt_ol.delivery.outcome import Outcome
    from streamt_ol.transport.base import FailureKind, Transport

TIMEOUT = 5.0  # seconds for one event, as for the other transports
_CONFIG = Location(field="transport.config")
_FIELDS = {"type", "topic", "config", "messageKey", "message_key", "flush"}
_FAILURES: dict[str, FailureKind] = {"refused": "too-large"}


@dataclass(frozen=True)
class KafkaConfig:
    """Produce each event to ``topic``, with ``key``, or else that of the official client."""

    topic: str
    settings: Mapping[str, Any]
    key: str | None = None

    @property
    def is_unencrypted(self) -> bool:
        """Whether events go over plain http, which they do not."""
        return False

    def open(self) -> Transport:
        """Make the producer; the first event connects it. Raises ``StreamtOlError``."""
        return KafkaTransport(self)


def kafka_config(section: Mapping[str, Any]) -> KafkaConfig:
    """Return the checked fields of a ``transport`` section of the type ``kafka``.

    Every event is flushed: ``flush: false`` is refused. Raises ``StreamtOlError`` at the field.
    """
    for name in section:
        if name not in _FIELDS:
            refuse(f"transport.{shown_path(str(name))}", "this field is not supported", "remove it")
    topic = section.get("topic")
    if not isinstance(topic, str) or not topic.strip():
        refuse("transport.topic", "it must be given, as text")
    given = section.get("config")
    if not isinstance(given, dict):
        refuse("transport.config", "it must be given, as a mapping of Kafka settings")
    brokers = given.get(BROKERS)
    if not isinstance(brokers, str) or not brokers.strip():
        refuse(f"transport.config.{BROKERS}", "it must be given, as text")
    if section.get("flush", True) is not True:
        refuse("transport.flush", "every event is flushed", "set it to true")
    keys = [section[name] for name in ("messageKey", "message_key") if name in section]
    if not all(isinstance(key, str) and key for key in keys) or len(set(keys)) > 1:
        refuse("transport.messageKey", "it must be one text, or absent")
    confluent_kafka(Location(field="transport.type"))
    settings = checked_settings(
        brokers, given, (Location(field=f"transport.config.{BROKERS}"), _CONFIG)
    )
    return KafkaConfig(topic, settings, keys[0] if keys else None)


@final
class KafkaTransport(Closing):
    """Hands one event at a time to a ``KafkaSender``, and waits for its delivery report."""

    def __init__(self, config: KafkaConfig) -> None:
        self._target = f"topic {shown(config.topic)}"
        self._sender: KafkaSender | None = KafkaSender(
            config.settings, config.topic, TIMEOUT, key=config.key, location=_CONFIG
        )

    def emit(self, event_bytes: bytes) -> None:
        """Produce one event and wait until the brokers have it. Raises ``DeliveryError``."""
        if self._sender is None:
            raise DeliveryError("closed", "the transport is closed")
        item = Item(1, event_bytes, event_bytes)
        outcome: Outcome = self._sender.deliver([item])[0]
        if outcome.state != "sent":
            kind = _FAILURES.get(outcome.state, "broken")
            raise DeliveryError(kind, f"{self._target}: {outcome.detail}")

    def close(self) -> None:
        """Drop what has no report. May be repeated."""
        if self._sender is not None:
            self._sender.close()
            self._sender = None
