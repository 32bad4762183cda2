"""Google's Data Lineage API (Dataplex Universal Catalog): processOpenLineageRunEvent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamt_ol.delivery.receivers.acceptance import datasets
from streamt_ol.delivery.receivers.receiver import Parameter, Receiver, Request
from streamt_ol.delivery.receivers.run_rules import RunRules, entities, links
from streamt_ol.openlineage.events import at

MAX_BYTES = 5_000_000
MAX_IDENTITY = 4000
MAX_LINKS = 100
MAX_COLUMN_LINKS = 1500


def column_links(event: Mapping[str, Any]) -> int:
    """Return how many pairs of an input field and an output field the outputs declare."""
    count = 0
    for output in datasets(event, "outputs"):
        fields = at(output, "facets", "columnLineage", "fields")
        for field in fields.values() if isinstance(fields, Mapping) else ():
            inputs = at(field, "inputFields")
            count += len(inputs) if isinstance(inputs, list) else 0
    return count


def _dataplex_refuses(event: Mapping[str, Any]) -> Iterator[str]:
    if any(len(namespace) + len(name) > MAX_IDENTITY for namespace, name in entities(event)):
        yield "a namespace and name are longer than 4,000 characters together"
    if (count := links(event)) > MAX_LINKS:
        yield f"{count:,} links are more than the limit of 100 for an event"


def _dataplex_notes(event: Mapping[str, Any]) -> Iterator[str]:
    if (count := column_links(event)) > MAX_COLUMN_LINKS:
        yield f"{count:,} column links are above 1,500: no column lineage is made"


def _with_request_id(request: Request) -> Request:
    """Add ``requestId``: with it, a repeated request is known there for one; 32 characters."""
    return request.with_query(f"requestId={request.digest}")


DATAPLEX = Receiver(
    "dataplex",
    "http",
    "Google's Data Lineage API: RunEvents",
    RunRules(max_bytes=MAX_BYTES, refuses=_dataplex_refuses, notes=_dataplex_notes),
    others="refused; what it answers was not found",
    url="https://datalineage.googleapis.com",
    endpoint="/v1/projects/{project}/locations/{location}:processOpenLineageRunEvent",
    parameters=(Parameter("project"), Parameter("location")),
    tokens=("bearer",),
    dress=_with_request_id,
)
