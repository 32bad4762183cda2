"""Receivers that take the standard's three kinds of event, whatever reads them afterwards."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from streamt_ol.delivery.items import key_of
from streamt_ol.delivery.outcome import ACCEPTED, REFUSED, Verdict
from streamt_ol.delivery.receivers.acceptance import any_kind
from streamt_ol.delivery.receivers.receiver import Receiver

if TYPE_CHECKING:
    from streamt_ol.delivery.items import Event
    from streamt_ol.delivery.receivers.acceptance import Acceptance, Candidate

# librdkafka's own default of message.max.bytes; brokers take a little more.
DEFAULT_LIMIT = 1_000_000
# Around key and value, as librdkafka counts it (RD_KAFKAP_MESSAGE_V2_MAX_OVERHEAD).
OVERHEAD = 36
_KEY = len("dataset:/")


def too_large(event: Event, size: int, limit: int) -> str:
    """Return why an event is too large for a message, "" if it is not.

    Its key counts, and librdkafka's overhead.
    """
    whole = size + len(key_of(event).encode(errors="replace")) + OVERHEAD
    if whole <= limit:
        return ""
    return f"a message of {whole:,} bytes is over the limit of {limit:,} (message.max.bytes)"


def message_rules(limit: int, candidate: Candidate) -> Verdict:
    """Accept every kind of event that one message of at most ``limit`` bytes can hold."""
    verdict = any_kind(candidate)
    # The key is made of two texts of the event, which most need not be parsed for.
    if verdict.status != ACCEPTED or 2 * candidate.size + _KEY + OVERHEAD <= limit:
        return verdict
    reason = too_large(candidate.event, candidate.size, limit)
    return Verdict(REFUSED, (reason,)) if reason else verdict


def read_limit_for(rules: Callable[[int, Candidate], Verdict]) -> Callable[[Path], Acceptance]:
    """Return what reads a ``--kafka-config`` file, and returns ``rules`` with its limit."""

    def read(path: Path) -> Acceptance:
        from streamt_ol.delivery.senders.kafka_settings import kafka_file

        limit = kafka_file(str(path)).get("message.max.bytes", DEFAULT_LIMIT)
        is_number = isinstance(limit, (int, str)) and str(limit).isdecimal()
        return partial(rules, int(limit) if is_number else DEFAULT_LIMIT)

    return read


OPENLINEAGE = Receiver(
    "openlineage",
    "http",
    "any server of the standard; --endpoint, default /api/v1/lineage",
    any_kind,
    endpoint="/api/v1/lineage",
    requires_core=True,
    tokens=("bearer",),
    may_gzip=True,
)
KAFKA = Receiver(
    "kafka",
    "kafka",
    "a topic, keyed as the official client keys it",
    partial(message_rules, DEFAULT_LIMIT),
    requires_core=True,
    read_settings=read_limit_for(message_rules),
    settings_option="kafka_config",
)
FILE = Receiver(
    "file", "file", "a local file that is only appended to", any_kind, requires_core=True
)
CONFIG = Receiver(
    "config",
    "config",
    "the transport that OPENLINEAGE_CONFIG configures",
    any_kind,
    requires_core=True,
)
