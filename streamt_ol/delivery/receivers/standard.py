"""Receivers that take the standard's three kinds of event, whatever reads them afterwards."""

from __future__ import annotations

from streamt_ol.delivery.receivers.acceptance import any_kind
from streamt_ol.delivery.receivers.receiver import Receiver

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
    any_kind,
    requires_core=True,
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
