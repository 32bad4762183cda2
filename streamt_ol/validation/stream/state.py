"""The state of the stream rules: a value that two parts of a stream can each make, and join.

``absorb`` is associative, and the result does not depend on where a stream was cut. A run costs
at most 200 bytes, a static identity or a job less, as digests stand for names; faults cost more.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any
from zlib import crc32

from streamt_ol.openlineage.events import DATASET_EVENT, RUN_EVENT
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.reading.json_scan import BLANKS
from streamt_ol.redaction import shown
from streamt_ol.validation.stream import facts
from streamt_ol.validation.stream.facts import END, START, Moment, Run
from streamt_ol.validation.stream.further import further_key, run_of
from streamt_ol.validation.stream.packing import (
    TYPE_AT,
    job_type,
    packed_inputs,
    packed_static,
    packed_type,
    run_inputs,
    static_position,
)
from streamt_ol.validation.stream.times import ticks
from streamt_ol.validation.stream.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterator, Sized

Identity = tuple[str, str]  # namespace and name
NAMED = 20_000  # identities whose names are kept for messages
_SHORT = 400  # characters of an identity that is kept as it is: most are never put into words


class StreamState:
    """The state of a part of a stream.

    ``runs`` packs a run by its key; ``statics`` a checksum and position by the key of an
    identity at a time; ``types`` a position and the processing type by a job's key; ``inputs`` a
    checksum and position by the key of a run of streamt's own. The ``more_...`` tables hold what
    breaks rules: runs of one id by other jobs, further STARTs and ends by ``further_key``,
    versions by key and checksum, types, inputs. ``half_known`` has the ``facts.part_key`` of
    STARTs and ends of which nothing else is known, ``names`` the first identities by their keys,
    or their words (see ``name_of``), ``repeated`` the positions of repeated events, to be taken.
    """

    def __init__(self) -> None:
        self.runs: dict[int, bytes] = {}
        self.statics: dict[bytes, bytes] = {}
        self.types: dict[int, bytes] = {}
        self.inputs: dict[int, bytes] = {}
        self.more_runs: dict[int, dict[int, bytes]] = {}
        self.more_moments: dict[bytes, bytes] = {}
        self.more_statics: dict[bytes, bytes] = {}
        self.more_types: dict[int, dict[str, int]] = {}
        self.more_inputs: dict[int, dict[int, int]] = {}
        self.half_known: set[int] = set()
        self.names: dict[int | bytes, Identity | str] = {}
        self.window = Window()
        self.repeated: list[int] = []

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
        checksum = crc32(data.strip(BLANKS))  # a line's end is not part of its event
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
                self._add_inputs(key, inputs, position)
        moment = ticks(event["eventTime"]), checksum, position
        self.note_run(key, event.get("eventType"), job, moment, generated=generated)

    def note_job(
        self, key: int, identity: Identity, processing_type: str | None, position: int
    ) -> None:
        """Note that an event at ``position`` names the job of ``key``, and maybe its type."""
        if len(self.names) < NAMED:
            self._name(key, identity)
        if processing_type is not None:
            known = self.types.get(key)
            if known is None or known[TYPE_AT:] != processing_type.encode(errors="replace"):
                self._add_type(key, processing_type, position)

    def note_static(
        self, kind: str, identity: Identity, event_time: str, checksum: int, position: int
    ) -> None:
        """Note an event of ``kind`` that describes a job or dataset."""
        key = facts.static_key(kind[0], *identity, event_time)
        if len(self.names) < NAMED:
            self._name(key, identity)
        version = packed_static(checksum, position, dataset=kind == DATASET_EVENT)
        self._add_version(key, version)

    def note_run(
        self,
        key: int,
        event_type: str | None,
        job: int,
        moment: tuple[int, int, int],
        *,
        generated: bool,
    ) -> None:
        """Note an event of the run of ``key`` by ``job``; ``moment`` has a ``Moment``'s members."""
        usual = facts.usual(self.runs.get(key), event_type, job, moment, facts.HEADS[generated])
        if usual is not None:
            self.runs[key] = usual
            return
        run = facts.run_facts(event_type, job, Moment(*moment), generated=generated)
        _, checksum, position = moment
        if (
            run.start is None
            and run.end is None
            and self.window.repeats(key << 32 | checksum, position)
        ):
            self.repeated.append(position)
        self._add_run(key, run)

    def _name(self, key: int | bytes, identity: Identity) -> None:
        if key not in self.names:
            namespace, name = identity
            short = len(namespace) + len(name) <= _SHORT
            self.names[key] = identity if short else _worded(identity)

    def name_of(self, key: int | bytes) -> str | None:
        """Return the words for an identity by its key, None where its name was not kept."""
        name = self.names.get(key)
        return _worded(name) if isinstance(name, tuple) else name

    def absorb(self, later: StreamState) -> None:
        """Join the state of the part of the stream that follows this one."""
        self.repeated += later.repeated
        self.repeated += self.window.absorb(later.window)
        for key, data in later.runs.items():
            if key in self.runs:
                self._add_run(key, facts.unpacked(data))
            else:
                self.runs[key] = data
        for key, runs in later.more_runs.items():
            for data in runs.values():
                self._add_run(key, facts.unpacked(data))
        for further, data in later.more_moments.items():
            key, job, part = run_of(further)
            self._add_run(key, facts.run_facts_of(job, part, facts.unpacked_moment(data)))
        self._absorb_tables(later)

    def _absorb_tables(self, later: StreamState) -> None:
        self.half_known |= later.half_known
        for static, version in later.statics.items():
            self._add_version(static, version)
        for further, version in later.more_statics.items():
            self._add_version(further[: -facts.CHECKSUM_BYTES], version)
        self._absorb_values(later)
        for identity, name in later.names.items():
            if len(self.names) == NAMED:
                break
            self.names.setdefault(identity, name)

    def _absorb_values(self, later: StreamState) -> None:
        for key, data in later.types.items():
            self._add_type(key, *job_type(data))
        for key, types in later.more_types.items():
            for name, position in types.items():
                self._add_type(key, name, position)
        for key, data in later.inputs.items():
            self._add_inputs(key, *run_inputs(data))
        for key, inputs in later.more_inputs.items():
            for checksum, position in inputs.items():
                self._add_inputs(key, checksum, position)

    def all_runs(self, key: int) -> Iterator[Run]:
        """Yield the runs of one run id, one for each job, in the order of their first events."""
        packed = [self.runs[key], *self.more_runs.get(key, {}).values()]
        packed.sort(key=lambda data: facts.unpacked(data).first)
        return map(facts.unpacked, packed)

    def _add_run(self, key: int, run: Run) -> None:
        data = self.runs.get(key)
        if data is None:
            self.runs[key] = facts.packed(run)
            return
        known = facts.unpacked(data)
        if known.job == run.job:
            self.runs[key] = facts.packed(self._joined(key, known, run))
            return
        others = self.more_runs.setdefault(key, {})
        if run.job in others:
            run = self._joined(key, facts.unpacked(others[run.job]), run)
        others[run.job] = facts.packed(run)

    def _joined(self, key: int, one: Run, other: Run) -> Run:
        """Return what is known of the events of one run by one job; ``other`` is the later."""
        running = [moment for moment in (one.running, other.running) if moment is not None]
        return Run(
            one.job,
            min(one.first, other.first),
            one.generated or other.generated,
            self._first(key, one.job, START, one.start, other.start),
            self._first(key, one.job, END, one.end, other.end),
            max(running, key=lambda moment: (moment.ticks, -moment.position), default=None),
        )

    def _first(
        self, key: int, job: int, part: str, one: Moment | None, other: Moment | None
    ) -> Moment | None:
        """Return the first START, or end, of a run; keep a later one that differs from all."""
        if one is None or other is None:
            return one or other
        further = further_key(key, job, part, other.checksum)
        if other.checksum == one.checksum or further in self.more_moments:
            self.repeated.append(other.position)
        else:
            self.more_moments[further] = facts.packed_moment(other)
        return one

    def _add_inputs(self, key: int, checksum: int, position: int) -> None:
        """Note the inputs of a run of streamt's own; keep the first, and where others are."""
        data = self.inputs.setdefault(key, packed_inputs(checksum, position))
        if checksum != run_inputs(data)[0]:
            more = self.more_inputs.setdefault(key, {})
            more[checksum] = min(position, more.get(checksum, position))

    def _add_version(self, key: bytes, version: bytes) -> None:
        """Keep the first version of an identity at a time, and later ones that differ."""
        known = self.statics.get(key)
        if known is None:
            self.statics[key] = version
            return
        checksum = version[: facts.CHECKSUM_BYTES]
        if known.startswith(checksum) or key + checksum in self.more_statics:
            self.repeated.append(static_position(version))
        else:
            self.more_statics[key + checksum] = version

    def _add_type(self, key: int, name: str, position: int) -> None:
        """Note that a job has a processing type; keep the first, and where others begin."""
        data = self.types.get(key)
        if data is None:
            self.types[key] = packed_type(name, position)
            return
        first_name, first = job_type(data)
        if name == first_name:
            if position < first:
                self.types[key] = packed_type(name, position)
            return
        if position < first:
            self.types[key] = packed_type(name, position)
            name, position = first_name, first
        more = self.more_types.setdefault(key, {})
        more[name] = min(position, more.get(name, position))


def _worded(identity: Identity) -> str:
    namespace, name = identity
    words = _shown_namespace(namespace) if len(namespace) <= _SHORT else shown(namespace)
    return f"{shown(name)} in {words}"


# Thousands of identities share a few namespaces, in which a search for credentials takes long.
_shown_namespace = lru_cache(maxsize=1024)(shown)
