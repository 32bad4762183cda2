"""Each line of "What becomes of an event" on a receiver's page, tried with an event of its kind."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.commands import streamt_ol
from support.delivery.events import CORE, dataset, facet, job, refs, run, write
from support.pages import ROOT

from streamt_ol.delivery.receivers import CHECKED, RECEIVERS

Event = dict[str, Any]
PAGES = ROOT / "docs" / "receivers"
PG = "postgresql://h:5432"
MIB = 1024 * 1024
FIELDS: Event = {"schema": facet("SchemaDatasetFacet", fields=[{"name": "a", "type": "int"}])}
ENGINE = {**facet("ProcessingEngineRunFacet", version="1"), "name": "Flink"}


def table(name: str, namespace: str = PG, **facets: Any) -> list[Event]:
    return [{"namespace": namespace, "name": name, "facets": facets}]


def of(inputs: list[Event], outputs: list[Event] | None = None, **more: Any) -> Event:
    """A COMPLETE run with these datasets; the output is one that OpenMetadata makes a table of."""
    event = run(
        "r", inputs=inputs, outputs=table("a.b.c", **FIELDS) if outputs is None else outputs
    )
    event["run"]["facets"] = {"processing_engine": ENGINE}
    return event | more


def with_job(event: Event, **fields: Any) -> Event:
    return event | {"job": {**event["job"], **fields}}


def padded(event: Event, size: int) -> Event:
    event["pad"] = ""
    return event | {"pad": "x" * (size - len(json.dumps(event)))}


def without(event: Event, *names: str) -> Event:
    return {key: value for key, value in event.items() if key not in names}


GOOD = of(table("a.b.d", **FIELDS))
BARE = {"schemaURL": CORE.partition("#")[0]}
KAFKA = refs("t", namespace="kafka://b:9092")
TYPED = {"jobType": facet("JobTypeJobFacet", processingType="BATCH", integration="X", jobType="J")}
HALF_TYPED = {"jobType": facet("JobTypeJobFacet", processingType="BATCH", integration="X")}
COLUMNS = facet("ColumnLineageDatasetFacet", fields={
    "a": {"inputFields": [{"namespace": "n", "name": "m", "field": str(n)} for n in range(1501)]}
})  # fmt: skip
STATIC = [job("j"), dataset("d")]
# The events that a line of a page is about, by the beginning of the line.
LINES: dict[str, dict[str, list[Event]]] = {
    "openlineage": {
        "it meets the core schema": [GOOD, *STATIC],
        "it does not": [without(GOOD, "producer"), job("j") | {"eventTime": "today"}],
    },
    "marquez": {
        "a JobEvent or DatasetEvent whose": [one | BARE for one in STATIC],
        "any event that is not listed": [GOOD, *STATIC, of(refs("d", "d"))],
        "a RunEvent without a": [without(GOOD, "schemaURL")],
        "a `jobType` facet without": [with_job(GOOD, facets=HALF_TYPED)],
        "a run whose job's namespace": [
            with_job(GOOD, namespace="a b"), with_job(GOOD, namespace="k" * 1025)
        ],
        "a job's namespace with": [
            with_job(GOOD, namespace="a;b"), with_job(job("j"), namespace="a b")
        ],
        "`eventTime`, `producer`": [
            without(GOOD, "producer"), GOOD | {"eventTime": "2026-10-21 08:00"},
            job("j") | {"schemaURL": CORE + "Other"},
        ],
    },
    "openmetadata-kafka": {
        "not a START, RUNNING": [*STATIC, GOOD | {"eventType": "FAIL"}, with_job(GOOD, name="")],
        "one of the keys": [without(of(KAFKA, KAFKA), side) for side in ("inputs", "outputs")],
        "no dataset at all": [of([], [])],
        "a `kafka://HOST:PORT`": [of(KAFKA, KAFKA)],
        "several brokers": [of(refs("t", namespace="kafka://a:1,b:2"), KAFKA)],
        "no other dataset than such": [of(refs("t", namespace="kafka://a:1,b:2"), [])],
        "a dataset of another namespace": [GOOD],
        "one side empty": [of(KAFKA, [])],
        "no `parent` run facet": [of(KAFKA, KAFKA)],
        "too large": [padded(GOOD, 1_000_000)],
    },
    "openmetadata": {
        "a JobEvent or DatasetEvent": STATIC,
        "a state that": [GOOD | {"eventType": "START"}, of([]), of(table("a.b.c"), [])],
        "a schema field without": [
            of(table("a.b.c", schema=facet("S", fields=[{"name": "a"}]))),
            with_job(GOOD, facets={"sql": facet("S")}),
        ],
        "a dataset in `gs`": [of(refs("x/y", namespace=f"{n}://b")) for n in
                              ("gs", "s3", "s3a", "abfs", "abfss", "wasbs", "adl")],
        "`database.schema.table` in": [GOOD],
        "`schema.table` of that kind": [of(table("b.c", **FIELDS))],
        "another `[database.]": [of(table("a.b.c")), of(table("a.b.c", "mysql://h"))],
        "a bare name in a mapped": [of(table("c"))],
        "a namespace of which": [of(table("b.c", f"{PG}/db")), of(table("b.c", "postgresql://"))],
        "a bare name with a `datasource`": [of(table("c", "x://h", datasource=facet("D")))],
        "nothing of the kind": [of(table("c", "x://h")), of(table("/a/b", "hdfs://n:1"))],
    },
    "datahub": {
        "a JobEvent or DatasetEvent": STATIC,
        "no `processing_engine`": [GOOD | {"run": {"runId": GOOD["run"]["runId"]}}],
        "a `kafka://` dataset": [of(KAFKA)],
        "a job name with a dot": [with_job(GOOD, name="a.b")],
        "a namespace or name that": [of(refs("a b"))],
        "a comma or parenthesis": [of(refs("a,b")), of(refs("f(x)"))],
    },
    "dataplex": {
        "a JobEvent or DatasetEvent": STATIC,
        "over 5,000,000 bytes": [padded(GOOD, 5_000_001)],
        "a namespace and name": [of(refs("n" * 4000))],
        "over 100 links": [of(refs(*map(str, range(11))), refs(*map(str, range(10))))],
        "over 1,500 column links": [of(refs("a"), table("b", columnLineage=COLUMNS))],
    },
    "datadog": {
        "a JobEvent or DatasetEvent": STATIC,
        "a RunEvent whose job has no": [GOOD],
    },
    "snowflake": {
        "not a COMPLETE RunEvent": [
            *STATIC, GOOD | {"eventType": "START"}, of([]), without(GOOD, "eventTime"),
            with_job(GOOD, name=""),
        ],
        "a name of over": [of(refs("n" * 1001))],
        "over 15,000 edges": [of(refs(*map(str, range(151))), refs(*map(str, range(100))))],
        "a `snowflake://` dataset": [of(refs("d.s.t", namespace="snowflake://org-account"))],
    },
    "alation": {
        "a JobEvent or DatasetEvent; not": [*STATIC, GOOD | {"eventType": "START"}, of([])],
        "any other": [GOOD],
    },
    "datazone": {
        "a JobEvent or DatasetEvent": STATIC,
        "over 300,000 bytes": [padded(GOOD, 300_001)],
    },
    "atlan": {
        "a JobEvent or DatasetEvent": STATIC,
        "any RunEvent": [GOOD, of([], [])],
    },
    "gravitino": {"a JobEvent or DatasetEvent": STATIC},
    "truewatch": {
        "it meets the core schema": [GOOD, *STATIC],
        "it does not": [without(one, "producer") for one in (GOOD, *STATIC)],
        "over 8 MiB": [padded(job("j"), 8 * MIB + 1)],
        "over 4 MiB": [padded(job("j"), 4 * MIB + 1), padded(job("j"), 8 * MIB)],
    },
    "datakit": {
        "it meets the core schema": [GOOD, *STATIC],
        "it does not": [without(one, "producer") for one in (GOOD, *STATIC)],
        "over 8 MiB": [padded(job("j"), 8 * MIB + 1)],
    },
    "kafka": {
        "it meets the core schema": [GOOD, *STATIC, padded(job("j"), 999_900)],
        "it does not": [without(one, "producer") for one in (GOOD, *STATIC)],
        "with its key": [padded(job("j"), 1_000_000)],
    },
    "file": {
        "it meets the core schema": [GOOD, *STATIC],
        "it does not": [without(one, "producer") for one in (GOOD, *STATIC)],
    },
}  # fmt: skip
# Lines about the server's state, which no event shows.
OF_SERVERS = {
    "openmetadata": ["any, where the settings hold `enabled: false`"],
    "atlan": ["a path that is not configured"],
    "gravitino": ["its queue is over 90 % full"],
}


def said(name: str) -> list[tuple[str, str, str]]:
    """Return event, answer and source of each line of a page's table."""
    text = (PAGES / f"{name}.md").read_text("utf-8").partition("## What becomes of an event\n")[2]
    rows = text.partition("\n## ")[0]
    found = re.findall(r"^\| (.*?) \| (.*?) \|(?: (.*?))? \|$", rows, re.MULTILINE)
    assert found[0] == ("event", "`check` says", "source")
    return found[1:]


