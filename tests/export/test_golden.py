"""Golden outputs: each line, and the rule of the specification that it shows."""

from __future__ import annotations

import json

import pytest
from support.commands import streamt_ol
from support.manifests import FIXTURES

MANIFESTS = FIXTURES / "manifests"
JOB_NAMESPACE = "https://lineage.example/ns/fixtures"
NAMESPACES = [
    "--kafka-namespace", "kafka://broker.example:9092",
    "--gateway-namespace", "kafka://gateway.example:6969",
]  # fmt: skip

# For each fixture, one rule for each line of its golden file, in order; then its warnings.
RULES: dict[str, list[str]] = {
    "demo": [
        "a contract's columns are the schema; no type or description where none is declared",
        "output name from topic.name; model description and owner on its dataset",
        "source description, owner and columns; ordinal_position counts from 1",
        "job facets: jobType STREAMING/STREAMT/MODEL, documentation, ownership without a role",
        "a sink has inputs and no outputs; its connector's password is nowhere",
        "a SQL topic is one job under the model's name, without _processor",
    ],
    "materializations": [
        "a topic without SQL is a dataset",
        "a topic with `from` and without SQL is a dataset",
        "a source is a dataset",
        "a SQL topic is a dataset",
        "a Flink output is a dataset, also where `materialized` is null",
        "a virtual topic is a dataset of the Gateway's namespace, and sorts after Kafka's",
        "a policy-only virtual topic is a job; its backing input keeps the Kafka namespace",
        "a reference to a virtual topic uses the Gateway identity",
        "a sink with SQL has the inputs that its SQL calls",
        "a SQL topic has a job",
        "a Flink model has a job; the two bare topics have none",
    ],
    "gateway": [
        "a Flink output; no columns, so no schema facet",
        "the physical topic `events`",
        "the virtual topic `events`: same name, another namespace, no collision",
        "inputs sorted by (namespace, name); a repeated `from` entry counts once",
        "downstream of a virtual topic; proxy_bootstrap derives the namespace",
        "bootstrap_servers derives the namespace, whitespace discarded; internal ones unused",
    ],
    "macros": [
        "a source with a dash in its name",
        "a macro's output",
        "a macro's output",
        "the physical topic `shared`",
        "the virtual topic `shared`",
        "the table's name decides between two topics of one name: shared_view is the virtual one",
        "two inputs from CREATE TABLEs; comments and strings decide nothing; dag misses them",
        "a Gateway rule on the physical `shared`",
    ],
    "contracts": [
        "no columns declared: no schema facet",
        "explicitly empty columns: no schema facet",
        "a model's own columns where there is no contract",
        "an empty contract is authoritative and does not fall back",
        "a contract without columns likewise",
        "a contract wins over columns; declaration order; types exact and not parsed",
        "a source's columns",
        "absent and blank types and empty descriptions are omitted; names differ by case",
        *["the job of a model"] * 7,
    ],
    "texts": [
        "an empty description and an empty owner are not declared",
        "text is copied exactly: no escaping for HTML",
        "a source without text",
        "text is copied exactly: padding, quotes, line ends, tabs, beyond the BMP",
        "no documentation or ownership where nothing is declared",
        "model description and owner on the job as well",
    ],
    "near_collisions": [
        *["names differ by case"] * 2,
        *["one topic for each model"] * 6,
        "beyond ASCII: UTF-8, uppercase escapes; sorted by the encoded name",
        "a space is %20; case is kept",
        "the same letters in lower case are another job",
        "a percent sign is %25, so it cannot be taken for an escaped slash",
        "a slash is %2F",
        "-._~ stay as they are",
    ],
    "older": [
        "a macro's output, matched by name",
        "advanced.topic.name",
        "a topic confirmed by the model's name",
        "a column without a type",
        "a macro that the dag does not see into",
        "a Flink job named MODEL",
        "a Flink job whose name fits two models belongs to the one whose topic it writes",
        "`from` without underscore; a connector by name; exposures and test jobs have no event",
    ],
    "empty": [],
}
WARNINGS = {
    "demo": ["W111 /models/2"],
    "materializations": ["W111 /models/5", "W111 /models/6"],
    "gateway": ["W110 /models/1", "W111 /models/2"],
    "contracts": ["W110 /models/2", "W110 /models/3", "W110 /models/4", "W110 /models/5"],
    "older": ["W110 /models/0", "W110 /models/1", "W110 /models/2", "W111 /models/3"],
}


def test_every_fixture_is_listed() -> None:
    assert {path.stem for path in MANIFESTS.glob("*.json")} == set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_export_prints_the_golden_lines_and_its_warnings(name: str) -> None:
    golden = (MANIFESTS / f"{name}.expected.jsonl").read_bytes()
    assert len(golden.splitlines()) == len(RULES[name])
    namespaces = [] if name == "gateway" else NAMESPACES
    ran = streamt_ol(
        "export", MANIFESTS / f"{name}.json", "--job-namespace", JOB_NAMESPACE, *namespaces
    )
    assert ran.stdout == golden
    lines = ran.stderr.decode().splitlines()
    assert [f"{line[:4]} {line.split()[1].rstrip(':')}" for line in lines] == WARNINGS.get(name, [])
    assert ran.returncode == 0


@pytest.mark.parametrize("name", RULES)
def test_golden_files_are_canonical_by_another_writer(name: str) -> None:
    """The standard library's own compact writer with sorted keys gives the same bytes."""
    golden = (MANIFESTS / f"{name}.expected.jsonl").read_text("utf-8")
    events = [json.loads(line) for line in golden.splitlines()]
    again = [
        json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        for event in events
    ]
    assert golden == "".join(line + "\n" for line in again)
    order = [
        (0, e["dataset"]["namespace"], e["dataset"]["name"])
        if "dataset" in e
        else (1, e["job"]["namespace"], e["job"]["name"])
        for e in events
    ]
    assert order == sorted(order)
