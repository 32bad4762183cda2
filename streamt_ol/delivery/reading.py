"""From the lines of an input to events: parsed, and turned into runs where that is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from streamt_ol.delivery.items import Item, digest_of
from streamt_ol.delivery.runs_of_jobs import Facets, dataset_facets, run_events
from streamt_ol.delivery.source import MAX_LINE_BYTES
from streamt_ol.openlineage.events import JOB_EVENT as JOB
from streamt_ol.openlineage.events import kind_of
from streamt_ol.reading import strict_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamt_ol.delivery.source import Source


_PREFIX = 5


@dataclass(frozen=True)
class RunMaking:
    """How JobEvents become runs.

    ``run_id`` returns the id for the JobEvent in a line (number, digest), the same one at every
    call; ``engine`` is the name and version of a ``processing_engine`` facet, or None.
    """

    run_id: Callable[[int, str], str]
    engine: tuple[str, str] | None = None


class Line(NamedTuple):
    """A line of the input: the events it stands for, or why it stands for none."""

    number: int
    content: bytes
    kind: str | None
    items: tuple[Item, ...]
    fault: str = ""


class Events:
    """The events of one input; can be read more than once."""

    def __init__(
        self,
        source: Source,
        runs: RunMaking | None = None,
    ) -> None:
        self._source = source
        self._runs = runs
        self._facets: Facets | None = None

    @property
    def as_runs(self) -> bool:
        """Whether JobEvents become runs here."""
        return self._runs is not None

    def lines(self) -> Iterator[Line]:
        """Yield every line; ``Line.fault`` is safe to show."""
        for number, content in self._source.lines():
            event, fault = parsed_event(content)
            if event is None:
                yield Line(number, content, None, (), fault)
            else:
                items = self._items(number, content, event)
                yield Line(number, content, kind_of(event), items)

    def _items(self, number: int, content: bytes, event: Any) -> tuple[Item, ...]:
        digest = digest_of(content)
        if self._runs is None or kind_of(event) != JOB:
            return (Item(number, digest, content, content, event),)
        if self._facets is None:
            lines = self._source.again()
            self._facets = dataset_facets(parsed_event(line)[0] for _, line in lines)
        run_id = self._runs.run_id(number, digest)
        bodies = run_events(event, self._facets, run_id, self._runs.engine)
        return tuple(
            Item(number, digest, content, body, strict_json.loads(body), part)
            for part, body in enumerate(bodies)
        )


def parsed_event(line: bytes) -> tuple[Any, str]:
    """Return the event in a line and "", or None and why it is not an event, safe to show."""
    if len(line) > MAX_LINE_BYTES:
        return None, f"the line is longer than {MAX_LINE_BYTES // 1024**2} MiB"
    try:
        event = strict_json.loads(line)
    except strict_json.JsonFaultError as error:
        return None, _registered(line) or error.message
    if not isinstance(event, dict):
        return None, "it is not a JSON object"
    if kind_of(event) is None:
        return None, "it is not one of the three kinds of event"
    return event, ""


def _registered(line: bytes) -> str:
    """Return what JSON behind the five bytes of a schema registry's serializer is, else ""."""
    if line[:1] != b"\0" or not line[_PREFIX:].lstrip().startswith(b"{"):
        return ""
    schema = int.from_bytes(line[1:_PREFIX])
    return f"it is JSON behind a schema registry's five bytes (schema id {schema}), not JSON alone"