@pytest.mark.parametrize("name", CHECKED)
def test_every_line_of_the_table_is_what_check_says(name: str, tmp_path: Path) -> None:
    lines = {e: a for e, a, _ in said(name) if not any(map(e.startswith, OF_SERVERS.get(name, [])))}
    begins = LINES[name]
    answers = {
        begin: next(answer for event, answer in lines.items() if event.startswith(begin))
        for begin in begins
    }
    assert len(answers) == len(lines), set(lines)
    events = [(begin, event) for begin, found in begins.items() for event in found]
    file = write(tmp_path / "e.jsonl", *(event for _, event in events))
    more = []
    if name == "openmetadata":
        (tmp_path / "s.json").write_text(f'{{"namespaceToServiceMapping": {{"{PG}": "pg"}}}}')
        more = ["--namespace-map", str(tmp_path / "s.json")]
    done = streamt_ol("--output", "json", "check", file, "--for", name, *more)
    checked = json.loads(done.stdout)["data"]["events"]
    for (begin, _), one in zip(events, checked, strict=True):
        verdict = one["verdicts"][name]
        status = re.match(r"\w+", answers[begin])
        assert status is not None
        assert verdict["status"] == status[0], (begin, verdict)


@pytest.mark.parametrize("name", CHECKED)
def test_every_line_names_its_source(name: str) -> None:
    for event, answer, source in said(name):
        assert source or "was not found" in answer, event


