"""The fifth stage: events in canonical order, and each as one canonical JSON line."""

from __future__ import annotations

from typing import Any

from streamt_ol import contracts
from streamt_ol.contracts import State
from streamt_ol.problems import INVALID, Location, StreamtOlError, pointer

TAKES = contracts.EVENTS
RETURNS = contracts.CANONICAL


def canonicalize(state: State) -> State:
    """Take valid ``events``; return them in canonical order, with ``lines`` and ``counts``.

    DatasetEvents by dataset identity come before JobEvents by job identity; each line is one
    compact JSON object with recursively sorted keys. Implements "Canonical event
    serialization". Raises E506 at an event that has no JSON form.
    """
    import orjson

    events = sorted(state["events"], key=_canonical_position)
    lines = []
    for event in events:
        try:
            lines.append(orjson.dumps(event, option=orjson.OPT_SORT_KEYS).decode())
        except TypeError:  # orjson's own error is one: not a JSON type, or a lone surrogate
            at = Location(pointer=pointer("events", state["events"].index(event)))
            message = "the event cannot be written as JSON"
            raise StreamtOlError(INVALID, message, location=at) from None
    datasets = sum(1 for event in events if "dataset" in event)
    return {
        "events": events,
        "lines": lines,
        "counts": {"total": len(events), "datasets": datasets, "jobs": len(events) - datasets},
        "warnings": state["warnings"],
    }


def _canonical_position(event: dict[str, Any]) -> tuple[bool, str, str]:
    entity = event.get("dataset")
    is_job = entity is None
    if entity is None:
        entity = event["job"]
    return is_job, entity["namespace"], entity["name"]
