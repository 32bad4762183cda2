"""Lines of JSON Lines as they may come: events of a small pool, three in four of them damaged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from streamt_ol.openlineage.release import CORE_ID, PRODUCER, core_id
from support.openlineage_events import (
    RUN_ID,
    Event,
    dataset_event,
    job_event,
    mutated,
    random_event,
    run_event,
    topic,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

_FOREIGN = "https://example.com/integration/1.2"
# Values that are nearly right, wrong, or right and rare.
_VALUES = [
    b"null", b'""', b'" "', b"{}", b"[]", b"1", b"1e999", b"123456789012345678901", b"1.0",
    b'"\\u0041"', b'"\\ud800"', b'"\\ud83d\\ude00"', b'"\xc3\xa9"', b'"\xff"', b'"\xc2\xa0"',
    b'"\x1c"', b'"\x01"', b'"\x7f"', b'"a\\/b"', b'"\\u003a"', b'"START"', b'"DONE"', b'"start"',
    b'"2026-02-29T00:00:00Z"', b'"2024-02-29T23:59:59.12345678Z"', b'"2026-01-01T00:00:60Z"',
    b'"2026-06-30T23:59:60Z"', b'"2026-01-01t00:00:00z"', b'"2026-01-01T00:00:00+02:00"',
    b'"0000-01-01T00:00:00Z"', b'"2026-01-01T24:00:00Z"', b'"2026-01-01T00:00:00.Z"',
    b'"2026-01-01T00:00:00.\xd9\xa3Z"', b'"2026-01-01 00:00:00Z"', b'"http://a b"', b'"urn:a"',
    b'"http://[::1]/a"', b'"0191E1A5-7b1a-7000-8000-00000000000A"',
    b'"0191e1a5-7b1a-7000-8000-00000000000g"', b'"0191E1A57b1a-7000-8000-00000000000Aa-"',
    b'"0191e1a5-7b1a-7000-8000-0000000000 a"', b'"0191e1a5 -7b1a-7000-8000-0000000000a"',
]  # fmt: skip
_KEYS = [
    b'"x"', b'"inputs"', b'"run"', b'"job"', b'"dataset"', b'"_deleted"', b'"facets"',
    b'"eventTy\\u0070e"', b'"inputFacets"', b'"outputFacets"', b'"parent"', b'"schema"', b'"name"',
]  # fmt: skip
_BLANKS = [b" ", b"  ", b"\t", b"\r"]
_SEPARATORS = [(",", ":"), (", ", ": "), (" , ", " : ")]
_ENDS = [b"\n", b"\n", b"\n", b"\r\n", b" \n", b"\t \n"]
_SIGN = re.compile(rb"[,:{}\[\]]")
_VALUE = re.compile(rb'"[^"\\]*"(?=\s*[,}\]])')
_MEMBER = re.compile(rb'"\w+"\s*:\s*"[^"]*"')
_KEY = re.compile(rb'"\w+"(?=\s*:)')


def fuzzed_lines(random: Random, count: int) -> Iterator[bytes]:
    """Yield ``count`` lines, each with its end."""
    pool = [_event(random) for _ in range(min(300, count))]
    for _ in range(count):
        event = random.choice(pool)
        if random.random() < 0.2:  # facets of one event, frame of another
            event = {**event, **dict(random.sample([*random.choice(pool).items()], 2))}
        if random.random() < 0.2:
            event = mutated(random, event)
        line = json.dumps(
            event, separators=random.choice(_SEPARATORS), ensure_ascii=random.random() < 0.5
        ).encode(errors="replace")
        if random.random() < 0.5:
            line = random.choice(_DAMAGES)(random, line)
        yield line.replace(b"\n", b" ") + random.choice(_ENDS)


def _event(random: Random) -> Event:
    """Return a valid event; run ids and jobs repeat, and one in five is streamt's own."""
    event = random.choice(_OWN)(random) if random.random() < 0.2 else random_event(random)
    if event["producer"] != PRODUCER or random.random() < 0.1:
        event["producer"] = _FOREIGN
    if random.random() < 0.2:
        event["schemaURL"] = event["schemaURL"].replace(CORE_ID, random.choice(_CORES))
    if "run" in event:
        event["run"]["runId"] = RUN_ID[:-2] + f"{random.randrange(100):02}"
        if event["producer"] == _FOREIGN:
            event["eventType"] = random.choice(["START", "RUNNING", "COMPLETE", "FAIL", "OTHER"])
    zone = "Z" if random.random() < 0.7 else random.choice(_ZONES)
    second = f"{random.randrange(60):02}:59{random.choice(_FRACTIONS)}"
    event["eventTime"] = f"2026-01-31T23:{second}{zone}"
    return event


_OWN: tuple[Callable[[Random], Event], ...] = (
    lambda random: dataset_event(random.choice("abc")),
    lambda random: job_event(outputs=[topic(one) for one in random.sample("abc", 2)]),
    lambda random: run_event(random.choice(["START", "COMPLETE", "FAIL", "ABORT"])),
    lambda random: run_event(
        random.choice(["START", "COMPLETE"]), inputs=[topic(random.choice("ab")), topic("c")]
    ),
)
_CORES = [core_id("1-0-5"), core_id("2-0-0"), "https://example.com/OpenLineage.json", "no uri"]
_ZONES = ["+00:00", "-00:00", "+05:30", "-23:59", "z"]
_FRACTIONS = ["", ".1", ".12", ".120", ".123", ".1230", ".123456", ".1234567", ".12345678"]


def _byte(random: Random, line: bytes) -> bytes:
    at = random.randrange(len(line))
    return line[:at] + bytes([random.randrange(256)]) + line[at + 1 :]


def _cut(random: Random, line: bytes) -> bytes:
    at = random.randrange(len(line))
    return line[:at] + line[at + random.randrange(1, 5) :]


def _blank(random: Random, line: bytes) -> bytes:
    return _replaced(random, line, _SIGN, lambda found: random.choice(_BLANKS) + found)


def _value(random: Random, line: bytes) -> bytes:
    return _replaced(random, line, _VALUE, lambda _: random.choice(_VALUES))


def _key(random: Random, line: bytes) -> bytes:
    return _replaced(random, line, _KEY, lambda _: random.choice(_KEYS))


def _member(random: Random, line: bytes) -> bytes:
    members = _MEMBER.findall(line)
    if not members:
        return line
    return _replaced(random, line, _MEMBER, lambda found: found + b"," + random.choice(members))


_DAMAGES: tuple[Callable[[Random, bytes], bytes], ...] = (
    _byte, _cut, _blank, _value, _value, _key, _member,
)  # fmt: skip


def _replaced(
    random: Random, line: bytes, pattern: re.Pattern[bytes], new: Callable[[bytes], Any]
) -> bytes:
    found = [*pattern.finditer(line)]
    if not found:
        return line
    one = random.choice(found)
    return line[: one.start()] + bytes(new(one[0])) + line[one.end() :]
