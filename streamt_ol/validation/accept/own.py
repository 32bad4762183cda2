"""Events of streamt's own, accepted apart from what is different in each: the time, the run id."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import orjson
from msgspec import UNSET, Raw

from streamt_ol.openlineage.events import DATASET_EVENT, RUN_EVENT, kind_of
from streamt_ol.reading.strict_json import is_plain
from streamt_ol.validation.accept import generated
from streamt_ol.validation.accept.frames import encode
from streamt_ol.validation.accept.verdicts import Verdicts
from streamt_ol.validation.stream import facts

if TYPE_CHECKING:
    from streamt_ol.validation.accept.frames import Event
    from streamt_ol.validation.stream.facts import Heads

# What stands for every time in UTC, and every run id.
_TIME = "2000-01-01T00:00:00Z"
_RUN_ID = "00000000-0000-4000-8000-000000000000"
_UTC = ("Z", "z", "+00:00")


class OwnEvent(NamedTuple):
    """An event of streamt's own that is right, as the stream rules need to know it.

    ``heads`` are of the runs of its job; ``reads`` is what `facts.reads` returns.
    """

    kind: str
    identity: tuple[str, str]
    heads: Heads | None = None
    processing_type: str | None = None
    reads: int | None = None


class OwnEvents:
    """The verdicts on events of streamt's own, by all that they hold but for time and run id."""

    def __init__(self) -> None:
        self._verdicts = Verdicts(_own_event)

    @property
    def judged(self) -> int:
        """The bytes of events that were new, so that they were judged."""
        return self._verdicts.judged

    def of(self, event: Event) -> OwnEvent | None:
        """Return what is known of an event whose time and run id are valid; None if not right."""
        if not event.event_time.endswith(_UTC):
            return None
        time, event.event_time = event.event_time, _TIME
        run = event.run
        if run is UNSET:
            found = self._verdicts.of(Raw(encode(event)))
        else:
            run_id, run.run_id = run.run_id, _RUN_ID
            found = self._verdicts.of(Raw(encode(event)))
            run.run_id = run_id
        event.event_time = time
        return found


def _own_event(data: bytes) -> OwnEvent | None:
    try:
        event = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    kind = kind_of(event)
    if kind is None or not is_plain(data, event):
        return None
    if not (generated.accepts(kind, event) and generated.order(event)):
        return None
    entity = event["dataset" if kind == DATASET_EVENT else "job"]
    identity = entity["namespace"], entity["name"]
    if kind == DATASET_EVENT:
        return OwnEvent(kind, identity)
    heads = facts.heads(facts.job_key(*identity), generated=True)
    reads = facts.reads(event) if kind == RUN_EVENT else None
    return OwnEvent(kind, identity, heads, facts.processing_type(entity), reads)
