"""OpenMetadata's answers: edges, what did not resolve, batches.

After "Send an Event and Verify Lineage" of its documentation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from streamt_ol.delivery.outcome import Outcome
from streamt_ol.delivery.receivers.acceptance import datasets
from streamt_ol.delivery.receivers.receiver import body_of
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamt_ol.delivery.items import Event
    from streamt_ol.transport.answer import Answer

_DISABLED = 503
_MAX_NAMED = 20
_MOST_EDGES = 2**53


def read_single(answer: Answer) -> Outcome:
    """Read the answer to one event (2xx): edges, and what could not be resolved."""
    said = body_of(answer)
    if answer.fault:
        return Outcome("sent", f"the answer is not understood: {answer.fault}", answer.status)
    edges = _edges(said.get("lineageEdgesCreated", 0))
    if edges is None:
        return Outcome("sent", "its lineageEdgesCreated is not understood", answer.status)
    unresolved = _named(said.get("unresolvedDatasets")), _named(said.get("unresolvedJobs"))
    status = said.get("status")
    if status == "failure":
        return Outcome("refused", "the server reports failure", answer.status, 0, *unresolved)
    if not edges:
        return Outcome(
            "no-edges", "answered with success, but no edge", answer.status, 0, *unresolved
        )
    detail = "some datasets did not resolve" if status == "partial_success" else ""
    return Outcome("sent", detail, answer.status, edges, *unresolved)


def read_failure(answer: Answer, refusal: Outcome) -> Outcome:
    """Add to a refusal (400 with ``status: failure``) what its body says was not resolved."""
    said = body_of(answer)
    if answer.status == _DISABLED:
        refusal = refusal._replace(detail=f"{refusal.detail}; its settings may disable the API")
    return refusal._replace(
        unresolved_datasets=_named(said.get("unresolvedDatasets")),
        unresolved_jobs=_named(said.get("unresolvedJobs")),
    )


def read_batch(answer: Answer, events: Sequence[Event]) -> list[Outcome] | None:
    """Return one outcome for each of ``events``, or None: each must be sent alone.

    Only a plain success tells about every one of them: no failed event, nothing unresolved, and
    as many edges as all pairs of their inputs and outputs. Whatever else is said, a single answer
    tells the truth about a single event.
    """
    said = body_of(answer)
    expected = [len(datasets(e, "inputs")) * len(datasets(e, "outputs")) for e in events]
    is_plain = (
        answer.status in range(200, 300)
        and said.get("status") == "success"
        and not said.get("unresolvedDatasets")
        and not _failed(said)
    )
    if not is_plain or said.get("lineageEdgesCreated") != sum(expected) or not all(expected):
        return None
    return [Outcome("sent", "", answer.status, edges) for edges in expected]


def _failed(said: Mapping[str, Any]) -> bool:
    summary = said.get("summary")
    failed = summary.get("failed") if isinstance(summary, Mapping) else 0
    return bool(failed or said.get("failedEvents") or said.get("failed_events"))


def _edges(value: object) -> int | None:
    """Return the number of edges, None for one that is not understood."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Zero as a float is zero; a NaN is in no range.
    return int(value) if 0 <= value <= _MOST_EDGES and value % 1 == 0 else None


def _named(value: object) -> tuple[str, ...]:
    """Return the unresolved entities, each as one short text that is safe to show."""
    if not isinstance(value, list):
        return ()
    found = []
    for entry in value[:_MAX_NAMED]:
        if isinstance(entry, dict):
            parts = [str(entry[k]) for k in ("namespace", "name", "reason") if k in entry]
            found.append(shown(" ".join(parts) or json.dumps(entry), 160)[1:-1])
        else:
            found.append(shown(entry, 160)[1:-1])
    return tuple(found)
