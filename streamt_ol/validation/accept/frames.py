"""The frame of an event: its known fields, with each container of facets kept as its bytes.

Implements the properties that OpenLineage's core schema names for ``RunEvent``, ``JobEvent`` and
``DatasetEvent``; whatever else an event holds makes it unusual, and no frame is given.
"""

from __future__ import annotations

from msgspec import UNSET, Raw, Struct, UnsetType, field
from msgspec.json import Decoder, Encoder


class Run(Struct, gc=False):
    """The run of a RunEvent."""

    run_id: str = field(name="runId")
    facets: Raw | UnsetType = UNSET


class Entity(Struct, gc=False):
    """A job, or the dataset of a DatasetEvent."""

    namespace: str
    name: str
    facets: Raw | UnsetType = UNSET


class Input(Entity, gc=False):
    """An element of ``inputs``."""

    more: Raw | UnsetType = field(default=UNSET, name="inputFacets")


class Output(Entity, gc=False):
    """An element of ``outputs``."""

    more: Raw | UnsetType = field(default=UNSET, name="outputFacets")


class Event(Struct, gc=False, rename="camel"):
    """An event of any kind."""

    event_time: str
    producer: str
    schema_url: str = field(name="schemaURL")
    event_type: str | UnsetType = UNSET
    run: Run | UnsetType = UNSET
    job: Entity | UnsetType = UNSET
    dataset: Entity | UnsetType = UNSET
    inputs: list[Input] | UnsetType = UNSET
    outputs: list[Output] | UnsetType = UNSET


_decode = Decoder(Event).decode
_encode = Encoder().encode


def frame(data: bytes) -> Event | None:
    """Return the frame of an event without white space around it, or None where it is unusual.

    Writing a frame again gives the same length but for blanks: an unknown field, a duplicate key
    and an escape that means a shorter text all make it shorter, and nothing makes it longer.
    What the containers of facets hold is not looked at.
    """
    try:
        event = _decode(data)
    except (ValueError, RecursionError):
        return None
    again = _encode(event)
    if len(again) == len(data):
        return event
    if len(again) - again.count(b" ") == len(data) - data.count(b" "):
        return event
    return None
