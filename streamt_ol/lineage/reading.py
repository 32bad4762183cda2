"""The graph of the events in a text: JSON Lines, an array, or pretty-printed events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.lineage.events import GraphBuilder
from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.reading import strict_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamt_ol.lineage.graph import Graph

_MAX_EVENT_BYTES = 1 << 30


def graph_of_text(data: bytes, shown: str) -> Graph:
    """Return the graph of the events in ``data``, whose name is ``shown``.

    Raises ``StreamtOlError``: E501 or E506 at the line and the pointer of an event.
    """
    builder = GraphBuilder()
    for location, text in _events(data, shown):
        try:
            event = strict_json.loads(text)
        except strict_json.JsonFaultError as fault:
            raise StreamtOlError(PARSE, fault.message, location=location) from None
        try:
            builder.add(event)
        except StreamtOlError as error:
            below = error.location.pointer if error.location else None
            inside = (location.pointer or "") + (below or "")
            error.location = location.replaced(pointer=inside or None)
            raise
    return builder.graph()


def _events(data: bytes, shown: str) -> Iterator[tuple[Location, bytes]]:
    """Yield the bytes of each event and where it is: a line, or an element of a document."""
    from streamt_ol.reading.chunks import chunks, raw_events

    for event in raw_events(chunks(iter([data]), _MAX_EVENT_BYTES), _MAX_EVENT_BYTES):
        location = Location(file=shown, line=event.line, pointer=event.pointer or None)
        if event.fault is not None:
            raise StreamtOlError(PARSE, event.fault.message, location=location)
        yield location, event.data
