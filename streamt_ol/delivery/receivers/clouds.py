"""Catalogs of RunEvents with next to no rules of their own: Alation, Atlan, Apache Gravitino."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamt_ol.delivery.outcome import IGNORED
from streamt_ol.delivery.receivers.receiver import Parameter, Receiver
from streamt_ol.delivery.receivers.run_rules import RunRules, entities


def _alation_asks(event: Mapping[str, Any]) -> Iterator[str]:
    namespaces = dict.fromkeys(namespace for namespace, _ in entities(event))
    count = len(namespaces)
    yield f"it looks for the cataloged sources of {count} namespaces, and answers 200 without them"


ALATION = Receiver(
    "alation",
    "http",
    "Alation: COMPLETE runs with an input and an output of cataloged sources",
    RunRules(only_complete=True, others=IGNORED, asks=_alation_asks),
    others="ignored: not processed",
    endpoint="/open_lineage_event/",
    tokens=("bearer",),
)


def _atlan_asks(_event: Mapping[str, Any]) -> Iterator[str]:
    yield "it looks for the connection that job.namespace names"


ATLAN = Receiver(
    "atlan",
    "http",
    "Atlan: RunEvents whose job.namespace names a connection",
    RunRules(asks=_atlan_asks),
    others="refused; what it answers was not found",
    endpoint="/events/openlineage/{connector}/api/v1/lineage",
    parameters=(Parameter("connector"),),
    tokens=("bearer",),
)


GRAVITINO = Receiver(
    "gravitino",
    "http",
    "Apache Gravitino: RunEvents",
    RunRules(),
    others="refused; what it answers was not found",
    endpoint="/api/lineage",
)
