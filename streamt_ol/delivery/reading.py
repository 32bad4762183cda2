"""From an input to its events: read, and turned into runs where that is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Self

from streamt_ol import __version__
from streamt_ol.codes import GENERIC_WARNING
from streamt_ol.delivery.items import Item, digest_of
from streamt_ol.delivery.runs_of_jobs import Facets, dataset_facets, run_events
from streamt_ol.delivery.source import one_line, said
from streamt_ol.openlineage.events import JOB_EVENT, kind_of
from streamt_ol.problems import warning
from streamt_ol.reading import strict_json
from streamt_ol.reading.chunks import raw_events
from streamt_ol.reading.faults import FaultKind
from streamt_ol.redaction import shown
from streamt_ol.validation.switch import shared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streamt_ol.delivery.receivers.receiver import Receiver
    from streamt_ol.delivery.source import LiveSource, Source
    from streamt_ol.problems import WarningRecord
    from streamt_ol.reading.raw import Chunk, RawEvent

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

    def items(self) -> Iterator[Item]:
        """Yield every event of the input, in its order, and what is not one."""
        numbers = count(1)
        for chunk in self._source.chunks():
            yield from self._of_chunk(chunk, numbers)

    def texts(self) -> Iterator[Item]:
        """Yield what ``items`` yields, parsed only if runs are made of it.

        For who has taken ``items`` to its end, and knows which of them are events.
        """
        if self._runs is not None:
            yield from self.items()
            return
        for number, raw in enumerate(self._source.events(), 1):
            text = one_line(raw.data)
            yield Item(raw.line, text, text, number, raw.pointer)

    def _of_chunk(self, chunk: Chunk, numbers: Iterator[int]) -> Iterator[Item]:
        """Yield the events of a chunk: usual ones by the fast path, the others parsed."""
        switch, events = shared(), len(chunk.lines) + len(chunk.events)
        path = switch.start(events)
        size = left = 0
        for raw, number in zip(raw_events((chunk,)), numbers, strict=False):
            text = one_line(raw.data)
            known = path.outline(text) if path is not None and not raw.fault else None
            if known is None or (self._runs is not None and known[0].kind == JOB_EVENT):
                left += 1
                yield from self._parsed(raw, text, number)
            else:
                outline, findings = known
                yield Item(
                    raw.line, text, text, number, raw.pointer,
                    outlined=outline, findings=findings,
                )  # fmt: skip
            size += len(text)
        switch.settle(size, events, left)

    def _parsed(self, raw: RawEvent, text: bytes, number: int) -> Iterator[Item]:
        """Yield the event in a text, the runs made of it, or why it is not an event."""
        event, fault = (None, said(raw.fault)) if raw.fault else parsed_event(text)
        if event is None or self._runs is None or kind_of(event) != JOB_EVENT:
            yield Item(raw.line, text, text, number, raw.pointer, fault=fault, parsed=event)
            return
        if self._facets is None:
            found = self._source.again()
            self._facets = dataset_facets(parsed_event(one.data)[0] for one in found)
        run_id = self._runs.run_id(number, digest_of(text))
        bodies = run_events(event, self._facets, run_id, self._runs.engine, self._runs.left_out)
        for part, body in enumerate(bodies):
            yield Item(
                raw.line, text, body, number, raw.pointer, part, is_made=True,
                parsed=strict_json.loads(body),
            )  # fmt: skip


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
