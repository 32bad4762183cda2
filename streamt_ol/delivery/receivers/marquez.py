"""Marquez: the reference server of the standard."""

from __future__ import annotations

from streamt_ol.delivery.receivers.acceptance import any_kind
from streamt_ol.delivery.receivers.receiver import Receiver

MARQUEZ = Receiver(
    "marquez",
    "http",
    "all three kinds of event",
    any_kind,
    endpoint="/api/v1/lineage",
    tokens=("bearer",),
)
