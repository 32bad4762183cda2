"""The fast path for usual events: their frame is read alone, the parts that repeat are remembered.

An event passes here only if it certainly breaks no rule, but for those about its ``schemaURL``; it
is then noted in the stream state. Whatever is unusual is left to the parser, the schema of its
kind and the rules, which also judge all events while parts do not repeat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import orjson
from msgspec import UNSET, ValidationError
from xxhash import xxh3_64_intdigest

from streamt_ol.openlineage.events import DATASET_EVENT, JOB_EVENT, RUN_EVENT, Outline, kind_of
from streamt_ol.openlineage.formats import is_uri
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.validation.accept.frames import decode, encode_into, whole_line
from streamt_ol.validation.accept.local import EVENT_RULES, FACETS_RULES, accepts_besides
from streamt_ol.validation.accept.own import OwnEvents
from streamt_ol.validation.accept.parts import Parts
from streamt_ol.validation.caching import LONGEST
from streamt_ol.validation.events import faulty_path
from streamt_ol.validation.explain.explanation import said_of_url
from streamt_ol.validation.stream.facts import CHECKSUM, EVENT_TYPES, run_key_of
from streamt_ol.validation.stream.state import NoState
from streamt_ol.validation.stream.times import Clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamt_ol.validation.accept.frames import Event, Run
    from streamt_ol.validation.accept.parts import Job
    from streamt_ol.validation.explain import frames
    from streamt_ol.validation.explain.parts import AnySaid
    from streamt_ol.validation.findings import Finding
    from streamt_ol.validation.stream.state import StreamState

    AnyEvent = Event | frames.Event
    # The ticks of the event's time, the checksum of its line, its position.
    Moment = tuple[int, int, int]

# The rules about one event that are asked here, of its frame. `Parts` asks those about facets; any
# other rule is asked of the whole event, which is parsed for it.
_BY_FRAME = frozenset({"OL-R016", "OL-R017", "OL-R018", "OL-R019", "OL-R026"})
_REMEMBERED = 8192  # producers, and schema URLs of events of each kind
_NEWLINE = ord("\n")


class Passed(NamedTuple):
    """The kind of an event that passed, and what is said of it."""

    kind: str
    said: Sequence[AnySaid] = ()


class FastPath:
    """The fast path, and what it remembers from event to event. Not for two threads at once."""

    def __init__(self) -> None:
        self._parts = Parts()
        self._own = OwnEvents()
        self._clock = Clock()
        self._producers: set[str] = set()
        self._urls: dict[str, dict[str, Passed | None]] = {
            kind: {} for kind in (RUN_EVENT, JOB_EVENT, DATASET_EVENT)
        }
        self._buffer = bytearray()
        self._nowhere = NoState()
        self._asks_more = not EVENT_RULES.keys() <= _BY_FRAME
        self._more = accepts_besides(_BY_FRAME.union(FACETS_RULES))

    @property
    def judged(self) -> int:
        """The bytes of parts that were new, so that they were judged."""
        return self._parts.judged + self._own.judged

    def outline(self, text: bytes) -> tuple[Outline, tuple[Finding, ...]] | None:
        """Return the outline of an event that is right, and what is to report; None of others.

        ``text`` has no newline. It is judged alone: nothing is noted of it.
        """
        try:
            event = decode(text)
        except (ValueError, RecursionError):
            return None
        line = self._whole(event, text + b"\n")
        passed = None if line is None else self._passes(event, line, line, 0, self._nowhere)
        if passed is None:
            return None
        entity = event.dataset if event.job is UNSET else event.job
        assert entity is not UNSET
        event_type = "" if event.event_type is UNSET else event.event_type
        outline = Outline(passed.kind, event_type, entity.namespace, entity.name)
        return outline, tuple(found for one in passed.said for found in one.findings())

    def passes(
        self, line: bytes, position: int, state: StreamState, text: bytes | None = None
    ) -> Passed | None:
        """Return what is to report of an event, noted in ``state``; None of an unusual one.

        ``line`` is the event at ``position``, white space around it included; ``text`` is how it
        was written, where that is another way.
        """
        event: AnyEvent
        passed = None
        try:
            event = right = decode(line)
        except ValidationError:
            right = None
            try:
                event = faulty_path().decode(line)
            except (ValueError, RecursionError):
                return None
        except (ValueError, RecursionError):
            return None
        whole = self._whole(event, line)
        if whole is None:
            return None
        if text is None:
            text = whole
        if right is not None:
            passed = self._passes(right, whole, text, position, state)
        if passed is None and not self._asks_more:
            said = faulty_path().passes(event, whole, text, position, state)
            passed = said and Passed(*said)
        return passed

    def _whole(self, event: AnyEvent, line: bytes) -> bytes | None:
        """Return ``line`` without white space around it; None where it holds more than a frame."""
        again = self._buffer
        encode_into(event, again)
        if len(again) + 1 == len(line) and line[-1] == _NEWLINE:
            return line
        return whole_line(line, again)

    def _passes(
        self, event: Event, line: bytes, text: bytes, position: int, state: StreamState
    ) -> Passed | None:
        """Return what is to report of an event that is right; None of others."""
        ticks = self._clock.ticks(event.event_time)
        if ticks is None or (self._asks_more and not self._accepts(line)):
            return None
        moment = ticks, xxh3_64_intdigest(text) & CHECKSUM, position
        if event.producer not in self._producers and not self._is_producer(event.producer):
            return self._own_event(event, moment, state) if event.producer == PRODUCER else None
        parts, inputs, outputs, job = self._parts, event.inputs, event.outputs, event.job
        if (inputs and not parts.are_listed(inputs, parts.input_facets)) or (
            outputs and not parts.are_listed(outputs, parts.output_facets)
        ):
            return None
        if job is UNSET:
            return self._dataset_event(event, moment, state)
        known, run = parts.job(job), event.run
        if known is None or event.dataset is not UNSET:
            return None
        if run is UNSET:
            return self._job_event(event, known, moment, state)
        return self._run_event(event, run, known, moment, state)

    def _run_event(
        self, event: Event, run: Run, job: Job, moment: Moment, state: StreamState
    ) -> Passed | None:
        passed = self._urls[RUN_EVENT].get(event.schema_url) or self._url(RUN_EVENT, event)
        event_type, key = event.event_type, run_key_of(run.run_id)
        if (
            passed is None
            or key is None
            or event_type is UNSET
            or event_type not in EVENT_TYPES
            or (run.facets is not UNSET and not self._parts.run_facets.of(run.facets))
        ):
            return None
        if job.noted is not state.token:
            _note(job, moment, state)
        state.note_run(key, event_type, job.heads, moment)
        return passed

    def _job_event(
        self, event: Event, job: Job, moment: Moment, state: StreamState
    ) -> Passed | None:
        passed = self._url(JOB_EVENT, event)
        if passed is None or event.event_type is not UNSET:
            return None
        if job.noted is not state.token:
            _note(job, moment, state)
        _, checksum, position = moment
        state.note_static(JOB_EVENT, job.identity, event.event_time, checksum, position)
        return passed

    def _dataset_event(self, event: Event, moment: Moment, state: StreamState) -> Passed | None:
        dataset = event.dataset
        if (
            dataset is UNSET
            or event.run is not UNSET
            or event.event_type is not UNSET
            or event.inputs is not UNSET
            or event.outputs is not UNSET
            or not self._parts.is_dataset(dataset)
        ):
            return None
        passed = self._url(DATASET_EVENT, event)
        if passed is not None:
            identity = dataset.namespace, dataset.name
            _, checksum, position = moment
            state.note_static(DATASET_EVENT, identity, event.event_time, checksum, position)
        return passed

    def _own_event(self, event: Event, moment: Moment, state: StreamState) -> Passed | None:
        """Return what is to report of an event of streamt's own, which has rules of its own."""
        run = event.run
        key = None if run is UNSET else run_key_of(run.run_id)
        own = self._own.of(event) if run is UNSET or key is not None else None
        if own is None:
            return None
        _, checksum, position = moment
        if own.heads is not None:
            state.note_job(own.heads.job, own.identity, own.processing_type, position)
        if key is None or own.heads is None:
            state.note_static(own.kind, own.identity, event.event_time, checksum, position)
            return self._url(own.kind, event)
        if own.reads is not None:
            state.note_inputs(key, own.reads, position)
        assert event.event_type is not UNSET
        state.note_run(key, event.event_type, own.heads, moment)
        return self._url(own.kind, event)

    def _accepts(self, line: bytes) -> bool:
        """Tell whether the rules hold that are asked of the whole event."""
        try:
            event = orjson.loads(line)
        except orjson.JSONDecodeError:  # nested deeper than its parts
            return False
        kind = kind_of(event)
        return kind is not None and self._more(kind, event)

    def _is_producer(self, producer: str) -> bool:
        """Tell whether a producer is a URI and not streamt's own, which has rules of its own."""
        if producer == PRODUCER or not is_uri(producer):
            return False
        if len(self._producers) == _REMEMBERED:
            self._producers.clear()
        if len(producer) <= LONGEST:
            self._producers.add(producer)
        return True

    def _url(self, kind: str, event: Event) -> Passed | None:
        """Return what is to report of an event of ``kind``, None if its ``schemaURL`` is no URI.

        Of an event that has no other fault, its ``schemaURL`` tells that alone.
        """
        url, known = event.schema_url, self._urls[kind]
        if url not in known:
            if len(known) == _REMEMBERED:
                known.clear()
            passed = Passed(kind, said_of_url(kind, url)) if is_uri(url) else None
            if len(url) > LONGEST:
                return passed
            known[url] = passed
        return known[url]


def _note(job: Job, moment: Moment, state: StreamState) -> None:
    state.note_job(job.heads.job, job.identity, job.processing_type, moment[2])
    job.noted = state.token
