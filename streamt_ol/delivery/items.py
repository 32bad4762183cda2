"""One event on its way: its bytes, where they came from, and what it is called."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import orjson

from streamt_ol.openlineage.events import DATASET_EVENT as DATASET
from streamt_ol.openlineage.events import RUN_EVENT as RUN
from streamt_ol.openlineage.events import Outline, at, outline_of
from streamt_ol.openlineage.events import identity_of as identity
from streamt_ol.reading import strict_json
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from streamt_ol.validation.findings import Finding

Event = Mapping[str, Any]


@dataclass(slots=True, eq=False)
class Item:
    """An event to deliver, or what is not one.

    ``line`` (from 1) and ``pointer`` (within an array) say where it stands in the input,
    ``number`` (from 1) counts the events there; ``source`` is its text on one line, ``body`` is
    sent; ``part`` tells the runs made of one event (``is_made``) apart. ``fault`` says why it is
    not an event, safe to show.

    What else is known is kept: ``parsed``, the event; its ``outlined`` outline; ``lane``, that of
    ``lane_of``; ``findings``, those of `validate`.
    """

    line: int
    source: bytes
    body: bytes
    number: int = 0
    pointer: str = ""
    part: int = 0
    is_made: bool = False
    fault: str = ""
    parsed: Event | None = None
    outlined: Outline | None = None
    findings: tuple[Finding, ...] | None = None
    lane: int | None = None

    @property
    def event(self) -> Event:
        """The event that is sent."""
        if self.parsed is None:
            self.parsed = _parsed(self.body)
        return self.parsed

    @property
    def outline(self) -> Outline:
        """The outline of the event."""
        if self.outlined is None:
            self.outlined = outline_of(self.event)
        return self.outlined

    @property
    def digest(self) -> str:
        """The digest by which the text of the event is recognised."""
        return digest_of(self.source)

    @property
    def name(self) -> str:
        """The name of the event in a report: its kind, state and identity, safe to show."""
        if self.fault:
            return "no event"
        return f"{name_of(self.outline)}{f' at {self.pointer}' if self.pointer else ''}"


def digest_of(line: bytes) -> str:
    """Return what a line's content is recognised by: 128 bits in hexadecimal digits."""
    return hashlib.blake2b(line, digest_size=16).hexdigest()


def lane_of(outline: Outline) -> int:
    """Return a number that all events of one job (so of one run), or of one dataset, share.

    Events with one number are delivered in order.
    """
    return crc32(f"{outline.namespace}\0{outline.name}".encode(errors="replace"))


def name_of(outline: Outline) -> str:
    """Return e.g. ``RunEvent COMPLETE 'ns' 'name'``, safe to show."""
    kind, event_type, namespace, name = outline
    state = f" {shown(event_type, 20)[1:-1]}" if kind == RUN and event_type else ""
    return f"{kind or 'event'}{state} {shown(namespace)} {shown(name)}"


def key_of(event: Event) -> str:
    """Return ``run:NS/NAME``, ``job:NS/NAME`` or ``dataset:NS/NAME`` as the official client does.

    A run with a parent has the key of its root job, or else of its parent job, so that a chain of
    runs stays in order (``KafkaTransport._get_run_message_key`` of the official Python client).
    """
    kind, _, namespace, name = outline_of(event)
    if kind != RUN:
        return f"{'dataset' if kind == DATASET else 'job'}:{namespace}/{name}"
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
