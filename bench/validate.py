"""`streamt-ol validate`: time and memory against parsing alone and against other validators.

Two generated files of mixed events: about 1 KB each, and about 8 KB with column lineage. Every
tool is a fresh process that reads the same file; jsonschema alone, which is slow, reads the first
events of it, and its time is scaled. The others check less: the core schema and base facets, no
facet's own schema, no rules beyond the schemas.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from measure import PROGRAM, PYTHON, Cost, Ratio, cost, interleaved, medians, say

from streamt_ol.openlineage import schemas

ROUNDS = 3
SLOW_EVENTS = 1_000
Event = dict[str, Any]
SIZES: dict[str, tuple[int, int, bool]] = {
    "1 KB events": (200_000, 2, False),
    "8 KB events with column lineage": (25_000, 16, True),
}
FLOOR = """
import sys, orjson
for line in open(sys.argv[1], "rb"): orjson.loads(line)
"""
# What one writes oneself: the official schema, formats on, a loop.
RUST = """
import sys, json, orjson, jsonschema_rs
accepts = jsonschema_rs.validator_for(json.load(open(sys.argv[2])), validate_formats=True).is_valid
for line in open(sys.argv[1], "rb"):
    if not accepts(orjson.loads(line)): sys.exit(1)
"""
PYTHON_ALONE = """
import sys, json, itertools, orjson, jsonschema
validator = jsonschema.Draft202012Validator(json.load(open(sys.argv[2])))
for line in itertools.islice(open(sys.argv[1], "rb"), int(sys.argv[3])):
    if not validator.is_valid(orjson.loads(line)): sys.exit(1)
