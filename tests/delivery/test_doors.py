"""OpenMetadata's connector and DataHub: what is added on the wire, and what is said of names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import streamt_ol
from support.delivery.enforcing import Enforcing
from support.delivery.events import dataset, facet, job, refs, run, write
from support.delivery.servers import Broker, Server

TOPICS: dict[str, Any] = {
    "inputs": refs("in", namespace="kafka://Broker:9092"),
    "outputs": refs("out", namespace="kafka://broker:9092"),
}


def verdict(tmp_path: Path, receiver: str, *events: Any) -> list[dict[str, Any]]:
    lines = write(tmp_path / "e.jsonl", *events)
    done = streamt_ol("--output", "json", "check", lines, "--for", receiver, "--no-validate")
    return [e["verdicts"][receiver] for e in json.loads(done.stdout)["data"]["events"]]


class TestConnector:
    def test_what_it_drops(self, tmp_path: Path) -> None:
        no_name = run("r", **TOPICS)
        del no_name["job"]["name"]
        found = verdict(
            tmp_path, "openmetadata-kafka", job("j"), dataset("d"), run("r", "FAIL", **TOPICS),
            run("r", "ABORT", **TOPICS), no_name, run("r", inputs=[], outputs=[]), run("r"),
            run("r", inputs={}, outputs=[]), run("r", "START", **TOPICS),
            run("r", "RUNNING", **TOPICS), run("r", **TOPICS),
        )  # fmt: skip
        assert [one["status"] for one in found] == ["ignored"] * 8 + ["depends"] * 3
        assert found[-1]["edges"] == 1

    def test_what_it_looks_for(self, tmp_path: Path) -> None:
        several = refs("t", namespace="kafka://a:1,b:2")
        one, two, three = verdict(
            tmp_path, "openmetadata-kafka", run("r", **TOPICS),
            run("r", inputs=[*several, *TOPICS["inputs"]], outputs=[]),
            run("r", inputs=several, outputs=[]),
        )  # fmt: skip
        assert one["reasons"] == [
            "it looks for the topic 'in' of a messaging service whose bootstrapServers holds "
            "'broker:9092'",
            "it looks for the topic 'out' of a messaging service whose bootstrapServers holds "
            "'broker:9092'",
        ]
        fault = "'kafka://a:1,b:2' fails: it names several brokers"
        assert (two["status"], two["edges"], two["reasons"][0]) == ("depends", 1, fault)
        assert (three["status"], three["reasons"]) == ("ignored", [fault])
        assert "edges between topics and the pipeline" in two["notes"][0]

    def test_missing_lists_are_added_on_the_wire_and_nothing_else(self, tmp_path: Path) -> None:
        half = run("half", "START", inputs=TOPICS["inputs"])
        whole = run("whole", **TOPICS)
        lines = write(tmp_path / "e.jsonl", half, whole)
        with Broker() as broker:
            done = streamt_ol(
                "send", lines, "--to", "openmetadata-kafka", "--bootstrap", broker.bootstrap,
                "--topic", broker.topic,
            )  # fmt: skip
            values = {record["key"]: record["value"] for record in broker.records()}
        assert (done.returncode, done.stdout) == (0, b"sent 2, skipped 0, refused 0\n")
        assert b"empty inputs or outputs are added to 1 events" in done.stderr
        first, second = lines.read_text().splitlines()
        assert values["run:jobs/half"] == '{"outputs":[],' + first[1:]
        assert values["run:jobs/whole"] == second

    def test_as_run_events_fills_in_empty_lists(self, tmp_path: Path) -> None:
        lines, out = write(tmp_path / "e.jsonl", job("j")), tmp_path / "out"
        streamt_ol("send", lines, "--to", "file", "--path", out, "--as-run-events")
        made = [json.loads(line) for line in out.read_text().splitlines()]
        assert [(e["inputs"], e["outputs"]) for e in made] == [([], [])] * 2

    def test_forward_does_not_send_to_a_topic(self) -> None:
        done = streamt_ol(
            "forward", "--bootstrap", "b:1", "--topic", "t", "--group", "g", "--to",
            "openmetadata-kafka",
        )  # fmt: skip
        assert done.returncode == 2


class TestSchemaWithoutType:
    EVENTS = (
        dataset("a.b.c", schema=facet("SchemaDatasetFacet", fields=[{"name": "x"}])),
        dataset("a.b.d", schema=facet("SchemaDatasetFacet", fields=[{"name": "y", "type": "t"}])),
        job("j", inputs=refs("a.b.c"), outputs=refs("a.b.d")),
    )

    def test_openmetadata_gets_the_event_without_that_facet(self, tmp_path: Path) -> None:
        lines = write(tmp_path / "e.jsonl", *self.EVENTS)
        plan = {"status": 200, "body": '{"status":"success","lineageEdgesCreated":1}'}
        with Server(tmp_path, plan) as server:
            done = streamt_ol(
                "send", lines, "--to", "openmetadata", "--url", server.url, "--as-run-events"
            )
            (body,) = map(json.loads, server.bodies())
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith(
            b"W000_WARNING: the schema facet of 'db://h' 'a.b.c' is left out of the runs: "
            b"a field has no type\n"
        )
        assert body["inputs"][0]["facets"] == {}
        assert body["outputs"][0]["facets"]["schema"]["fields"] == [{"name": "y", "type": "t"}]

    def test_others_get_it(self, tmp_path: Path) -> None:
        lines, out = write(tmp_path / "e.jsonl", *self.EVENTS), tmp_path / "out"
        done = streamt_ol("send", lines, "--to", "file", "--path", out, "--as-run-events")
        assert done.stderr == b""
        assert b'"fields":[{"name":"x"}]' in out.read_bytes()


class TestDataHub:
    def test_runs_of_a_design_get_an_engine_by_default(self, tmp_path: Path) -> None:
        lines = write(tmp_path / "e.jsonl", job("j", inputs=refs("a"), outputs=refs("b")))
        with Enforcing("datahub") as server:
            done = streamt_ol(
                "send", lines, "--to", "datahub", "--url", server.url, "--as-run-events"
            )
            engines = [e["run"]["facets"]["processing_engine"]["name"] for e in server.taken]
        assert (done.returncode, done.stderr) == (0, b"")
        assert engines == ["streamt", "streamt"]
        checked = streamt_ol("check", lines, "--for", "datahub", "--as-run-events")
        assert checked.stdout.endswith(b"datahub: accepted 2, ignored 0, refused 0\n")

    def test_without_an_orchestrator_it_is_a_500(self, tmp_path: Path) -> None:
        lines = write(tmp_path / "e.jsonl", run("r", **TOPICS))
        done = streamt_ol("check", lines, "--for", "datahub")
        assert done.returncode == 1
        assert b"Unable to determine orchestrator" in done.stdout

    def test_one_topic_name_on_two_clusters_is_a_warning(self, tmp_path: Path) -> None:
        events = []
        for number, cluster in enumerate(("a", "b", "a")):
            event = run(
                f"r{number}", inputs=refs("t", f"u{number}", namespace=f"kafka://{cluster}:1")
            )
            engine = {**facet("ProcessingEngineRunFacet", version="1"), "name": "Flink"}
            event["run"]["facets"] = {"processing_engine": engine}
            events.append(event)
        said = "1 name of a topic stands on several clusters, and is one dataset in DataHub: 't'"
        lines = write(tmp_path / "e.jsonl", *events)
        checked = streamt_ol("check", lines, "--for", "datahub")
        assert checked.stderr == f"W000_WARNING: {said}\n".encode()
        told = json.loads(streamt_ol("--output", "json", "check", lines, "--for", "datahub").stdout)
        assert told["warnings"] == [{"code": "W000_WARNING", "message": said}]
        with Enforcing("datahub") as server:
            command = ("send", lines, "--to", "datahub", "--url", server.url)
            sent, streamed = streamt_ol(*command), streamt_ol(*command, "--stream")
        assert sent.stdout == streamed.stdout == b"sent 3, skipped 0, refused 0\n"
        assert said.encode() in sent.stderr
        assert said.encode() in streamed.stderr
        one = write(tmp_path / "one.jsonl", events[0], events[2])
        assert streamt_ol("check", one, "--for", "all").stderr == b""

    @pytest.mark.parametrize(
        ("name", "namespace", "note"),
        [
            ("t", "kafka://b:1", "loses its broker"), ("a,b", "db://h", "breaks its URN"),
            ("f(x)", "db://h", "breaks its URN"), ("a b", "db://h", "is dropped silently"),
            ("t", "my space", "is dropped silently"), ("50%", "db://h", "is dropped silently"),
        ],
    )  # fmt: skip
    def test_what_becomes_of_names(
        self, tmp_path: Path, name: str, namespace: str, note: str
    ) -> None:
        event = run("flow.task.x", inputs=refs(name, namespace=namespace))
        engine = {**facet("ProcessingEngineRunFacet", version="1"), "name": "Flink"}
        event["run"]["facets"] = {"processing_engine": engine}
        (found,) = verdict(tmp_path, "datahub", event)
        assert found["status"] == "accepted"
        assert found["notes"][0] == "the flow is named 'flow', the job's name up to its first dot"
        assert note in found["notes"][1]
