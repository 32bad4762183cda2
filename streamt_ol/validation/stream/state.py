"""The memory of the stream rules: a value that two parts of a stream can each make, and join.

``absorb`` is associative, and the result does not depend on where a stream was cut; a test
proves both. A run costs at most 200 bytes, a static identity or a job less: digests stand for
names. Only what breaks a rule costs more.
"""

from __future__ import annotations

import struct
from typing import Any
from zlib import crc32

from streamt_ol.openlineage.events import DATASET_EVENT, RUN_EVENT
from streamt_ol.reading.json_scan import BLANKS
from streamt_ol.validation.stream import facts
from streamt_ol.validation.stream.facts import END, START, Moment, Run
from streamt_ol.validation.stream.window import Window

_STATIC = struct.Struct("<IIBB")  # checksum, position (40 bits), 1 for a dataset
_TYPE = struct.Struct("<IB")


class Memory:
    """What is remembered of a stream.

    ``runs`` packs a run by its key; ``statics`` a checksum and position by the key of an
    identity at a time; ``types`` a position and the processing type by a job's key. The
    ``more_...`` tables hold what breaks rules: further STARTs and ends, jobs, versions, types.
    ``half_known`` names the STARTs and ends of which nothing else is known.
    ``repeated`` holds the positions of events repeated to the byte, for the reader to take away.
    """

    def __init__(self) -> None:
        self.runs: dict[int, bytes] = {}
        self.statics: dict[bytes, bytes] = {}
        self.types: dict[int, bytes] = {}
        self.more_moments: dict[tuple[int, str], list[Moment]] = {}
        self.more_jobs: dict[int, dict[int, int]] = {}
        self.more_statics: dict[bytes, list[bytes]] = {}
        self.more_types: dict[int, dict[str, int]] = {}
        self.half_known: set[tuple[int, str]] = set()
        self.window = Window()
        self.repeated: list[int] = []

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
        checksum = crc32(data.strip(BLANKS))  # a line's end is no part of its event
        if kind == DATASET_EVENT:
            dataset = event["dataset"]
            key = facts.static_key("D", dataset["namespace"], dataset["name"], event["eventTime"])
            self._add_static(key, checksum, position, 1)
            return
        job = event["job"]
        job_key = facts.job_key(job["namespace"], job["name"])
        name = facts.processing_type(job)
        if name is not None:
            known = self.types.get(job_key)
            if known is None or known[_TYPE.size :] != name.encode(errors="replace"):
                self._add_type(job_key, name, position)
        if kind == RUN_EVENT:
            self._observe_run(event, job_key, checksum, position)
        else:
            key = facts.static_key("J", job["namespace"], job["name"], event["eventTime"])
            self._add_static(key, checksum, position, 0)

    def _observe_run(self, event: dict[str, Any], job: int, checksum: int, position: int) -> None:
        key = facts.run_key(event["run"]["runId"])
        usual = facts.usual(self.runs.get(key), event, job, checksum, position)
        if usual is not None:
            self.runs[key] = usual
            return
        moment = Moment(facts.ticks(event["eventTime"]), checksum, position)
        run = facts.run_facts(event, job, moment)
        if (
            run.start is None
            and run.end is None
            and self.window.repeats(key << 32 | checksum, position)
        ):
            self.repeated.append(position)
        self._add_run(key, run)

    def absorb(self, later: Memory) -> None:
        """Join the memory of the part of the stream that follows this one."""
        self.repeated += later.repeated
        self.repeated += self.window.absorb(later.window)
        for key, data in later.runs.items():
            self._add_run(key, facts.unpacked(data))
        for (key, part), moments in later.more_moments.items():
            for moment in moments:
                run = facts.unpacked(self.runs[key])
                first = self._first(key, part, run.start if part == START else run.end, moment)
                self.runs[key] = facts.packed(facts.with_moment(run, part, first))
        for key, jobs in later.more_jobs.items():
            for job, position in jobs.items():
                self._add_job(key, job, position)
        self._absorb_tables(later)

    def _absorb_tables(self, later: Memory) -> None:
        self.half_known |= later.half_known
        for static, version in later.statics.items():
            self._add_version(static, version)
        for static, versions in later.more_statics.items():
            for one in versions:
                self._add_version(static, one)
        for key, data in later.types.items():
            self._add_type(key, *job_type(data))
        for key, types in later.more_types.items():
            for name, position in types.items():
                self._add_type(key, name, position)

    def _add_run(self, key: int, run: Run) -> None:
        data = self.runs.get(key)
        if data is not None:
            run = self._joined(key, facts.unpacked(data), run)
        self.runs[key] = facts.packed(run)

    def _joined(self, key: int, one: Run, other: Run) -> Run:
        early, late = (one, other) if one.first <= other.first else (other, one)
        if late.job != early.job:
            self._add_job(key, late.job, late.first)
        running = [moment for moment in (one.running, other.running) if moment is not None]
        return Run(
            early.job,
            early.first,
            one.generated or other.generated,
            self._first(key, START, one.start, other.start),
            self._first(key, END, one.end, other.end),
            max(running, key=lambda moment: (moment.ticks, -moment.position), default=None),
        )

    def _add_job(self, key: int, job: int, position: int) -> None:
        jobs = self.more_jobs.setdefault(key, {})
        jobs[job] = min(position, jobs.get(job, position))

    def _first(
        self, key: int, part: str, one: Moment | None, other: Moment | None
    ) -> Moment | None:
        """Return the first START, or end, of a run; keep later ones that differ from it."""
        if one is None or other is None:
            return one or other
        versions: list[Moment] = [one, *self.more_moments.pop((key, part), ())]
        for index, known in enumerate(versions):
            if known.checksum == other.checksum:
                versions[index], again = sorted((known, other), key=_position)
                self.repeated.append(again.position)
                break
        else:
            versions.append(other)
        versions.sort(key=_position)
        first, later = versions[0], versions[1:]
        if later:
            self.more_moments[key, part] = later
        return first

    def _add_static(self, key: bytes, checksum: int, position: int, entity: int) -> None:
        """Note a version of an identity at a time; ``entity`` is 1 for a dataset."""
        version = _STATIC.pack(checksum, position & 0xFFFFFFFF, position >> 32, entity)
        self._add_version(key, version)

    def _add_version(self, key: bytes, version: bytes) -> None:
        """Keep the first version of an identity at a time, and later ones that differ."""
        known = self.statics.get(key)
        if known is None:
            self.statics[key] = version
            return
        versions = [known, *self.more_statics.pop(key, ())]
        for index, one in enumerate(versions):
            if one[:4] == version[:4]:
                versions[index], again = sorted((one, version), key=static_position)
                self.repeated.append(static_position(again))
                break
        else:
            versions.append(version)
        self.statics[key], *later = sorted(versions, key=static_position)
        if later:
            self.more_statics[key] = later

    def _add_type(self, key: int, name: str, position: int) -> None:
        """Note that a job has a processing type; keep the first, and where others begin."""
        data = self.types.get(key)
        if data is None:
            self.types[key] = _packed_type(name, position)
            return
        first_name, first = job_type(data)
        if name == first_name:
            if position < first:
                self.types[key] = _packed_type(name, position)
            return
        if position < first:
            self.types[key] = _packed_type(name, position)
            name, position = first_name, first
        more = self.more_types.setdefault(key, {})
        more[name] = min(position, more.get(name, position))


def _position(moment: Moment) -> int:
    return moment.position


def static_position(version: bytes) -> int:
    """Return the position of a packed version of a static identity."""
    _, low, high, _ = _STATIC.unpack(version)
    return int(low | high << 32)


def is_dataset(version: bytes) -> bool:
    """Tell whether a packed version is a dataset's; otherwise it is a job's."""
    return version[-1] == 1


def job_type(data: bytes) -> tuple[str, int]:
    """Return the processing type and the position that ``data`` packs."""
    low, high = _TYPE.unpack_from(data)
    return data[_TYPE.size :].decode(), low | high << 32


def _packed_type(name: str, position: int) -> bytes:
    return _TYPE.pack(position & 0xFFFFFFFF, position >> 32) + name.encode(errors="replace")
