"""The state of the stream rules: a value that two parts of a stream can each make, and join.

``absorb`` is associative, and the result does not depend on where a stream was cut. A run costs
at most 200 bytes, a static identity or a job less, as digests stand for names; faults cost more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamt_ol.openlineage.events import DATASET_EVENT, RUN_EVENT
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.validation.stream import facts
from streamt_ol.validation.stream.identities import IdentityState
from streamt_ol.validation.stream.runs import RunState
from streamt_ol.validation.stream.times import ticks

if TYPE_CHECKING:
    from collections.abc import Sized


class StreamState(RunState, IdentityState):
    """The state of a part of a stream: of its runs, and of the identities that it names.

    ``token`` stands for this state where it is remembered what was noted in it.
    """

    def __init__(self) -> None:
        RunState.__init__(self)
        IdentityState.__init__(self)
        self.token = object()

    @property
    def entries(self) -> int:
        """The number of entries in all tables, each of which takes up to about 250 bytes."""
        plain: tuple[Sized, ...] = (
            self.runs, self.statics, self.types, self.inputs, self.more_moments,
            self.more_statics, self.half_known,
        )  # fmt: skip
        nested: tuple[dict[int, Any], ...] = (self.more_runs, self.more_types, self.more_inputs)
        within = sum(sum(map(len, table.values())) for table in nested)
        return sum(map(len, plain)) + within

    def observe(
        self, kind: str, event: dict[str, Any], data: bytes, position: int, *, trusted: bool
    ) -> None:
        """Note an event of ``kind``, whose bytes are ``data``, at ``position`` of the stream.

        Positions rise along a stream. ``trusted`` says that the event meets its schema; of
        one that does not, only what is well-formed is noted.
        """
        if not trusted and not facts.is_well_formed(kind, event):
            part = facts.half_known(event) if kind == RUN_EVENT else None
            if part is not None:
                self.half_known.add(part)
            return
        checksum = facts.checksum(data)
        if kind == DATASET_EVENT:
            identity = event["dataset"]["namespace"], event["dataset"]["name"]
            self.note_static(kind, identity, event["eventTime"], checksum, position)
            return
        identity = event["job"]["namespace"], event["job"]["name"]
        job = facts.job_key(*identity)
        self.note_job(job, identity, facts.processing_type(event["job"]), position)
        if kind == RUN_EVENT:
            self._observe_run(event, job, checksum, position)
        else:
            self.note_static(kind, identity, event["eventTime"], checksum, position)

    def _observe_run(self, event: dict[str, Any], job: int, checksum: int, position: int) -> None:
        key = facts.run_key(event["run"]["runId"])
        generated = event.get("producer") == PRODUCER
        if generated:
            inputs = facts.reads(event)
            if inputs is not None:
                self.note_inputs(key, inputs, position)
        moment = ticks(event["eventTime"]), checksum, position
        self.note_run(key, event.get("eventType"), facts.heads(job, generated=generated), moment)

    def absorb(self, later: StreamState) -> None:
        """Join the state of the part of the stream that follows this one."""
        self.absorb_runs(later)
        self.absorb_identities(later)


class NoState(StreamState):
    """A state in which nothing is noted, for events that are judged alone."""

    def note_run(self, *_: object) -> None:
        """Note nothing."""

    def note_static(self, *_: object) -> None:
        """Note nothing."""

    def note_job(self, *_: object) -> None:
        """Note nothing."""

    def note_inputs(self, *_: object) -> None:
        """Note nothing."""
