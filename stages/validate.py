"""The fourth stage: nothing passes that is not valid."""

from __future__ import annotations

from typing import Any

from streamt_ol import contracts
from streamt_ol.contracts import State
from streamt_ol.problems import INVALID, Location, StreamtOlError, pointer
from streamt_ol.validation.generated import check_generated

TAKES = contracts.EVENTS
RETURNS = contracts.EVENTS


def validate(state: State) -> State:
    """Take ``events``; return the state as it is when every event is valid.

    Raises E506 for the first fault, at ``/events/INDEX/...``: the pinned core schema, every
    pinned facet schema, identities unique, and the other rules of "Offline validation boundary".
    """
    findings = check_generated(state["events"])
    if findings:
        first, more = findings[0], len(findings) - 1
        message = f"{first.message} ({first.rule})" + (f", and {more} more" if more else "")
        raise StreamtOlError(INVALID, message, location=Location(pointer=f"/events{first.pointer}"))
    _check_one_time(state["events"])
    return {"events": state["events"], "warnings": state["warnings"]}


def _check_one_time(events: list[dict[str, Any]]) -> None:
    """Raise E506 unless "all events from one static export use one" event time."""
    for index, event in enumerate(events):
        if event["eventTime"] != events[0]["eventTime"]:
            raise StreamtOlError(
                INVALID,
                "the event time differs from that of the first event",
                location=Location(pointer=pointer("events", index, "eventTime")),
            )
