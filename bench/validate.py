"""`streamt-ol validate`: time and memory against parsing alone and against other validators.

Every tool is a fresh process that reads the same file. The other validators check less: the core
schema and base facets, no facet's own schema, no rules beyond the schemas; jsonschema alone, which
is slow, reads the first events, and its time is scaled.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from measure import (
    NOW,
    PROGRAM,
    PYTHON,
    Calls,
    Cost,
    against,
    calls,
    cost,
    interleaved,
    memory,
    over,
    result,
    say,
)
from table import MEMORY, NOT_SLOWER, Filled, Result, Results, Row, Table, at_most

from streamt_ol.openlineage import schemas

ROUNDS = 5
SLOW_EVENTS = 1_000
IDENTITIES = (100_000, 700_000)
INVALID_EVENTS = 20_000
JUNK_LINES = 100_000
# argv: events.
FLOOR = """
import sys, orjson
for line in open(sys.argv[1], "rb"): orjson.loads(line)
"""
# What one writes oneself: the official schema, formats on, a loop. argv: events, schema.
RUST = """
import sys, json, orjson, jsonschema_rs
accepts = jsonschema_rs.validator_for(json.load(open(sys.argv[2])), validate_formats=True).is_valid
for line in open(sys.argv[1], "rb"):
    if not accepts(orjson.loads(line)): sys.exit(1)
"""
# argv: events, schema, number of events.
PYTHON_ALONE = """
import sys, json, itertools, orjson, jsonschema
validator = jsonschema.Draft202012Validator(json.load(open(sys.argv[2])))
for line in itertools.islice(open(sys.argv[1], "rb"), int(sys.argv[3])):
    if not validator.is_valid(orjson.loads(line)): sys.exit(1)
"""
# The number of events of each kind.
COUNTS = {
    "small": 200_000,
    "1 KB": 200_000,
    "producers": 60_000,
    "8 KB": 15_000,
    "unrepeated": 200_000,
}
VALID = Table(
    "Validate: multiples of parsing",
    {
        "small": Row("200,000 small events, 840 bytes", at_most(3.6)),
        "1 KB": Row("200,000 mixed events of 1 KB", at_most(3.0)),
        "producers": Row(
            "60,000 as producers write them, 2.9 KB, a parent and a time of its own for each run",
            at_most(2.4),
        ),
        "8 KB": Row("15,000 of 8 KB with column lineage", at_most(1.3)),
        "unrepeated": Row("200,000 of 1 KB, no facet of which repeats", NOT_SLOWER),
    },
    note=(
        "One process (`--jobs 1`), as multiples of one that reads the file and parses each line "
        f"with orjson. Medians of {ROUNDS} interleaved runs."
    ),
)
OTHERS = Table(
    "Validate beside other validators",
    {
        "streamt-ol": Row("`streamt-ol validate --jobs 1`"),
        "two": Row("`streamt-ol validate --jobs 2`"),
        "rust": Row("jsonschema-rs in a bare loop"),
        "fast": Row("sourcemeta's `jsonschema validate --fast`"),
        "sourcemeta": Row("sourcemeta's `jsonschema validate`"),
        "python": Row(f"jsonschema, from {SLOW_EVENTS:,} events"),
        "ahead": Row("`streamt-ol validate --jobs 1` / sourcemeta's `--fast`", at_most(1.0)),
    },
    note=(
        "The 200,000 events of 1 KB, the same floor, the same runs. The others judge by the core "
        "schema alone:\nno facet's own schema, no rules beyond the schemas; the bare loop says yes "
        "or no of JSON Lines and nothing else."
    ),
)
FAULTY = Table(
    "Validate: every event invalid",
    {
        "invalid": Row(
            f"{INVALID_EVENTS:,} events of 1 KB, one fault each / valid ones", at_most(3.0)
        ),
        "junk": Row(
            f"{JUNK_LINES:,} lines of 800 bytes that are not JSON / valid events of 840 bytes"
        ),
    },
    note=f"Medians of {ROUNDS} interleaved runs.",
)
REMEMBERED = Table(
    "Validate: memory",
    {"run": Row("what is remembered of each run or static dataset", at_most(200), "B")},
    figures=(MEMORY,),
    note=(
        f"Peak of the process with {IDENTITIES[1]:,} of them, less that with {IDENTITIES[0]:,}. "
        "One run each: a peak hardly varies."
    ),
)
# argv: those of the command. All of `send` but the posts.
JUDGING = """
from streamt_ol.__main__ import main
from streamt_ol.delivery.sending import Delivery

def run(delivery, route, stop):
    delivery.report.count("sent", delivery.plan.to_send)
    return ""

