"""Raw events: the text of each event of an input, not yet parsed, with its location."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.reading.json_scan import BLANKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamt_ol.reading.faults import Fault


class RawEvent(NamedTuple):
    """The text of one event, and where it stands in its input.

    ``line`` counts from 1; ``offset`` the bytes of the decompressed input before the text;
    ``pointer`` is the JSON pointer of an element of an array, e.g. ``/7``, else empty.
    ``fault`` says what is wrong with the input at this location; then there is no ``data``.
    """

    data: bytes
    line: int
    offset: int
    pointer: str = ""
    fault: Fault | None = None


class Chunk(NamedTuple):
    """Consecutive events of one input: ``lines`` with their ends, or single ``events``.

    ``line`` (from 1) and ``offset`` are those of the first. ``position`` is for the reader of
    several inputs: each line, blank ones too, and each event has a position of its own.
    """

    line: int
    offset: int
    lines: Sequence[bytes] = ()
    events: tuple[RawEvent, ...] = ()
    position: int = 0

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it but white space."""
        return not self.events and not any(line.strip(BLANKS) for line in self.lines)
