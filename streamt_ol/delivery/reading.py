"""From an input to its events: parsed, and turned into runs where that is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from streamt_ol import __version__
from streamt_ol.codes import GENERIC_WARNING
from streamt_ol.delivery.items import Item, digest_of
from streamt_ol.delivery.runs_of_jobs import Facets, dataset_facets, run_events
from streamt_ol.delivery.source import one_line, said
from streamt_ol.openlineage.events import JOB_EVENT, kind_of
from streamt_ol.problems import warning
from streamt_ol.reading import strict_json
from streamt_ol.reading.faults import FaultKind
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streamt_ol.delivery.receivers.receiver import Receiver
    from streamt_ol.delivery.source import LiveSource, Source
    from streamt_ol.problems import WarningRecord
    from streamt_ol.reading.raw import RawEvent

_PREFIX = 5


@dataclass(frozen=True)
class RunMaking:
    """The way in which JobEvents become runs.

    ``run_id`` returns the id for the JobEvent with a number and digest, the same one at every
    call; ``engine`` is the name and version of a ``processing_engine`` facet, or None;
    ``left_out`` collects the datasets whose schema facet is left out, None where none is.
    """

    run_id: Callable[[int, str], str]
    engine: tuple[str, str] | None = None
    left_out: dict[tuple[str, str], None] | None = None

    @classmethod
    def of(
        cls,
        receivers: Sequence[Receiver],
        run_id: Callable[[int, str], str],
        engine: tuple[str, str] | None = None,
    ) -> Self:
        """Return how runs are made for ``receivers``, with the engine given or one they need."""
        needed = next((receiver.engine for receiver in receivers if receiver.engine), "")
        own = (needed, __version__) if needed else None
        leaves_out = any(receiver.needs_field_types for receiver in receivers)
        return cls(run_id, engine or own, {} if leaves_out else None)

    def warnings(self) -> list[WarningRecord]:
        """Return a warning for each dataset whose schema facet is left out of the runs."""
        message = "the schema facet of {} {} is left out of the runs: a field has no type"
        return [
            warning(GENERIC_WARNING, message.format(shown(namespace), shown(name)))
            for namespace, name in self.left_out or ()
        ]


class Entry(NamedTuple):
    """An event of the input: what is sent of it, or why it is not an event, safe to show.

    ``number`` (from 1) counts the events of the input, ``line`` its lines; ``content`` is its
    text on one line.
    """

    number: int
    line: int
    content: bytes
    kind: str | None
    items: tuple[Item, ...]
    fault: str = ""


class Events:
    """The events of one input; can be read more than once."""

    def __init__(self, source: Source | LiveSource, runs: RunMaking | None = None) -> None:
        self._source = source
        self._runs = runs
        self._facets: Facets | None = None

    @property
    def name(self) -> str:
        """The name of the input, safe to show."""
        return self._source.name

    @property
    def as_runs(self) -> bool:
        """Whether JobEvents become runs here."""
        return self._runs is not None

    def entries(self) -> Iterator[Entry]:
        """Yield every event of the input, in its order."""
        for number, raw in enumerate(self._source.events(), 1):
            content = one_line(raw.data)
            if raw.fault:
                yield Entry(number, raw.line, content, None, (), said(raw.fault))
                continue
            event, fault = parsed_event(content)
            if event is None:
                yield Entry(number, raw.line, content, None, (), fault)
            else:
                items = self._items(number, raw, content, event)
                yield Entry(number, raw.line, content, kind_of(event), items)

    def items(self) -> Iterator[Item]:
        """Yield what ``entries`` yields the items of, parsed only if runs are made of them.

        For who has taken ``entries`` to its end, and knows which of them are events.
        """
        if self._runs is not None:
            for entry in self.entries():
                yield from entry.items
            return
        for number, raw in enumerate(self._source.events(), 1):
            content = one_line(raw.data)
            yield Item(raw.line, content, content, None, 0, number, raw.pointer)

    def _items(self, number: int, raw: RawEvent, content: bytes, event: Any) -> tuple[Item, ...]:
        if self._runs is None or kind_of(event) != JOB_EVENT:
            return (Item(raw.line, content, content, event, 0, number, raw.pointer),)
        if self._facets is None:
            found = self._source.again()
            self._facets = dataset_facets(parsed_event(one.data)[0] for one in found)
        run_id = self._runs.run_id(number, digest_of(content))
        bodies = run_events(event, self._facets, run_id, self._runs.engine, self._runs.left_out)
        return tuple(
            Item(raw.line, content, body, strict_json.loads(body), part, number, raw.pointer)
            for part, body in enumerate(bodies)
        )


def parsed_event(text: bytes) -> tuple[Any, str]:
    """Return the event in a text and "", or None and why it is not an event, safe to show.

    A number that no machine's integer or double holds is JSON, and goes out as it is written.
    """
    parsed = strict_json.parse(text)
    faults = [fault for fault in parsed.faults if fault.kind is not FaultKind.NUMBER]
    if faults or not parsed.readable:
        return None, _registered(text) or said((faults or parsed.faults)[0])
    if not isinstance(parsed.value, dict):
        return None, "the text is not a JSON object"
    if kind_of(parsed.value) is None:
        return None, "the object is not one of the three kinds of event"
    return parsed.value, ""


def _registered(text: bytes) -> str:
    """Return what JSON behind the five bytes of a schema registry's serializer is, else ""."""
    if text[:1] != b"\0" or not text[_PREFIX:].lstrip().startswith(b"{"):
        return ""
    schema = int.from_bytes(text[1:_PREFIX])
    return f"the text is JSON behind a schema registry's five bytes (schema id {schema})"
