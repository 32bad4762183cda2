"""Archives for tests: files of every form that inputs have, runs that lie in several of them."""

from __future__ import annotations

import gzip
import json
import uuid
from typing import TYPE_CHECKING, Any

from backports import zstd

from support.openlineage_events import mutated, random_event, run_event

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

BOM = b"\xef\xbb\xbf"
_JUNK = [b"", b"  ", b"{", b"[]", b"\xff", b"{}", b"x" * 300, b"null", BOM]
_PRODUCER = "https://example.com/other/producer/1.0"


def write_archive(folder: Path, random: Random, files: int = 5, events: int = 60) -> list[str]:
    """Write ``files`` files of about ``events`` lines each; return their names in order."""
    runs = [str(uuid.UUID(int=random.getrandbits(128), version=4)) for _ in range(events)]
    names = []
    for number in range(files):
        form = random.choice(["plain", "plain", "plain", "gz", "zst", "array", "pretty", "empty"])
        lines = [_line(random, runs) for _ in range(random.randint(0, 2 * events))]
        file = folder / f"{number}-{form}.jsonl"
        file.write_bytes(_written(random, form, lines))
        names.append(str(file))
    if random.random() < 0.3:
        names.insert(random.randrange(len(names)), str(folder / "absent.jsonl"))
    return names


def _line(random: Random, runs: list[str]) -> bytes:
    chosen = random.random()
    if chosen < 0.1:
        return random.choice(_JUNK)
    if chosen < 0.4:
        event = random_event(random)
        return json.dumps(mutated(random, event) if chosen < 0.25 else event).encode()
    return json.dumps(_of_a_run(random, runs)).encode()


def _of_a_run(random: Random, runs: list[str]) -> dict[str, Any]:
    """Return an event of a run that others belong to as well: ends twice, late, of other jobs."""
    number = random.randrange(len(runs))
    event = run_event(random.choice(["START", "COMPLETE", "FAIL", "RUNNING", "OTHER", None]))
    event["run"] = {"runId": runs[number]}
    event["eventTime"] = f"2026-01-31T23:59:{random.randrange(60):02}Z"
    if number % 3:
        event["producer"] = _PRODUCER
        event["job"] = {"namespace": "n", "name": f"job-{number % 7 + (random.random() < 0.1)}"}
        if number % 2:
            kind = random.choice(["BATCH", "STREAMING"]) if random.random() < 0.1 else "STREAMING"
            facet = run_event()["job"]["facets"]["jobType"]
            event["job"]["facets"] = {
                "jobType": {**facet, "processingType": kind, "_producer": _PRODUCER}
            }
    return event


def _written(random: Random, form: str, lines: list[bytes]) -> bytes:
    if form == "empty":
        return random.choice([b"", b"\n\n", BOM])
    if form in ("array", "pretty"):
        values = [json.loads(line) for line in lines if line.startswith(b"{") and len(line) > 2]
        indent = random.choice([None, 2])
        if form == "array":
            return json.dumps(values, indent=indent).encode()
        return b"\n".join(json.dumps(value, indent=1).encode() for value in values)
    repeated = [one for line in lines for one in [line] * (2 if random.random() < 0.1 else 1)]
    data = random.choice([b"\n", b"\r\n"]).join(repeated) + random.choice([b"", b"\n", b"\r"])
    data = random.choice([b"", b"", BOM]) + data
    if form == "gz":
        return gzip.compress(data)[: random.choice([None, -5])]
    return zstd.compress(data) if form == "zst" else data
