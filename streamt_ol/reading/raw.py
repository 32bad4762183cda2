"""Raw events: the text of each event of an input, not yet parsed, with its location."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from streamt_ol.reading.faults import Fault


class RawEvent(NamedTuple):
    """The text of one event, and where it stands in its input.

    ``line`` counts from 1; ``offset`` the bytes of the decompressed input before the text;
    ``pointer`` is the JSON pointer of an element of an array, e.g. ``/7``, else empty.
    ``fault`` says what is wrong with the input at this place; then there is no ``data``.
    """

    data: bytes
    line: int
    offset: int
    pointer: str = ""
    fault: Fault | None = None


class Chunk(NamedTuple):
    """Consecutive events of one input: whole ``lines`` of JSON Lines, or single ``events``.

    ``line`` (from 1) and ``offset`` are those of the first. ``position`` is for the reader of
    several inputs: each line, blank ones too, and each event has a position of its own.
    """

    line: int
    offset: int
    lines: bytes = b""
    events: tuple[RawEvent, ...] = ()
    position: int = 0


def newlines(data: bytes) -> int:
    """Return the number of newlines in ``data``, sooner than ``bytes.count``."""
    lines = BytesIO(data).readlines()
    return len(lines) - (bool(lines) and not data.endswith(b"\n"))