@pytest.mark.parametrize("name", RECEIVERS)
def test_the_facts_of_a_page_are_those_of_its_row(name: str) -> None:
    """The table itself is generated from the row: `test_tables.py` holds it current."""
    text = (PAGES / f"{name}.md").read_text("utf-8")
    assert name == "config" or f"<!-- generated: receiver-{name} -->" in text


@pytest.mark.parametrize("name", [name for name in CHECKED if RECEIVERS[name].others])
def test_what_becomes_of_other_kinds_is_what_the_row_says(name: str, tmp_path: Path) -> None:
    file = write(tmp_path / "e.jsonl", *STATIC)
    done = streamt_ol("--output", "json", "check", file, "--for", name)
    statuses = {
        one["verdicts"][name]["status"] for one in json.loads(done.stdout)["data"]["events"]
    }
    others = RECEIVERS[name].others.rpartition("other kinds: ")[2]
    assert statuses == {re.split(r"\W", others)[0]}


@pytest.mark.parametrize("name", [name for name in CHECKED if not RECEIVERS[name].others])
def test_a_receiver_without_others_takes_every_kind(name: str, tmp_path: Path) -> None:
    file = write(tmp_path / "e.jsonl", GOOD, *STATIC)
    done = streamt_ol("check", file, "--for", name)
    assert done.returncode == 0, done.stdout
    assert f"{name}: accepted 3, ignored 0, refused 0" in done.stdout.decode()
