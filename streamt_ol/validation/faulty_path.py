"""The path of events that break rules: what is wrong in their frame and their parts is said.

As on the fast path, what is unusual is left to the parser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from msgspec import UNSET, ValidationError
from xxhash import xxh3_64_intdigest

from streamt_ol.openlineage.events import DATASET_EVENT, JOB_EVENT, RUN_EVENT
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.reading.strict_json import is_plain
from streamt_ol.validation.explain.containers import UnknownError
from streamt_ol.validation.explain.forms import OBJECTS
from streamt_ol.validation.explain.frames import decode
from streamt_ol.validation.explain.own import OwnFaults
from streamt_ol.validation.explain.parts import Parts
from streamt_ol.validation.stream.facts import (
    CHECKSUM,
    EVENT_TYPES,
    heads,
    job_key,
    part_key,
    part_of,
    run_key_of,
)
from streamt_ol.validation.stream.times import is_time, ticks

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
        self._note(kind, event, stated, (text, position), state)
        return kind, said

    def _note(
        self, kind: str, event: Event, stated: str | None, at: tuple[bytes, int], state: StreamState
    ) -> None:
        """Note in ``state`` what ``StreamState.observe`` notes of an event, at its text and place.

        ``stated`` is the processing type of its job.
        """
        text, position = at
        time, run, event_type = event.event_time, event.run, event.event_type
        entity: Any = event.dataset if kind == DATASET_EVENT else event.job
        run_id = run.run_id if type(run) in OBJECTS else None  # type: ignore[union-attr]
        key = run_key_of(run_id) if kind == RUN_EVENT and type(run_id) is str else None
        if not (
            type(time) is str
            and is_time(time)
            and type(entity) in OBJECTS
            and type(entity.namespace) is type(entity.name) is str
            and (kind != RUN_EVENT or (key is not None and _is_known_type(event_type)))
        ):
            part = part_of(event_type)
            if key is not None and part is not None:
                state.half_known.add(part_key(key, part))
            return
        checksum = xxh3_64_intdigest(text) & CHECKSUM
        identity = entity.namespace, entity.name
        if kind != DATASET_EVENT:
            job = job_key(*identity)
            state.note_job(job, identity, stated, position)
        if key is None:
            state.note_static(kind, identity, time, checksum, position)
            return
        moment = ticks(time), checksum, position
        of_run = None if event_type is UNSET else str(event_type)
        state.note_run(key, of_run, heads(job, generated=False), moment)


def _is_known_type(event_type: object) -> bool:
    return event_type is UNSET or (type(event_type) is str and event_type in EVENT_TYPES)


def _kind_of(event: Event) -> str | None:
    """Return the kind of an event as ``openlineage.events.kind_of`` does."""
    if event.job is not UNSET:
        if event.run is not UNSET:
            return RUN_EVENT
        return None if event.dataset is not UNSET else JOB_EVENT
    if event.dataset is not UNSET:
        return DATASET_EVENT
    return RUN_EVENT if event.run is not UNSET else None
