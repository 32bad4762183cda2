"""Files of events for the benchmarks: ``python bench/events.py KIND COUNT FILE``.

All are valid, except those of the kinds ``invalid`` and ``junk``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

Event = dict[str, Any]
CORE = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
AIRFLOW = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/airflow"
JOBS = 5_000
BATCH = {"processingType": "BATCH", "integration": "AIRFLOW", "jobType": "TASK"}
CUSTOM = {"_producer": AIRFLOW, "_schemaURL": "https://example.com/Team.json", "team": "data"}


def facet(version: str, name: str, /, **body: Any) -> Event:
    url = f"https://openlineage.io/spec/facets/{version}/{name}.json#/$defs/{name}"
    return {"_producer": AIRFLOW, "_schemaURL": url, **body}


def table(name: str, **more: Any) -> Event:
    return {"namespace": "postgres://db.example:5432", "name": f"shop.public.{name}", **more}


def schema(columns: int, described: str = "a column") -> Event:
    fields = [
        {"name": f"column_{n}", "type": "VARCHAR", "description": described} for n in range(columns)
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


def task(number: int) -> Event:
    """Return one of the jobs of an Airflow."""
    facets = {"jobType": facet("2-0-4", "JobTypeJobFacet", **BATCH)}
    return {"namespace": "airflow://prod", "name": f"shop.task_{number % JOBS}", "facets": facets}


def uuid(random: Random) -> str:
    text = f"{random.getrandbits(128):032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def moment(number: int, hour: int) -> str:
    minute, second = number // 60 % 60, number % 60
    day, milliseconds = number // JOBS % 28 + 1, number % 1000
    return f"2026-01-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z"


def run_events(number: int, run: Event, job: Event, **flow: Any) -> Iterator[Event]:
    """Yield START and COMPLETE of a run."""
    for step, hour in (("START", 12), ("COMPLETE", 13)):
        yield {"eventTime": moment(number, hour), "eventType": step, "producer": AIRFLOW,
               "schemaURL": f"{CORE}RunEvent", "run": run, "job": job, **flow}  # fmt: skip


def small(count: int) -> Iterator[Event]:
    """Yield runs of 840 bytes an event, with a facet of the job, and of every other run."""
    random = Random(3)
    for n in range(count // 2):
        run: Event = {"runId": uuid(random)}
        if n % 2:
            day = f"2026-01-{n % 28 + 1:02}T00:00:00Z"
            run["facets"] = {
                "nominalTime": facet("1-0-1", "NominalTimeRunFacet", nominalStartTime=day)
            }
        inputs = [table(f"t{n}")] if n % 3 == 0 else []
        outputs = [table(f"o{n}")] if n % 3 != 1 else []
        yield from run_events(n, run, task(n), inputs=inputs, outputs=outputs)


def producers(count: int) -> Iterator[Event]:
    """Yield events as producers write them: a parent and a time of its own for each run."""
    random = Random(4)
    engine = facet("1-1-1", "ProcessingEngineRunFacet", version="3.0.1", name="Airflow",
                   openlineageAdapterVersion="2.1.0")  # fmt: skip
    for n in range(count // 2):
        dag = {"namespace": "airflow://prod", "name": f"shop.dag_{n % JOBS // 10}"}
        parent = facet("1-1-0", "ParentRunFacet", run={"runId": uuid(random)}, job=dag)
        nominal = facet("1-0-1", "NominalTimeRunFacet", nominalStartTime=moment(n, 12))
        facets = {"parent": parent, "nominalTime": nominal, "processing_engine": engine}
        job = task(n)
        query = f"SELECT column_0, column_1\nFROM t{n % JOBS} WHERE column_2 = 'x{n % JOBS}'"
        job["facets"]["sql"] = facet("1-0-1", "SQLJobFacet", query=query)
        flow = {"inputs": [_described(n % JOBS)], "outputs": [_described(n % JOBS + JOBS)]}
        yield from run_events(n, {"runId": uuid(random), "facets": facets}, job, **flow)


def _described(number: int) -> Event:
    source = facet("1-0-1", "DatasourceDatasetFacet", name="db", uri="postgres://db.example:5432")
    return table(
        f"t{number}", facets={"schema": schema(3, f"in {number % 7}"), "dataSource": source}
    )


def mixed(
    count: int, columns: int = 2, *, lineage: bool = False, repeat: bool = True
) -> Iterator[Event]:
    """Yield run events in pairs, static events, custom facets; 1 KB each by default."""
    random = Random(1)
    run_id = ""
    for number in range(count):
        own = "" if repeat else f" {number:08}"
        base: Event = {"eventTime": moment(number, 12), "producer": AIRFLOW}
        job = task(number // 2)
        job["facets"]["jobType"]["jobType"] += own
        custom = {**CUSTOM, "team": f"data{own}"}
        facets: Event = {"schema": schema(columns, f"a column{own}")}
        if lineage:
            facets["columnLineage"] = column_lineage(columns)
        flow = {"inputs": [table("x")], "outputs": [table(f"t{number}", facets=facets)]}
        kind = number // 2 % 3
        if kind == 0:
            run_id = uuid(random) if number % 2 == 0 else run_id
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


def identities(count: int) -> Iterator[Event]:
    """Yield the events of `count` runs (START and end) and static datasets, half of each."""
    random = Random(2)
    job = {"namespace": "airflow://prod", "name": "shop.load"}
    for number in range(count // 2):
        yield from run_events(0, {"runId": uuid(random)}, job)
        yield {"eventTime": "2026-01-01T00:00:00Z", "producer": AIRFLOW,
               "schemaURL": f"{CORE}DatasetEvent", "dataset": table(f"t{number}")}  # fmt: skip


def invalid(count: int) -> Iterator[Event]:
    """Yield the events of ``mixed``, each with one of the faults that producers make."""
    for number, event in enumerate(mixed(count)):
        broken = deepcopy(event)
        FAULTS[number % len(FAULTS)](broken)
        yield broken


def _no_time(event: Event) -> None:
    del event["eventTime"]


def _time_without_zone(event: Event) -> None:
    event["eventTime"] = event["eventTime"].removesuffix("Z")


def _producer_not_a_uri(event: Event) -> None:
    event["producer"] = "our scheduler"


def _name_of_wrong_type(event: Event) -> None:
    (event.get("job") or event["dataset"])["name"] = 7


def _facet_without_producer(event: Event) -> None:
    facets = (event.get("job") or event["dataset"])["facets"]
    facets["team"] = {"_schemaURL": CUSTOM["_schemaURL"]}


FAULTS: tuple[Callable[[Event], None], ...] = (
    _no_time,
    _time_without_zone,
    _producer_not_a_uri,
    _name_of_wrong_type,
    _facet_without_producer,
)
KINDS: dict[str, Callable[[int], Iterator[Event]]] = {
    "small": small,
    "1 KB": mixed,
    "producers": producers,
    "8 KB": lambda count: mixed(count, 16, lineage=True),
    "unrepeated": lambda count: mixed(count, repeat=False),
    "identities": identities,
    "invalid": invalid,
}
JUNK = "junk"


def lines(kind: str, count: int) -> Iterator[str]:
    """Yield the lines of a file, every second one compact and every other with spaces."""
    if kind == JUNK:
        yield from (f"{'no JSON ' * 100}{number}\n" for number in range(count))
        return
    spaced = kind not in ("small", "producers", "identities")
    for number, event in enumerate(KINDS[kind](count)):
        separators = (", ", ": ") if spaced and number % 2 == 0 else (",", ":")
        yield json.dumps(event, separators=separators) + "\n"


if __name__ == "__main__":
    with Path(sys.argv[3]).open("w") as file:
        file.writelines(lines(sys.argv[1], int(sys.argv[2])))
