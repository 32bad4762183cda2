"""The fast path for usual events: their frame is read alone, their facets are remembered.

An event passes here only if it certainly breaks no rule; it is then noted in the stream state.
Whatever is unusual is left to the parser, the schema of its kind and the rules, which also judge
all events while facets do not repeat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import orjson
from msgspec import UNSET

from streamt_ol.openlineage.events import DATASET_EVENT, EVENT_SCHEMA_URLS, JOB_EVENT, RUN_EVENT
from streamt_ol.openlineage.facets import DATASET, INPUT_DATASET, JOB, OUTPUT_DATASET, RUN
from streamt_ol.openlineage.formats import is_uri
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.reading.json_scan import BLANKS
from streamt_ol.validation.accept.frames import frame
from streamt_ol.validation.accept.local import EVENT_RULES, FACETS_RULES, accepts_besides
from streamt_ol.validation.accept.verdicts import Verdicts
from streamt_ol.validation.stream import facts
from streamt_ol.validation.stream.times import UtcClock

if TYPE_CHECKING:
    from streamt_ol.validation.accept.frames import Entity, Event, Input, Output
    from streamt_ol.validation.accept.verdicts import Verdict
    from streamt_ol.validation.stream.state import StreamState

_RUN_URL, _JOB_URL, _DATASET_URL = (
    EVENT_SCHEMA_URLS[kind] for kind in (RUN_EVENT, JOB_EVENT, DATASET_EVENT)
)
_EVENT_TYPES = frozenset({"START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"})
# The rules about one event that are asked here, of its frame. `Verdicts` asks those about facets;
# any other rule is asked of the whole event, which is parsed for it.
_BY_FRAME = frozenset({"OL-R016", "OL-R017", "OL-R018", "OL-R019", "OL-R026"})
_REMEMBERED = 8192  # producers and jobs
_UUID_LENGTH, _UUID_BYTES = 36, 16


class FastPath:
    """The fast path, and what it remembers from event to event."""

    def __init__(self) -> None:
        self._run, self._job, self._dataset = Verdicts(RUN), Verdicts(JOB), Verdicts(DATASET)
        self._input, self._output = Verdicts(INPUT_DATASET), Verdicts(OUTPUT_DATASET)
        self._more = accepts_besides(_BY_FRAME.union(FACETS_RULES))
        self._asks_more = not EVENT_RULES.keys() <= _BY_FRAME
        self._clock = UtcClock()
        self._producers: set[str] = set()
        self._jobs: dict[tuple[str, str], int] = {}
        self.asked = 0

    @property
    def judged(self) -> int:
        """The number of containers that were judged, of those that the fast path asked about."""
        places = (self._run, self._job, self._dataset, self._input, self._output)
        return sum(place.judged for place in places)

    def passes(self, line: bytes, position: int, state: StreamState) -> str | None:
        """Return the kind of an event that breaks no rule, noted in ``state``; None of others.

        ``line`` is the event at ``position``, white space around it included.
        """
        data = line.strip(BLANKS)
        event = frame(data)
        if event is None or (
            event.producer not in self._producers and not self._is_producer(event.producer)
        ):
            return None
        at = self._clock.ticks(event.event_time)
        if (
            at < 0
            or (event.inputs and not self._are_listed(event.inputs, self._input))
            or (event.outputs and not self._are_listed(event.outputs, self._output))
        ):
            return None
        if event.job is UNSET:
            return self._dataset_event(event, data, position, state)
        if event.dataset is not UNSET:
            return None
        if event.run is UNSET:
            return self._job_event(event, event.job, data, position, state)
        return self._run_event(event, event.job, at, data, position, state)

    def _run_event(
        self, event: Event, job: Entity, at: int, data: bytes, position: int, state: StreamState
    ) -> str | None:
        run, event_type = event.run, event.event_type
        assert run is not UNSET
        if event.schema_url != _RUN_URL or event_type is UNSET or event_type not in _EVENT_TYPES:
            return None
        identity = job.namespace, job.name
        job_key = self._jobs.get(identity) or self._job_key(identity)
        processing_type = self._processing_type(job)
        run_key = _run_key(run.run_id)
        if job_key is None or processing_type is False or run_key is None:
            return None
        if run.facets is not UNSET:
            self.asked += 1
            if self._run[bytes(run.facets)] is False:
                return None
        if self._asks_more and not self._accepts(RUN_EVENT, data):
            return None
        moment = at, crc32(data), position
        state.note_job(job_key, identity, processing_type, position)
        state.note_run(run_key, event_type, job_key, moment, generated=False)
        return RUN_EVENT

    def _job_event(
        self, event: Event, job: Entity, data: bytes, position: int, state: StreamState
    ) -> str | None:
        if event.schema_url != _JOB_URL or event.event_type is not UNSET:
            return None
        identity = job.namespace, job.name
        job_key = self._jobs.get(identity) or self._job_key(identity)
        processing_type = self._processing_type(job)
        if job_key is None or processing_type is False:
            return None
        if self._asks_more and not self._accepts(JOB_EVENT, data):
            return None
        state.note_job(job_key, identity, processing_type, position)
        state.note_static(JOB_EVENT, identity, event.event_time, crc32(data), position)
        return JOB_EVENT

    def _dataset_event(
        self, event: Event, data: bytes, position: int, state: StreamState
    ) -> str | None:
        dataset = event.dataset
        if (
            dataset is UNSET
            or event.run is not UNSET
            or event.event_type is not UNSET
            or event.inputs is not UNSET
            or event.outputs is not UNSET
            or event.schema_url != _DATASET_URL
            or not self._is_dataset(dataset)
        ):
            return None
        if self._asks_more and not self._accepts(DATASET_EVENT, data):
            return None
        identity = dataset.namespace, dataset.name
        state.note_static(DATASET_EVENT, identity, event.event_time, crc32(data), position)
        return DATASET_EVENT

    def _accepts(self, kind: str, data: bytes) -> bool:
        """Tell whether the rules hold that are asked of the whole event."""
        try:
            event = orjson.loads(data)
        except orjson.JSONDecodeError:  # nested deeper than its parts
            return False
        return self._more(kind, event)

    def _are_listed(self, datasets: list[Input] | list[Output], place: Verdicts) -> bool:
        """Tell whether the inputs, or the outputs, are right; more facets are at ``place``."""
        for dataset in datasets:
            if not self._is_dataset(dataset):
                return False
            if dataset.more is not UNSET:
                self.asked += 1
                if place[bytes(dataset.more)] is False:
                    return False
        return len(datasets) == 1 or len({(one.namespace, one.name) for one in datasets}) == len(
            datasets
        )

    def _is_dataset(self, dataset: Entity) -> bool:
        """Tell whether a dataset has a name and a namespace, and facets that are right."""
        namespace, name = dataset.namespace, dataset.name
        if not namespace or not name or namespace.isspace() or name.isspace():
            return False
        if dataset.facets is UNSET:
            return True
        self.asked += 1
        return self._dataset[bytes(dataset.facets)] is not False

    def _processing_type(self, job: Entity) -> Verdict:
        """Return the processing type that a job's facets state; False if they are not right."""
        if job.facets is UNSET:
            return None
        self.asked += 1
        return self._job[bytes(job.facets)]

    def _job_key(self, identity: tuple[str, str]) -> int | None:
        """Return the key of a job and remember it; None if its name or namespace is blank."""
        namespace, name = identity
        if not namespace or not name or namespace.isspace() or name.isspace():
            return None
        if len(self._jobs) == _REMEMBERED:
            self._jobs.clear()
        key = self._jobs[identity] = facts.job_key(namespace, name)
        return key

    def _is_producer(self, producer: str) -> bool:
        """Tell whether a producer is a URI and not streamt's own, which has rules of its own."""
        if producer == PRODUCER or not is_uri(producer):
            return False
        if len(self._producers) == _REMEMBERED:
            self._producers.clear()
        self._producers.add(producer)
        return True


def _run_key(run_id: str) -> int | None:
    """Return the key of a run id in canonical form, or None."""
    if len(run_id) != _UUID_LENGTH or run_id[8:24:5] != "----":
        return None
    try:
        number = bytes.fromhex(run_id.replace("-", ""))  # skips blanks, so that bytes are missing
    except ValueError:
        return None
    return int.from_bytes(number) if len(number) == _UUID_BYTES else None
