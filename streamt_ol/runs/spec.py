"""The description of a run: its job, its datasets, its ids, and the shape of its events.

Implements the identities and fields of "Runtime command events" of the specification. A spec
holds no time and no run id; ``event`` makes one complete RunEvent of it.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NotRequired, TypedDict

from streamt_ol.openlineage import facets
from streamt_ol.openlineage.events import EVENT_SCHEMA_URLS, RUN_EVENT
from streamt_ol.openlineage.formats import is_uuid
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.problems import INVALID, StreamtOlError

if TYPE_CHECKING:
    from collections.abc import Iterable

_TRACE_BITS = 128
EventType = Literal["START", "COMPLETE", "FAIL", "ABORT"]
TERMINAL: tuple[EventType, ...] = ("COMPLETE", "FAIL", "ABORT")


class Identity(TypedDict):
    """The dict shape of a dataset in ``inputs`` and ``outputs``: no facets of its own."""

    namespace: str
    name: str


class JobDict(Identity):
    """The dict shape of a job, with its ``jobType`` facet."""

    facets: dict[str, dict[str, str]]


class RunDict(TypedDict):
    """The dict shape of a run: ``parent`` where it has one, ``errorMessage`` where it failed."""

    runId: str
    facets: NotRequired[dict[str, dict[str, Any]]]


class RunEvent(TypedDict):
    """The dict shape of a RunEvent as this project emits it."""

    eventType: EventType
    eventTime: str
    run: RunDict
    job: JobDict
    inputs: NotRequired[list[Identity]]
    outputs: NotRequired[list[Identity]]
    producer: str
    schemaURL: str


class Job(NamedTuple):
    """The identity of a job and the words of its ``jobType`` facet."""

    namespace: str
    name: str
    processing_type: str = "BATCH"
    integration: str = "STREAMT"
    job_type: str = "COMMAND"


class Dataset(NamedTuple):
    """The identity of a dataset."""

    namespace: str
    name: str


class Parent(NamedTuple):
    """The run that a run is part of: its job, and its run id, a UUID."""

    namespace: str
    name: str
    run_id: str


class RunSpec(NamedTuple):
    """A job and the datasets that its run reads and writes, as the code ``producer`` says.

    Datasets appear in canonical order, each once, on every event of the run, so that each
    event is useful on its own.
    """

    job: Job
    inputs: tuple[Dataset, ...] = ()
    outputs: tuple[Dataset, ...] = ()
    parent: Parent | None = None
    producer: str = PRODUCER

    def event(
        self, event_type: EventType, run_id: str, event_time: str, message: str | None = None
    ) -> RunEvent:
        """Return one RunEvent; ``message`` (for FAIL) becomes its ``errorMessage`` facet.

        ``event_time`` is an RFC 3339 time with a zone. ``inputs`` and ``outputs`` are absent when
        empty.
        """
        run: RunDict = {"runId": run_id}
        found = {
            **({} if self.parent is None else {"parent": self._parent(self.parent)}),
            **({} if message is None else {"errorMessage": self._error_message(message)}),
        }
        if found:
            run["facets"] = found
        event: RunEvent = {
            "eventType": event_type,
            "eventTime": event_time,
            "run": run,
            "job": {
                "namespace": self.job.namespace,
                "name": self.job.name,
                "facets": {"jobType": self._job_type()},
            },
            "producer": self.producer,
            "schemaURL": EVENT_SCHEMA_URLS[RUN_EVENT],
        }
        if self.inputs:
            event["inputs"] = _identities(self.inputs)
        if self.outputs:
            event["outputs"] = _identities(self.outputs)
        return event

    def shapes(self, run_id: str, event_time: str) -> list[RunEvent]:
        """Return one event of each kind that a run of this spec can emit, to be checked early."""
        return [
            self.event("START", run_id, event_time),
            *(self.event(kind, run_id, event_time) for kind in TERMINAL),
            self.event("FAIL", run_id, event_time, "a message"),
        ]

    def _parent(self, parent: Parent) -> dict[str, Any]:
        return {
            "_producer": self.producer,
            "_schemaURL": facets.schema_url(facets.RUN, "parent"),
            "run": {"runId": parent.run_id},
            "job": {"namespace": parent.namespace, "name": parent.name},
        }

    def _error_message(self, message: str) -> dict[str, str]:
        return {
            "_producer": self.producer,
            "_schemaURL": facets.schema_url(facets.RUN, "errorMessage"),
            "message": message,
            "programmingLanguage": "PYTHON",
        }

    def _job_type(self) -> dict[str, str]:
        return {
            "_producer": self.producer,
            "_schemaURL": facets.schema_url(facets.JOB, "jobType"),
            "processingType": self.job.processing_type,
            "integration": self.job.integration,
            "jobType": self.job.job_type,
        }


def _identities(datasets: Iterable[Dataset]) -> list[Identity]:
    return [{"namespace": d.namespace, "name": d.name} for d in sorted(set(datasets))]


def random_id() -> str:
    """Return a fresh random UUIDv4, as "Event time, run IDs, and determinism" asks for."""
    return str(uuid.uuid4())


def id_of_trace(trace_id: int | str) -> str:
    """Return a 128-bit W3C trace id, an int or 32 hexadecimal digits, as a UUID.

    One lineage run then maps to one trace. Raises E506 for anything else, and for the all-zero
    id, which tracing libraries give when there is no trace.
    """
    number = _number(trace_id)
    if not 0 < number < 1 << _TRACE_BITS:
        raise StreamtOlError(
            INVALID,
            "the trace id is not 32 hexadecimal digits other than all zeros",
            location="trace_id",
            suggestion="start the run inside a recording span, or give no trace id",
        )
    return str(uuid.UUID(int=number))


def parent_of(text: str, location: str) -> Parent:
    """Return the parent that ``NAMESPACE/NAME/RUNID`` names, as the official wrappers hand it on.

    A job's name may hold slashes: the namespace ends at the first, the run id begins after the
    last. Of a namespace that is a URL nobody knows where it ends. Raises E506 at ``location``.
    """
    namespace, _, rest = text.partition("/")
    if namespace.endswith(":") and rest.startswith("/"):
        raise StreamtOlError(
            INVALID,
            "the namespace of the parent is a URL, and the slashes do not say where it ends",
            location=location,
            suggestion="give --parent NAMESPACE NAME RUNID",
        )
    name, _, run_id = rest.rpartition("/")
    return checked_parent(namespace, name, run_id, location)


def checked_parent(namespace: str, name: str, run_id: str, location: str) -> Parent:
    """Return a parent with a namespace, a name and a UUID, or raise E506 at ``location``."""
    if not namespace.strip() or not name.strip() or not is_uuid(run_id):
        raise StreamtOlError(
            INVALID,
            "the parent is not a namespace, the name of a job and a run id that is a UUID",
            location=location,
        )
    return Parent(namespace, name, run_id)


def _number(digits: object) -> int:
    if isinstance(digits, int):
        return digits
    if not isinstance(digits, str):
        return -1
    try:
        return int.from_bytes(bytes.fromhex(digits)) if len(digits) == _TRACE_BITS // 4 else -1
    except ValueError:
        return -1
