"""Facts that the stream rules need to know of one event, in few bytes.

A run is remembered as one ``bytes`` value of 15 to 63 bytes, whatever the length of its
events: the digest of its job, its START, its end, its latest RUNNING, where it was first seen.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple
from zlib import crc32

from xxhash import xxh3_64_intdigest, xxh3_128_digest

from streamt_ol.openlineage.events import DATASET_EVENT, RUN_EVENT
from streamt_ol.openlineage.formats import is_uuid
from streamt_ol.reading.json_scan import BLANKS
from streamt_ol.validation.caching import remembering
from streamt_ol.validation.generated_tables import READING_COMMANDS, command_of
from streamt_ol.validation.stream.times import in_utc, is_time

CONTINUOUS = frozenset({"STREAMING", "SERVICE"})
START, END, RUNNING = "start", "end", "running"  # the members of ``Run`` that hold moments
_PARTS = {"START": START, "COMPLETE": END, "ABORT": END, "FAIL": END, "RUNNING": RUNNING}
EVENT_TYPES = frozenset({*_PARTS, "OTHER"})
ENDINGS = frozenset({"COMPLETE", "ABORT", "FAIL"})
_TYPE_LIMIT = 20
CHECKSUM_BYTES = 4
_UUID_LENGTH, _UUID_BYTES = 36, 16
CHECKSUM = 0xFFFFFFFF  # the bits of a digest that make a checksum


class Moment(NamedTuple):
    """An event of a run: its instant in ticks, the checksum of its bytes, its position."""

    ticks: int
    checksum: int
    position: int


class Run(NamedTuple):
    """The facts of a run by one job; ``running`` is its RUNNING event with the latest instant."""

    job: int
    first: int
    generated: bool = False
    start: Moment | None = None
    end: Moment | None = None
    running: Moment | None = None


_HEAD = struct.Struct("<BQ")
MOMENT = struct.Struct("<qIIH")
_POSITION = struct.Struct("<IH")
_HAS_START, _HAS_END, _HAS_RUNNING, _HAS_FIRST, _GENERATED = 1, 2, 4, 8, 16
_ENDS_ONLY = struct.Struct("<BQq10xq10x")  # the flags, the job, the ticks of START and end


class Heads(NamedTuple):
    """The first bytes of packed runs of one job: with a START alone, and with an end behind it."""

    job: int
    generated: bool
    started: bytes
    ended: bytes


@lru_cache(maxsize=1024)
def heads(job: int, *, generated: bool) -> Heads:
    """Return the heads of the runs of ``job``; ``generated`` says that streamt made them."""
    flags = _HAS_START | (_GENERATED if generated else 0)
    return Heads(job, generated, _HEAD.pack(flags, job), _HEAD.pack(flags | _HAS_END, job))


def checksum(data: bytes) -> int:
    """Return 32 bits for the text of an event, to which white space around it does not belong."""
    return xxh3_64_intdigest(data.strip(BLANKS) + b"\n") & CHECKSUM


def _low_high(position: int) -> tuple[int, int]:
    return position & 0xFFFFFFFF, position >> 32


def packed(run: Run) -> bytes:
    """Return ``run`` in as few bytes as it needs; positions have 48 bits."""
    flags = _GENERATED if run.generated else 0
    parts = []
    for flag, moment in ((_HAS_START, run.start), (_HAS_END, run.end), (_HAS_RUNNING, run.running)):
        if moment is not None:
            flags |= flag
            parts.append(MOMENT.pack(moment.ticks, moment.checksum, *_low_high(moment.position)))
    if run.start is None or run.start.position != run.first:
        flags |= _HAS_FIRST
        parts.append(_POSITION.pack(*_low_high(run.first)))
    return _HEAD.pack(flags, run.job) + b"".join(parts)


def unpacked(data: bytes) -> Run:
    """Return the run that ``packed`` made ``data`` of."""
    flags, job = _HEAD.unpack_from(data)
    offset = _HEAD.size
    moments: list[Moment | None] = []
    for flag in (_HAS_START, _HAS_END, _HAS_RUNNING):
        if flags & flag:
            ticks, checksum, low, high = MOMENT.unpack_from(data, offset)
            moments.append(Moment(ticks, checksum, high << 32 | low))
            offset += MOMENT.size
        else:
            moments.append(None)
    start, end, running = moments
    if flags & _HAS_FIRST:
        low, high = _POSITION.unpack_from(data, offset)
        first = high << 32 | low
    else:
        assert start is not None
        first = start.position
    return Run(job, first, bool(flags & _GENERATED), start, end, running)


def is_quiet(data: bytes) -> bool:
    """Tell of a packed run whether all that is known are its START and its end, in order."""
    if len(data) != _ENDS_ONLY.size:
        return False
    flags, _, start, end = _ENDS_ONLY.unpack(data)
    return bool(flags & _HAS_START and flags & _HAS_END and start <= end)


@remembering(8192)
def job_key(namespace: str, name: str) -> int:
    """Return 64 bits that stand for a job's identity."""
    text = f"{len(namespace)}:{namespace}{name}".encode(errors="surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest())


def packed_moment(moment: Moment) -> bytes:
    """Return ``moment`` in 18 bytes."""
    return MOMENT.pack(moment.ticks, moment.checksum, *_low_high(moment.position))


def unpacked_moment(data: bytes) -> Moment:
    """Return the moment that ``packed_moment`` made ``data`` of."""
    ticks, checksum, low, high = MOMENT.unpack(data)
    return Moment(ticks, checksum, high << 32 | low)


def part_key(run: int, part: str) -> int:
    """Return a number that stands for the START or the end of a run."""
    return run << 1 | (part == END)


def run_key(run_id: str) -> int:
    """Return the number that a UUID writes, whatever its case."""
    return int(run_id.replace("-", ""), 16)


def run_key_of(run_id: str) -> int | None:
    """Return the number that a UUID in canonical form writes, None of any other text."""
    if len(run_id) != _UUID_LENGTH or run_id[8:24:5] != "----":
        return None
    try:
        number = bytes.fromhex(run_id.replace("-", ""))  # skips blanks, so that bytes are missing
    except ValueError:
        return None
    return int.from_bytes(number) if len(number) == _UUID_BYTES else None


def run_id_of(key: int) -> str:
    """Return the run id of a key, in lower case."""
    text = f"{key:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def static_key(initial: str, namespace: str, name: str, event_time: str) -> bytes:
    """Return 120 bits for an identity at one (valid) event time; ``initial`` is its kind's."""
    if event_time[-1] != "Z" or event_time[10] != "T":
        event_time = in_utc(event_time)
    elif event_time[-2] == "0" and "." in event_time:
        event_time = event_time[:-1].rstrip("0").rstrip(".") + "Z"
    text = f"{initial}{event_time}{len(namespace)}:{namespace}{name}"
    return xxh3_128_digest(text.encode("utf-8", "surrogatepass"))[:15]


def processing_type(job: dict[str, Any]) -> str | None:
    """Return the job's processing type by its jobType facet, shortened, or None."""
    facets = job.get("facets")
    facet = facets.get("jobType") if type(facets) is dict else None
    value = facet.get("processingType") if type(facet) is dict else None
    return value[:_TYPE_LIMIT] if type(value) is str else None


def reads(event: dict[str, Any]) -> int | None:
    """Return 32 bits for the inputs of a START or end of streamt's own that may have some.

    None for every other event. Implements "Known sample inputs appear on START and the terminal
    event" of the specification.
    """
    event_type = event.get("eventType")
    if event_type != "START" and event_type not in ENDINGS:
        return None
    if command_of(event["job"]["name"]) not in READING_COMMANDS:
        return None
    inputs = event.get("inputs", [])
    if not isinstance(inputs, list) or not all(isinstance(one, dict) for one in inputs):
        return None
    names = sorted(f"{one.get('namespace')}\0{one.get('name')}" for one in inputs)
    return crc32("\0".join(names).encode(errors="surrogatepass"))


def is_well_formed(kind: str, event: dict[str, Any]) -> bool:
    """Tell whether an event that breaks its schema has what the stream rules need to know."""
    entity, time = event.get("dataset" if kind == DATASET_EVENT else "job"), event.get("eventTime")
    if not (isinstance(entity, dict) and isinstance(time, str) and is_time(time)):
        return False
    if not all(isinstance(entity.get(name), str) for name in ("namespace", "name")):
        return False
    if kind != RUN_EVENT:
        return True
    run_id = event["run"].get("runId") if isinstance(event["run"], dict) else None
    event_type = event.get("eventType", "OTHER")
    known = isinstance(event_type, str) and event_type in EVENT_TYPES
    return known and isinstance(run_id, str) and is_uuid(run_id)


def half_known(event: dict[str, Any]) -> int | None:
    """Return the ``part_key`` of a START or end that is not well-formed, or None.

    Such an event tells nothing of its run, but that this part is there.
    """
    run, part = event.get("run"), part_of(event.get("eventType"))
    run_id = run.get("runId") if isinstance(run, dict) else None
    if part is not None and isinstance(run_id, str) and is_uuid(run_id):
        return part_key(run_key(run_id), part)
    return None


def part_of(event_type: object) -> str | None:
    """Return the part of a run, its START or its end, that an event of ``event_type`` is."""
    part = _PARTS.get(event_type) if isinstance(event_type, str) else None
    return part if part in (START, END) else None


def run_facts(event_type: str | None, heads: Heads, moment: Moment) -> Run:
    """Return the run as far as one event of ``event_type`` at ``moment`` tells."""
    part = _PARTS.get(event_type) if event_type is not None else None
    run = Run(heads.job, moment.position, heads.generated)
    return run if part is None else run._replace(**{part: moment})  # type: ignore[arg-type]


def run_facts_of(job: int, part: str, moment: Moment) -> Run:
    """Return the run of ``job`` as far as one further START or end of it tells."""
    run = Run(job, moment.position)
    return run._replace(start=moment) if part == START else run._replace(end=moment)
