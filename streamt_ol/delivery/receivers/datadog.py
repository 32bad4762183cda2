"""Datadog's Data Observability, a preview: its intake, or an agent before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamt_ol.delivery.receivers.receiver import Parameter, Receiver
from streamt_ol.delivery.receivers.run_rules import RunRules
from streamt_ol.openlineage.events import at


def _datadog_ignores(event: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(at(event, "job", "facets", "jobType"), Mapping):
        yield "its job has no jobType facet"


DATADOG = Receiver(
    "datadog",
    "http",
    "Datadog's intake, or an agent (--url): RunEvents with a jobType facet",
    RunRules(ignores=_datadog_ignores),
    others="refused, or ignored without a jobType facet; what it answers was not found",
    url="https://data-obs-intake.{site}",
    endpoint="/api/v1/lineage",
    parameters=(
        Parameter(
            "site",
            "datadoghq.com",
            ("datadoghq.com", "us3.datadoghq.com", "us5.datadoghq.com", "datadoghq.eu",
             "ap1.datadoghq.com", "ap2.datadoghq.com", "uk1.datadoghq.com"),
        ),
    ),
    tokens=("bearer",),
    may_gzip=True,
)  # fmt: skip
