"""The frame of an event: its known fields, with what repeats from event to event kept as bytes.

Implements the properties that OpenLineage's core schema names for ``RunEvent``, ``JobEvent`` and
``DatasetEvent``; whatever else an event holds makes it unusual, and no frame is given.
"""

from __future__ import annotations

from msgspec import UNSET, Raw, Struct, UnsetType, field
from msgspec.json import Decoder, Encoder

from streamt_ol.reading.json_scan import BLANKS


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


decode = Decoder(Event).decode
encode = Encoder().encode
encode_into = Encoder().encode_into


def whole_line(line: bytes, again: bytes | bytearray) -> bytes | None:
    """Return ``line`` without white space around it, and a newline; None where it is not whole.

    ``again`` is its frame, written again: an unknown field, a duplicate key and an escape that
    means a shorter text all make it shorter than the line is without blanks, and nothing makes it
    longer. What is kept as bytes is not looked at.
    """
    if line[:1] != b"{" or line[-2:] != b"}\n":
        line = line.strip(BLANKS) + b"\n"
    if len(again) + 1 == len(line):
        return line
    blanks = line.count(b" ") - again.count(b" ")
    return line if len(again) + blanks + 1 == len(line) else None