"""


def run(folder: Path) -> list[Ratio]:
    """Measure both files, generated in `folder`; print as it goes."""
    core = folder / "OpenLineage.json"
    core.write_bytes(schemas.verified(schemas.CORE, schemas.pins()[schemas.CORE]))
    ratios = []
    for name, (count, columns, lineage) in SIZES.items():
        file = folder / "events.jsonl"
        cost(PYTHON, __file__, file, str(count), str(columns), str(int(lineage)))
        ratios += measured(name, file, count, core)
    return [*ratios, memory(folder)]


def measured(name: str, file: Path, count: int, core: Path) -> list[Ratio]:
    """Print the table of one file and return the ratio to the floor on one core, and of two."""
    size = file.stat().st_size
    say(f"\nValidate {count:,} {name}: {size / 1e6:.0f} MB, medians of {ROUNDS} interleaved runs")
    tools: dict[str, Callable[[], Cost]] = {
        "floor: orjson parses each line": lambda: cost(PYTHON, "-c", FLOOR, file),
        "streamt-ol validate --jobs 1": lambda: cost(PROGRAM, "validate", file, "--jobs", "1"),
        "streamt-ol validate --jobs 2": lambda: cost(PROGRAM, "validate", file, "--jobs", "2"),
        "jsonschema-rs in a loop": lambda: cost(PYTHON, "-c", RUST, file, core),
        "jsonschema alone": lambda: cost(PYTHON, "-c", PYTHON_ALONE, file, core, str(SLOW_EVENTS)),
        **{
            f"sourcemeta jsonschema validate{mode}": _sourcemeta(program, mode, core, file)
            for program in sourcemeta()
            for mode in ("", " --fast")
        },
    }
    costs = interleaved(tools, ROUNDS)
    times = medians(costs)
    times["jsonschema alone"] *= count / SLOW_EVENTS
    floor = times["floor: orjson parses each line"]
    for tool, seconds in times.items():
        peak = max(one.peak_bytes for one in costs[tool]) / 1e6
        say(
            f"  {tool:<42} {count / seconds:>9,.0f} events/s {seconds / floor:7.2f} x the floor"
            f"  {peak:5.0f} MB"
        )
    if not sourcemeta():
        say("  sourcemeta's CLI is not installed: make bench installs it")
    one, two = times["streamt-ol validate --jobs 1"], times["streamt-ol validate --jobs 2"]
    say(f"  two processes take {two / one:.2f} of the time of one")
    return [Ratio(f"validate {name} / floor", one / floor, 3.0)]


def _sourcemeta(program: Path, mode: str, core: Path, file: Path) -> Callable[[], Cost]:
    return lambda: cost(program, "validate", *mode.split(), core, file)


def sourcemeta() -> list[Path]:
    """Return the program of the PyPI package sourcemeta-jsonschema for this machine, if any."""
    found = find_spec("sourcemeta_jsonschema")
    machine = {"linux": "linux-x86_64", "darwin": "darwin-arm64"}.get(sys.platform, "")
    folders = (found and found.submodule_search_locations) or []
    return [
        program for one in folders if (program := Path(one) / f"jsonschema-{machine}").is_file()
    ]


def memory(folder: Path) -> Ratio:
    """Return the bytes remembered for each run and static identity, over the aim of 200."""
    peaks = []
    counts = (100_000, 700_000)
    for count in counts:
        file = folder / "identities.jsonl"
        cost(PYTHON, __file__, file, str(count), "0", "2")
        peaks.append(cost(PROGRAM, "validate", file, "--jobs", "1").peak_bytes)
    each = (peaks[1] - peaks[0]) / (counts[1] - counts[0])
    say(f"\nMemory: {each:.0f} bytes for each run and each static identity (peak, whole process)")
    return Ratio("validate memory / 200 bytes a run or identity", each / 200, 1.0)


def identities(count: int) -> Iterator[Event]:
    """Yield `count` runs (START and end) and static datasets, half of each."""
    random = Random(2)
    job = {"namespace": "airflow://prod", "name": "shop.load"}
    for number in range(count // 2):
        run = {"runId": _uuid(random)}
        for step, second in (("START", 1), ("COMPLETE", 2)):
            yield {"eventTime": f"2026-01-01T00:00:0{second}Z", "producer": AIRFLOW,
                   "schemaURL": f"{CORE}RunEvent", "eventType": step, "run": run,
                   "job": job}  # fmt: skip
        yield {"eventTime": "2026-01-01T00:00:00Z", "producer": AIRFLOW,
               "schemaURL": f"{CORE}DatasetEvent", "dataset": table(f"t{number}")}  # fmt: skip


def _uuid(random: Random) -> str:
    text = f"{random.getrandbits(128):032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


CORE = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
AIRFLOW = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/airflow"


def facet(version: str, name: str, **body: Any) -> Event:
    url = f"https://openlineage.io/spec/facets/{version}/{name}.json#/$defs/{name}"
    return {"_producer": AIRFLOW, "_schemaURL": url, **body}


def table(name: str, **more: Any) -> Event:
    return {"namespace": "postgres://db.example:5432", "name": f"shop.public.{name}", **more}


def schema(columns: int) -> Event:
    fields = [
        {"name": f"column_{n}", "type": "VARCHAR", "description": "a column"}
        for n in range(columns)
    ]
    return facet("1-2-0", "SchemaDatasetFacet", fields=fields)


def column_lineage(columns: int) -> Event:
    steps = [{"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}]
    fields = {
        f"column_{n}": {
            "inputFields": [table(f"t{k}", field=f"c{n}", transformations=steps) for k in range(2)]
        }
        for n in range(columns)
    }
    return facet("1-2-0", "ColumnLineageDatasetFacet", fields=fields)


def events(count: int, columns: int, *, lineage: bool) -> Iterator[Event]:
    """Yield `count` mixed events: pairs of run events, static events, custom facets."""
    random = Random(1)
    run_id = ""
    batch = {"processingType": "BATCH", "integration": "AIRFLOW", "jobType": "TASK"}
    custom = {"_producer": AIRFLOW, "_schemaURL": "https://example.com/Team.json", "team": "data"}
    for number in range(count):
        minute, second = number // 60 % 60, number % 60
        time = f"2026-01-{number % 28 + 1:02}T12:{minute:02}:{second:02}.{number % 1000:03}Z"
        base: Event = {"eventTime": time, "producer": AIRFLOW}
        job: Event = {
            "namespace": "airflow://prod",
            "name": f"shop.task_{number // 2 % 5000}",
            "facets": {"jobType": facet("2-0-4", "JobTypeJobFacet", **batch)},
        }
        facets: Event = {"schema": schema(columns)}
        if lineage:
            facets["columnLineage"] = column_lineage(columns)
        flow = {"inputs": [table("x")], "outputs": [table(f"t{number}", facets=facets)]}
        kind = number // 2 % 3
        if kind == 0:
            run_id = _uuid(random) if number % 2 == 0 else run_id
            run = {"runId": run_id, "facets": {"team": custom}}
            step = ("START", "COMPLETE")[number % 2]
            yield {**base, "schemaURL": f"{CORE}RunEvent", "eventType": step, "run": run,
                   "job": job, **flow}  # fmt: skip
        elif kind == 1:
            job["facets"]["team"] = custom
            yield {**base, "schemaURL": f"{CORE}JobEvent", "job": job, **flow}
        else:
            dataset = table(f"t{number}", facets={**facets, "team": custom})
            yield {**base, "schemaURL": f"{CORE}DatasetEvent", "dataset": dataset}


def write(path: Path, made: Iterator[Event]) -> None:
    """Write events, every second line as compact JSON and every other with spaces."""
    with path.open("w") as file:
        for number, event in enumerate(made):
            separators = (",", ":") if number % 2 else (", ", ": ")
            file.write(json.dumps(event, separators=separators) + "\n")


if __name__ == "__main__":
    target, how_many, columns, kind = sys.argv[1:]
    if kind == "2":
        write(Path(target), identities(int(how_many)))
    else:
        write(Path(target), events(int(how_many), int(columns), lineage=kind == "1"))
