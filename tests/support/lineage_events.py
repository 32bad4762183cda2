"""Small events for tests of lineage, and names that a careless picture would break on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Event = dict[str, Any]
BROKER = "kafka://broker.example:9092"
JOBS = "jobs"
TIME = "2026-03-01T08:00:00Z"
HOSTILE = (
    "<script>alert(1)</script>",
    '"]; end; n0["x',
    "</svg><img src=x onerror=alert(1)>",
    "a\nb\tc\r\x00d",
    "back\\slash \\N \\G",
    "`**bold** _it_`",
    "1. first",
    "- item",
    "&amp; &lt; #35; #quot;",
    "ﬂ°°60¶ß",
    "\u202egnp.exe",
    "{{curly}} |pipe| %% comment",
    "https://example.com/a?b=c&d=e",
    "end",
    "日本語 ünïcode 🚀",
    "'; DROP TABLE x; --",
    "]]> <!-- --> <?php ?>",
    "$$x^2$$ $$\\frac12$$",
    "@org/team #123 $x$ ~~gone~~ [a](b)",
    " ",
    "x" * 3000,
)  # fmt: skip


def dataset(
    name: str,
    columns: Iterable[tuple[str, str]] | None = None,
    *,
    owners: tuple[str, ...] = (),
    description: str = "",
    namespace: str = BROKER,
    time: str = TIME,
    **facets: Any,
) -> Event:
    """Return a DatasetEvent."""
    if columns is not None:
        fields = [{"name": column, "type": type_} for column, type_ in columns]
        facets["schema"] = {"fields": fields}
    body = {"namespace": namespace, "name": name, "facets": _described(owners, description, facets)}
    return {"eventTime": time, "producer": "urn:x", "schemaURL": "urn:x", "dataset": body}


def job(
    name: str,
    inputs: tuple[str, ...] = (),
    outputs: tuple[str, ...] = (),
    *,
    owners: tuple[str, ...] = (),
    description: str = "",
    namespace: str = JOBS,
    time: str = TIME,
    **facets: Any,
) -> Event:
    """Return a JobEvent that reads and writes topics of one broker."""
    body = {"namespace": namespace, "name": name, "facets": _described(owners, description, facets)}
    return {
        "eventTime": time,
        "producer": "urn:x",
        "schemaURL": "urn:x",
        "job": body,
        "inputs": [{"namespace": BROKER, "name": one} for one in inputs],
        "outputs": [{"namespace": BROKER, "name": one} for one in outputs],
    }


def run(
    name: str, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = (), **more: Any
) -> Event:
    """Return a RunEvent of a job."""
    event = job(name, inputs, outputs, **more)
    return {**event, "run": {"runId": "d46e465b-d358-4d32-83d4-df660ff614dd"}}


def column_lineage(**columns: list[tuple[str, str]]) -> Event:
    """Return a ``columnLineage`` facet: for each column the dataset and column it is made from."""
    return {
        "fields": {
            column: {
                "inputFields": [
                    {"namespace": BROKER, "name": name, "field": field} for name, field in sources
                ]
            }
            for column, sources in columns.items()
        }
    }


def lines(events: list[Event]) -> bytes:
    """Return events as JSON Lines."""
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def _described(owners: tuple[str, ...], description: str, facets: Event) -> Event:
    if owners:
        facets["ownership"] = {"owners": [{"name": owner} for owner in owners]}
    if description:
        facets["documentation"] = {"description": description}
    return facets
