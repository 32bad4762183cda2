"""Snowflake's external lineage, an API of its Enterprise edition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamt_ol.delivery.receivers.receiver import Parameter, Receiver
from streamt_ol.delivery.receivers.run_rules import RunRules, entities, links
from streamt_ol.openlineage.events import identity_of
from streamt_ol.redaction import shown

MAX_NAME = 1000
MAX_EDGES = 15_000


def _snowflake_refuses(event: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(event.get("eventTime"), str):
        yield "it has no eventTime"
    if not all(identity_of(event.get("job"))):
        yield "its job has no namespace or name"
    if any(len(name) > MAX_NAME for _, name in entities(event)):
        yield "a name is longer than 1,000 characters"
    if (count := links(event)) > MAX_EDGES:
        yield f"{count:,} edges are more than the limit of 15,000 for an event"


def _snowflake_asks(event: Mapping[str, Any]) -> Iterator[str]:
    for namespace, name in entities(event):
        if namespace.startswith("snowflake://"):
            yield f"it looks for its own object {shown(name)}, and refuses the event without it"


SNOWFLAKE = Receiver(
    "snowflake",
    "http",
    "Snowflake's external lineage: COMPLETE runs with inputs and outputs",
    RunRules(only_complete=True, refuses=_snowflake_refuses, asks=_snowflake_asks),
    others="refused: 400",
    endpoint="/api/v2/lineage/external-lineage",
    parameters=(Parameter("token-type", choices=("KEYPAIR_JWT", "PROGRAMMATIC_ACCESS_TOKEN")),),
    headers=(("X-Snowflake-Authorization-Token-Type", "{token-type}"),),
    tokens=("bearer",),
)
