"""No gatekeepers: `send`, `forward` and `check` keep back what the receiver refuses, no more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import streamt_ol
from support.delivery.events import job, refs, run, write
from support.delivery.servers import Broker, Server

DATA_SOURCE = "https://openlineage.io/spec/facets/1-0-1/DatasourceDatasetFacet.json"
URI = {
    "_producer": "https://example.com/dbt",
    "_schemaURL": f"{DATA_SOURCE}#/$defs/DatasourceDatasetFacet",
    "name": "bigquery",
    "uri": "bigquery",
}
# As dbt on BigQuery writes it: dataSource.uri is not a URI.
BIGQUERY = run("dbt", inputs=[{**refs("p.d.t")[0], "facets": {"dataSource": URI}}])
SELF_JOIN = run("join", inputs=refs("a", "a"))
NO_TIME_ZONE = {**job("x"), "eventTime": "2026-10-21T08:00:00"}
NO_UUID = run("r", run_id="17")
NO_SCHEMA_URL = {key: value for key, value in run("u").items() if key != "schemaURL"}
BARE_FACET = job("f")
BARE_FACET["job"]["facets"] = {"own": {"x": 1}}
TAKEN = ("accepted", "depends")
WARNING = (
    b"W114_OPENLINEAGE_SENT_INVALID: 2 events go out in which `validate` finds errors: "
    b"OL-R014 in 1, OL-R026 in 1\n"
)


@pytest.mark.parametrize("to", ["marquez", "openlineage", "truewatch"])
def test_events_of_released_integrations_are_sent_and_summed_up(tmp_path: Path, to: str) -> None:
    events = str(write(tmp_path / "e.jsonl", BIGQUERY, SELF_JOIN, job("good")))
    with Server(tmp_path) as server:
        done = streamt_ol("send", events, "--to", to, "--url", server.url)
        assert server.count() == 3
        told = streamt_ol("--output", "json", "send", events, "--to", to, "--url", server.url)
    assert (done.returncode, done.stdout) == (0, b"sent 3, skipped 0, refused 0\n")
    assert done.stderr == WARNING
    warnings = json.loads(told.stdout)["warnings"]
    assert [w["code"] for w in warnings] == ["W114_OPENLINEAGE_SENT_INVALID"]


def test_nothing_is_said_of_valid_events_nor_without_validation(tmp_path: Path) -> None:
    for name, event, more in (("a", job("a"), []), ("b", SELF_JOIN, ["--no-validate"])):
        events = str(write(tmp_path / name, event))
        out = str(tmp_path / "out.jsonl")
        done = streamt_ol("send", events, "--to", "file", "--path", out, *more)
        assert (done.returncode, done.stderr) == (0, b"")


def test_invalid_ones_are_refused_where_that_is_asked_for(tmp_path: Path) -> None:
    events = str(write(tmp_path / "e.jsonl", BIGQUERY, SELF_JOIN, job("good")))
    rejected = tmp_path / "rejected.jsonl"
    command = ["--to", "file", "--path", str(tmp_path / "out.jsonl"), "--refuse-invalid"]
    done = streamt_ol("send", events, *command, "--rejected", str(rejected))
    assert (done.returncode, done.stdout) == (1, b"sent 1, skipped 0, refused 2\n")
    hint = b"  hint: to send it all the same: --ignore OL-R014 --ignore OL-R026; or --no-validate\n"
    assert done.stderr.endswith(hint)
    assert b"OL-R026 /inputs/1" in done.stderr
    assert len(rejected.read_text().splitlines()) == 2
    again = streamt_ol("send", events, *command, "--ignore", "OL-R014", "--ignore", "OL-R026")
    assert (again.returncode, again.stderr) == (0, b"")


@pytest.mark.parametrize("event", [NO_TIME_ZONE, NO_UUID, NO_SCHEMA_URL, BARE_FACET])
def test_the_core_schema_counts_where_nobody_knows_what_reads_it(
    tmp_path: Path, event: dict[str, object]
) -> None:
    events = str(write(tmp_path / "e.jsonl", event))
    out = tmp_path / "out.jsonl"
    command = ["--output", "json", "send", events, "--to", "file", "--path", str(out)]
    done = streamt_ol(*command)
    assert done.returncode == 1
    (error,) = json.loads(done.stdout)["errors"]
    (problem,) = json.loads(done.stdout)["data"]["problems"]
    (rule,) = problem["rules"]
    assert error["code"] == "E510_NOT_DELIVERED"
    assert error["suggestion"] == f"to send it all the same: --ignore {rule}; or --no-validate"
    for more in (["--ignore", rule], ["--no-validate"]):
        assert streamt_ol(*command, *more).returncode == 0
    assert len(out.read_text().splitlines()) == 2


def test_marquez_takes_what_it_reads(tmp_path: Path) -> None:
    events = str(write(tmp_path / "e.jsonl", NO_SCHEMA_URL, NO_UUID, BARE_FACET))
    with Server(tmp_path) as server:
        done = streamt_ol("send", events, "--to", "marquez", "--url", server.url)
        assert server.count() == 3
    assert done.returncode == 0
    assert done.stderr.startswith(b"W114_OPENLINEAGE_SENT_INVALID: 3 events go out")


@pytest.mark.parametrize("receiver", ["openlineage", "marquez", "truewatch", "datakit", "file"])
@pytest.mark.parametrize("more", [[], ["--refuse-invalid"], ["--ignore", "OL-R015"]])
def test_check_gives_the_same_answer(tmp_path: Path, receiver: str, more: list[str]) -> None:
    everything = [BIGQUERY, SELF_JOIN, NO_TIME_ZONE, NO_UUID, NO_SCHEMA_URL, BARE_FACET, job("j")]
    events = str(write(tmp_path / "e.jsonl", *everything))
    to = (
        ["--path", str(tmp_path / "out")] if receiver == "file" else ["--url", "http://127.0.0.1:1"]
    )
    plan = streamt_ol("--output", "json", "send", events, "--to", receiver, "--dry-run", *to, *more)
    checked = streamt_ol("--output", "json", "check", events, "--for", receiver, *more)
    told = json.loads(checked.stdout)["data"]["events"]
    taken = [e["line"] for e in told if e["verdicts"][receiver]["status"] in TAKEN]
    assert [request["line"] for request in json.loads(plan.stdout)["data"]["would_send"]] == taken


def test_check_explains_a_refusal_and_notes_a_fault(tmp_path: Path) -> None:
    events = str(write(tmp_path / "e.jsonl", NO_UUID, SELF_JOIN))
    done = streamt_ol("check", events, "--for", "file")
    first, why, hint, second, note, total = done.stdout.decode().splitlines()
    assert first == "line 1: file: refused: RunEvent COMPLETE 'jobs' 'r'"
    assert why.startswith("  why: OL-R015 /run/runId: ")
    assert hint == "  hint: to send it all the same: --ignore OL-R015; or --no-validate"
    assert second == "line 2: file: accepted: RunEvent COMPLETE 'jobs' 'join'"
    assert note.startswith("  note: `validate` finds OL-R026 /inputs/1")
    assert total == "file: accepted 1, ignored 0, refused 1"


def test_forward_passes_on_what_its_receiver_takes(tmp_path: Path) -> None:
    with Broker() as broker, Server(tmp_path) as server:
        broker.produce(*(json.dumps(e).encode() for e in (BIGQUERY, SELF_JOIN, job("good"))))
        done = streamt_ol(
            "forward", "--bootstrap", broker.bootstrap, "--topic", broker.topic, "--group", "g",
            "--to", "openlineage", "--url", server.url, "--until-end",
        )  # fmt: skip
        assert server.count() == 3
    assert done.returncode == 0, done.stderr
    assert done.stderr == WARNING


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (["--ignore", "OL-R999"], b"--ignore"),
        (["--refuse-invalid", "--no-validate"], b"--refuse-invalid"),
    ],
)
@pytest.mark.parametrize("command", [["send", "--to"], ["check", "--for"]])
def test_options_that_cannot_be(command: list[str], options: list[str], option: bytes) -> None:
    name, receiver = command
    to = ["--path", "/nowhere/x"] if name == "send" else []
    done = streamt_ol(name, "/dev/null", receiver, "file", *to, *options)
    assert done.returncode == 2
    assert done.stderr.startswith(b"E500_USAGE_ERROR " + option)
