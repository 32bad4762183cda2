"""TrueWatch: its DataWay, and DataKit, the agent before it.

After "OpenLineage" of TrueWatch's documentation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.delivery.outcome import Outcome
from streamt_ol.delivery.receivers.acceptance import MIB, AtMost
from streamt_ol.delivery.receivers.receiver import Receiver, body_of

if TYPE_CHECKING:
    from streamt_ol.transport.answer import Answer

FACETS = frozenset(
    {
        "inputs.schema", "outputs.schema", "dataset.schema", "inputs.columnLineage",
        "outputs.columnLineage", "dataset.columnLineage",
    }
)  # fmt: skip


def read_datakit(answer: Answer) -> Outcome:
    """Read DataKit's 2xx answer: an event that DataWay has cached is done as well."""
    is_cached = body_of(answer).get("error_code") == "dataway.cached"
    return Outcome("sent", "cached by DataWay" if is_cached else "", answer.status)


TRUEWATCH = Receiver(
    "truewatch",
    "http",
    "TrueWatch's DataWay: all kinds, each event at most 8 MiB",
    AtMost(8 * MIB, FACETS),
    endpoint="/v1/write/openlineage",
    asks_for_core=True,
    reads=FACETS,
    tokens=("bearer", "x-token"),
    may_gzip=True,
)
DATAKIT = Receiver(
    "datakit",
    "http",
    "TrueWatch's DataKit: as truewatch, no token, a body of at most 64 MiB",
    AtMost(8 * MIB, FACETS),
    endpoint="/openlineage/api/v1/lineage",
    requires_core=True,
    may_gzip=True,
    reads=FACETS,
    max_body=64 * MIB,
    read_success=read_datakit,
)
