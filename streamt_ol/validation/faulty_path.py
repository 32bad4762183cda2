"""The path of events that break rules: what is wrong in their frame and their parts is said.

As on the fast path, what is unusual is left to the parser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from msgspec import UNSET, ValidationError

from streamt_ol.openlineage.events import DATASET_EVENT, JOB_EVENT, RUN_EVENT
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.reading.strict_json import is_plain
from streamt_ol.validation.explain.containers import UnknownError
from streamt_ol.validation.explain.frames import decode
from streamt_ol.validation.explain.own import OwnFaults
from streamt_ol.validation.explain.parts import Parts

if TYPE_CHECKING:
    from streamt_ol.validation.explain.parts import AnySaid, Event
    from streamt_ol.validation.stream.state import StreamState


class FaultyPath:
    """The path of events that break rules, and what it remembers from event to event."""

    def __init__(self) -> None:
        self._parts = Parts()
        self.decode = decode
        self.own = OwnFaults()

    def said(self, kind: str, data: bytes) -> list[AnySaid]:
        """Return what is said of an event of ``kind``, not streamt's own; ``data`` is plain JSON.

        Raises ``UnknownError``.
        """
        try:
            return self._parts.of(kind, decode(data))[0]
        except (ValidationError, RecursionError):
            raise UnknownError from None

    def passes(
        self, event: Event, line: bytes, text: bytes, position: int, state: StreamState
    ) -> tuple[str, list[AnySaid]] | None:
        """Return the kind of an event and what is said of it, noted in ``state``; None of others.

        ``line`` holds no more than the frame of ``event``; ``text`` is as it was written.
        """
        kind = _kind_of(event)
        if kind is None or event.producer == PRODUCER:
            return None
        try:
            said, stated = self._parts.of(kind, event)
            if self._parts.is_odd and not is_plain(line, orjson.loads(line)):
                return None
        except (UnknownError, orjson.JSONDecodeError):
            return None
        state.observe(kind, _noted(event, stated), text, position, trusted=False)
        return kind, said


def _kind_of(event: Event) -> str | None:
    """Return the kind of an event as ``openlineage.events.kind_of`` does."""
    if event.job is not UNSET:
        if event.run is not UNSET:
            return RUN_EVENT
        return None if event.dataset is not UNSET else JOB_EVENT
    if event.dataset is not UNSET:
        return DATASET_EVENT
    return RUN_EVENT if event.run is not UNSET else None


def _noted(event: Event, processing_type: str | None) -> dict[str, Any]:
    """Return of an event what the stream rules need to know."""
    found: dict[str, Any] = {"eventTime": event.event_time}
    if event.event_type is not UNSET:
        found["eventType"] = event.event_type
    if event.run is not UNSET:
        found["run"] = {"runId": getattr(event.run, "run_id", None)}
    entities: dict[str, Any] = {"job": event.job, "dataset": event.dataset}
    for name, one in entities.items():
        if hasattr(one, "namespace"):
            found[name] = {"namespace": one.namespace, "name": one.name}
    if processing_type is not None and "job" in found:
        found["job"]["facets"] = {"jobType": {"processingType": processing_type}}
    return found
