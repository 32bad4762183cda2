"""One event on its way: its bytes, where they came from, and what it is called."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import orjson

from streamt_ol.openlineage.events import DATASET_EVENT as DATASET
from streamt_ol.openlineage.events import RUN_EVENT as RUN
from streamt_ol.openlineage.events import at, entity_of, kind_of
from streamt_ol.openlineage.events import identity_of as identity
from streamt_ol.reading import strict_json
from streamt_ol.redaction import shown

Event = Mapping[str, Any]


@dataclass(slots=True, eq=False)
class Item:
    """An event to deliver.

    ``line`` (from 1) and ``pointer`` (within an array) say where it stands in the input,
    ``number`` (from 1) counts the events there; ``source`` is its text; ``part`` tells the events
    made of one apart; ``body`` is sent, and ``parsed`` is the same, where it has been parsed.
    ``lane`` is that of ``lane_of``, where it is known.
    """

    line: int
    source: bytes
    body: bytes
    parsed: Event | None = None
    part: int = 0
    number: int = 0
    pointer: str = ""
    lane: int | None = None

    @property
    def event(self) -> Event:
        """The event that is sent, parsed; each time anew where that was not done before."""
        return _parsed(self.body) if self.parsed is None else self.parsed

    @property
    def digest(self) -> str:
        """The digest by which the text of the event is recognised."""
        return digest_of(self.source)

    @property
    def name(self) -> str:
        """The name of the event in a report: its kind, state and identity, safe to show."""
        return f"{name_of(self.event)}{f' at {self.pointer}' if self.pointer else ''}"


def digest_of(line: bytes) -> str:
    """Return what a line's content is recognised by: 128 bits in hexadecimal digits."""
    return hashlib.blake2b(line, digest_size=16).hexdigest()


def lane_of(event: Event) -> int:
    """Return a number that all events of one job (so of one run), or of one dataset, share.

    Events with one number are delivered in order.
    """
    return crc32("\0".join(identity_of(event)).encode(errors="replace"))


def identity_of(event: Event) -> tuple[str, str]:
    """Return the namespace and name of the job, or of a DatasetEvent's dataset; "" if absent."""
    return identity(entity_of(event))


def name_of(event: Event) -> str:
    """Return e.g. ``RunEvent COMPLETE 'ns' 'name'``, safe to show."""
    kind = kind_of(event) or "event"
    state = event.get("eventType") if kind == RUN else None
    namespace, name = identity_of(event)
    words = [kind, *([shown(state, 20)[1:-1]] if isinstance(state, str) else [])]
    return " ".join([*words, shown(namespace), shown(name)])


def key_of(event: Event) -> str:
    """Return ``run:NS/NAME``, ``job:NS/NAME`` or ``dataset:NS/NAME`` as the official client does.

    A run with a parent has the key of its root job, or else of its parent job, so that a chain of
    runs stays in order (``KafkaTransport._get_run_message_key`` of the official Python client).
    """
    kind = kind_of(event)
    if kind != RUN:
        return f"{'dataset' if kind == DATASET else 'job'}:{'/'.join(identity_of(event))}"
    parent = at(event, "run", "facets", "parent")
    root = at(parent, "root", "job")
    for job in (root if root is not None else at(parent, "job"), event.get("job")):
        namespace, name = identity(job)
        if namespace and name:
            break
    return f"run:{namespace}/{name}"


def _parsed(text: bytes) -> Event:
    """Parse the text of an event once more: what is wrong with it was found the first time."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:  # a number that no double holds
        value = strict_json.parse(text).value
    return value if isinstance(value, dict) else {}
