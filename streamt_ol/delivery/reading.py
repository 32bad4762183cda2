"""From the lines of an input to events: parsed, validated, and turned into runs where asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from streamt_ol.delivery.items import JOB, Item, digest_of, kind_of, name_of
from streamt_ol.delivery.runs_of_jobs import Facets, dataset_facets, run_events
from streamt_ol.delivery.source import MAX_LINE_BYTES
from streamt_ol.reading import strict_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamt_ol.delivery.source import Source

_SHOWN_FAULTS = 3


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
        faults: Callable[[Any], list[str]],
        runs: RunMaking | None = None,
    ) -> None:
        self._source = source
        self._faults = faults
        self._runs = runs
        self._facets: Facets | None = None

    @property
    def as_runs(self) -> bool:
        """Whether JobEvents become runs here."""
        return self._runs is not None

    def lines(self, *, validated: bool = True) -> Iterator[Line]:
        """Yield every line; ``validated=False`` for one that was validated before.

        ``Line.fault`` is safe to show.
        """
        faults = self._faults if validated else _none
        for number, content in self._source.lines():
            event, fault = parsed_event(content, faults)
            if event is None:
                yield Line(number, content, None, (), fault)
            else:
                items = self._items(number, content, event)
                # Nothing is sent that was not validated in the form in which it is sent.
                fault = self._made_fault(items, faults)
                yield Line(number, content, kind_of(event), () if fault else items, fault)

    def _made_fault(self, items: tuple[Item, ...], faults: Callable[[Any], list[str]]) -> str:
        """Return what is wrong with the runs made of a JobEvent, "" if nothing is."""
        for item in items if self._runs is not None else ():
            if item.body is not item.source and (found := faults(item.event)):
                return f"as a run: {_told(item.event, found)}"
        return ""

    def _items(self, number: int, content: bytes, event: Any) -> tuple[Item, ...]:
        digest = digest_of(content)
        if self._runs is None or kind_of(event) != JOB:
            return (Item(number, digest, content, content, event),)
        if self._facets is None:
            lines = self._source.again()
            self._facets = dataset_facets(parsed_event(line, _none)[0] for _, line in lines)
        run_id = self._runs.run_id(number, digest)
        bodies = run_events(event, self._facets, run_id, self._runs.engine)
        return tuple(
            Item(number, digest, content, body, strict_json.loads(body), part)
            for part, body in enumerate(bodies)
        )


def parsed_event(line: bytes, faults: Callable[[Any], list[str]]) -> tuple[Any, str]:
    """Return the event in a line and "", or None and what is wrong with it, safe to show."""
    if len(line) > MAX_LINE_BYTES:
        return None, f"the line is longer than {MAX_LINE_BYTES // 1024**2} MiB"
    try:
        event = strict_json.loads(line)
    except strict_json.JsonFaultError as error:
        return None, error.message
    if not isinstance(event, dict):
        return None, "it is not a JSON object"
    if kind_of(event) is None:
        return None, "it is none of the three kinds of event"
    found = faults(event)
    return (None, _told(event, found)) if found else (event, "")


def _told(event: Any, found: list[str]) -> str:
    more = f"; and {len(found) - _SHOWN_FAULTS} more" if len(found) > _SHOWN_FAULTS else ""
    return f"{name_of(event)}: {'; '.join(found[:_SHOWN_FAULTS])}{more}"


def _none(_: Any) -> list[str]:
    return []