Delivery.run = run
main()
"""
JUDGED = Table(
    "Validate, check and send",
    {
        "check": Row("`check --for openlineage` / `validate --jobs 1`", at_most(2.0)),
        "send": Row("`send --to openlineage` until the first post / the same", at_most(1.6)),
        "kafka": Row("`send --to kafka` until the first message / the same", at_most(1.6)),
    },
    note=(
        "The 200,000 events of 1 KB, the same runs. `check` names each event; `send` decides about "
        "each and remembers it."
    ),
)
TABLES = (VALID, OTHERS, JUDGED, FAULTY, REMEMBERED)


def run(folder: Path) -> Filled:
    """Measure valid events of every size, then faulty ones, then memory."""
    core = folder / "OpenLineage.json"
    core.write_bytes(schemas.verified(schemas.CORE, schemas.pins()[schemas.CORE]))
    ratios: dict[str, Result] = {}
    for kind, count in COUNTS.items():
        file = written(folder, kind, count)
        floor = {"floor": partial(cost, PYTHON, "-c", FLOOR, file)}
        more = {**others(file, core), **deliveries(file)} if kind == "1 KB" else {}
        costs = interleaved({**floor, **validates(kind, file), **more}, ROUNDS)
        ratios[kind] = result(costs, kind, over(costs["floor"]))
        if more:
            beside = compared(costs, count)
            validated = over(costs[f"1 KB, {NOW}"])
            judged = {name: Result(validated(costs[name])) for name in JUDGED.rows}
        file.unlink()
        say(f"validate: {kind} measured")
    yield VALID, ratios
    yield OTHERS, {"streamt-ol": ratios["1 KB"], **beside}
    yield JUDGED, judged
    yield FAULTY, faulty(folder)
    yield REMEMBERED, {"run": remembered(folder)}


def written(folder: Path, kind: str, count: int) -> Path:
    """Return a file of events, written by a child so that this process stays small."""
    file = folder / f"{kind}-{count}.jsonl"
    cost(PYTHON, Path(__file__).with_name("events.py"), kind, str(count), file)
    return file


def validates(name: str, file: Path) -> Calls:
    return calls(name, "validate", file, "--jobs", "1", statuses=(0, 1))


def others(file: Path, core: Path) -> Calls:
    """Return the runs of other validators that are installed, and of two processes."""
    return {
        "two": partial(cost, PROGRAM, "validate", file, "--jobs", "2"),
        "rust": partial(cost, PYTHON, "-c", RUST, file, core),
        "python": partial(cost, PYTHON, "-c", PYTHON_ALONE, file, core, str(SLOW_EVENTS)),
        **{
            name: partial(cost, program, "validate", *mode, core, file)
            for program in sourcemeta()
            for name, mode in (("fast", ("--fast",)), ("sourcemeta", ()))
        },
    }


def deliveries(file: Path) -> Calls:
    """Return the runs that judge the same events for a receiver, and send nothing."""
    judging = partial(cost, PYTHON, "-c", JUDGING, "send", file, "--to")
    return {
        "check": partial(cost, PROGRAM, "check", file, "--for", "openlineage"),
        "send": partial(judging, "openlineage", "--url", "http://127.0.0.1:9"),
        "kafka": partial(judging, "kafka", "--bootstrap", "127.0.0.1:9", "--topic", "t"),
    }


def compared(costs: dict[str, list[Cost]], count: int) -> Results:
    """Return the multiples of the floor of each validator, and how ours compares."""
    ratios = over(costs["floor"])
    taken = {name: ratios(costs[name]) for name in OTHERS.rows if name in costs}
    taken["python"] = tuple(ratio * count / SLOW_EVENTS for ratio in taken["python"])
    results = {name: Result(figures) for name, figures in taken.items()}
    if "fast" in costs:
        results["ahead"] = result(costs, "1 KB", over(costs["fast"]))
    return results


def sourcemeta() -> list[Path]:
    """Return the program of the PyPI package sourcemeta-jsonschema for this machine, if any."""
    found = find_spec("sourcemeta_jsonschema")
    machine = {"linux": "linux-x86_64", "darwin": "darwin-arm64"}.get(sys.platform, "")
    folders = (found and found.submodule_search_locations) or []
    return [
        program for one in folders if (program := Path(one) / f"jsonschema-{machine}").is_file()
    ]


def faulty(folder: Path) -> Results:
    """Return the times of files of which each line is invalid, against valid ones."""
    files = {
        "invalid": (("invalid", "1 KB"), INVALID_EVENTS),
        "junk": (("junk", "small"), JUNK_LINES),
    }
    results: dict[str, Result] = {}
    for name, (kinds, count) in files.items():
        faults, valid = (validates(kind, written(folder, kind, count)) for kind in kinds)
        results[name] = against(interleaved({**faults, **valid}, ROUNDS), *kinds)
    return results


def remembered(folder: Path) -> Result:
    """Return the bytes remembered of each run and static dataset."""
    costs: dict[str, list[Cost]] = {}
    for count in IDENTITIES:
        file = written(folder, "identities", count)
        costs |= interleaved(validates(f"{count}", file), 1)
        file.unlink()
    few, many = (result(costs, f"{count}", _peak) for count in IDENTITIES)
    steps = IDENTITIES[1] - IDENTITIES[0]

    def each(small: tuple[float, ...], large: tuple[float, ...]) -> tuple[float, ...]:
        return ((large[0] - small[0]) / steps,)

    before = each(few.base, many.base) if few.base and many.base else None
    return Result(each(few.now, many.now), before)


def _peak(costs: Sequence[Cost]) -> tuple[float, ...]:
    return (memory(costs),)
