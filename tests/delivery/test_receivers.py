"""The receivers: what each takes, and what its answers mean."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import Loader
from botocore.session import get_session
from support.commands import streamt_ol
from support.delivery.events import dataset, facet, job, refs, run, write
from support.delivery.servers import Server

from streamt_ol.delivery.receivers import RECEIVERS, datazone

DOCS = Path(__file__).parents[2] / "docs" / "receivers"
COMPLETE: dict[str, Any] = {"inputs": refs("a.b.c"), "outputs": refs("a.b.d")}


def send(*arguments: str | Path, **more: Any) -> tuple[int, dict[str, Any]]:
    done = streamt_ol("--output", "json", "send", *arguments, **more)
    return done.returncode, json.loads(done.stdout)["data"]


def test_every_receiver_has_a_page_that_names_its_endpoint() -> None:
    assert {page.stem for page in DOCS.glob("*.md")} - {"index", "by-url"} == set(RECEIVERS)
    for name, receiver in RECEIVERS.items():
        page = (DOCS / f"{name}.md").read_text()
        assert receiver.endpoint in page
        assert f"--to {name}" in page


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("openlineage", "/api/v1/lineage"),
        ("marquez", "/api/v1/lineage"),
        ("openmetadata", "/api/v1/openlineage/lineage"),
        ("truewatch", "/v1/write/openlineage"),
        ("datakit", "/openlineage/api/v1/lineage"),
    ],
)
def test_endpoints(name: str, path: str) -> None:
    assert RECEIVERS[name].endpoint == path


def verdicts(tmp_path: Path, receiver: str, *events: Any) -> list[dict[str, Any]]:
    lines = write(tmp_path / "e.jsonl", *events)
    done = streamt_ol("--output", "json", "check", lines, "--for", receiver)
    return [event["verdicts"][receiver] for event in json.loads(done.stdout)["data"]["events"]]


class TestMarquez:
    def test_a_static_event_whose_schema_url_has_no_fragment_is_read_as_a_run(
        self, tmp_path: Path
    ) -> None:
        bare = {"schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json"}
        found = verdicts(
            tmp_path, "marquez", job("j") | bare, dataset("d") | bare, run("r") | bare,
            job("j"), dataset("d"),
        )  # fmt: skip
        assert [one["status"] for one in found] == ["refused"] * 2 + ["accepted"] * 3
        assert found[0]["reasons"] == [
            "its schemaURL has no fragment: it is read as a run, but it is a JobEvent (422)"
        ]

    def test_what_it_answers_is_left_open_where_that_was_not_found(self, tmp_path: Path) -> None:
        no_url, no_producer = job("j"), run("r")
        del no_url["schemaURL"], no_producer["producer"]
        found = verdicts(
            tmp_path, "marquez", no_url, no_producer, run("r") | {"eventTime": "2026-10-21 08:00"},
            job("j") | {"schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/x"},
        )  # fmt: skip
        assert [one["status"] for one in found] == ["depends"] * 4
        # Its namespace would be refused of a run; it names another kind.
        named = run("r") | {"schemaURL": job("j")["schemaURL"]}
        named["job"] = {"namespace": "with space", "name": "r"}
        (one,) = verdicts(tmp_path, "marquez", named)
        assert one["status"] == "depends"
        assert found[1]["reasons"] == ["it looks for producer, which is missing"]


def test_alation_does_not_process_others(tmp_path: Path) -> None:
    ends: dict[str, Any] = {"inputs": refs("a"), "outputs": refs("b")}
    found = verdicts(
        tmp_path, "alation", job("j"), dataset("d"), run("r", "START", **ends), run("r", **ends)
    )
    assert [one["status"] for one in found] == ["ignored"] * 3 + ["depends"]


def test_the_row_of_datazone_is_that_of_aws_own_client() -> None:
    row, files = RECEIVERS["datazone"], Loader()
    model = files.load_service_model("datazone", "service-2")
    operation = model["operations"]["PostLineageEvent"]
    path = operation["http"]["requestUri"].replace("{domainIdentifier}", "{domain}")
    assert (operation["http"]["method"], path) == ("POST", row.endpoint)
    assert model["shapes"]["LineageEvent"]["max"] == datazone.MAX_BYTES
    members = model["shapes"][operation["input"]["shape"]]["members"]
    assert members["clientToken"]["locationName"] == "Client-Token"
    client = get_session().create_client(
        "datazone", "eu-west-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    assert client.meta.endpoint_url == row.url.replace("{region}", "eu-west-1")


class TestOpenMetadata:
    def test_only_complete_runs_with_both_sides_are_sent(self, tmp_path: Path) -> None:
        events = write(
            tmp_path / "e.jsonl", dataset("a.b"), job("j"), run("start", "START", **COMPLETE),
            run("no-inputs", outputs=refs("a.b")), run("no-outputs", inputs=refs("a.b")),
            run("good", **COMPLETE), run("no-query", **COMPLETE),
        )  # fmt: skip
        lines = events.read_text().replace('"no-query"', '"no-query", "facets": {"sql": {}}')
        events.write_text(lines)
        plan = {"status": 200, "body": '{"status":"success","lineageEdgesCreated":1}'}
        with Server(tmp_path, plan) as server:
            options: list[str | Path] = [events, "--to", "openmetadata", "--url", server.url]
            status, data = send(*options)
            skipping, skipped = send(*options, "--skip-unsupported")
            assert [json.loads(b)["job"]["name"] for b in server.bodies()] == ["good", "good"]
        assert (status, data["counts"]["refused"], data["counts"]["sent"]) == (1, 6, 1)
        assert (skipping, skipped["counts"]["skipped"], skipped["edges"]) == (0, 6, 1)

    def test_each_answer_is_told_as_it_is(self, tmp_path: Path) -> None:
        unresolved = [{"namespace": "db://h", "name": "a.b.c", "reason": "no such table"}]
        jobs = [{"namespace": "jobs", "name": "two"}]
        plans: list[dict[str, Any]] = [
            {"match": '"one"', "status": 200, "body": json.dumps(
                {"status": "success", "lineageEdgesCreated": 2})},
            {"match": '"two"', "status": 200, "body": json.dumps(
                {"status": "partial_success", "lineageEdgesCreated": 1,
                 "unresolvedDatasets": unresolved, "unresolvedJobs": jobs})},
            {"match": '"three"', "status": 200, "body": json.dumps(
                {"status": "success", "lineageEdgesCreated": 0})},
            {"match": '"four"', "status": 400, "body": json.dumps(
                {"status": "failure", "unresolvedDatasets": unresolved})},
            {"match": '"five"', "status": 200, "body": "thanks"},
        ]  # fmt: skip
        names = ["one", "two", "three", "four", "five"]
        events = write(tmp_path / "e.jsonl", *(run(name, **COMPLETE) for name in names))
        progress = tmp_path / "progress"
        with Server(tmp_path, *plans) as server:
            status, data = send(
                events, "--to", "openmetadata", "--url", server.url, "--progress-file", progress
            )
        assert status == 1
        counts = {name: number for name, number in data["counts"].items() if number}
        assert counts == {"sent": 2, "no_edges": 2, "refused": 1}
        assert data["edges"] == 3
        assert data["unresolved_datasets"] == ["db://h a.b.c no such table"]
        assert data["unresolved_jobs"] == ["jobs two"]
        states = {p["line"]: (p["state"], p["status"]) for p in data["problems"]}
        assert states == {3: ("no-edges", 200), 4: ("refused", 400), 5: ("no-edges", 200)}
        assert len(progress.read_text().splitlines()) == 1 + 2, "only what is done is recorded"

    def test_a_namespace_without_an_entry_is_sent_all_the_same(self, tmp_path: Path) -> None:
        """A table's name alone may match: the server decides, and says so."""
        events = write(tmp_path / "e.jsonl", run("r", **COMPLETE))
        settings = tmp_path / "settings.json"
        settings.write_text('{"namespaceToServiceMapping": {"other": "service"}}')
        plan = {"status": 200, "body": '{"status":"success","lineageEdgesCreated":1}'}
        with Server(tmp_path, plan) as server:
            status, data = send(
                events, "--to", "openmetadata", "--url", server.url, "--namespace-map", settings
            )
            assert len(server.requests()) == 1
        assert (status, data["counts"]["sent"]) == (0, 1)

    def test_batches_where_they_tell_the_truth(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *(run(f"j{n}", **COMPLETE) for n in range(100)))
        plan = {"status": 200, "body": '{"status":"success","lineageEdgesCreated":50}'}
        with Server(tmp_path, plan) as server:
            status, data = send(
                events, "--to", "openmetadata", "--url", server.url, "--batch",
                "--concurrency", "1",
            )  # fmt: skip
            requests = server.requests()
        assert status == 0
        assert (data["counts"]["sent"], data["edges"]) == (100, 100)
        assert {r["line"].split()[1] for r in requests} == {"/api/v1/openlineage/lineage/batch"}
        lines = events.read_text().splitlines()
        sent = [r["body"].removeprefix('{"events":[').removesuffix("]}") for r in requests]
        assert ",".join(sent) == ",".join(lines)

    def test_a_batch_with_fewer_edges_than_pairs_is_sent_one_by_one(self, tmp_path: Path) -> None:
        two: dict[str, Any] = {"inputs": refs("a.b.c", "a.b.e"), "outputs": refs("a.b.d")}
        events = write(tmp_path / "e.jsonl", run("two", **two), run("one", **COMPLETE))
        plans = [
            {"match": '{"events":', "status": 200,
             "body": '{"status":"success","lineageEdgesCreated":2}'},
            {"match": '"two"', "status": 200,
             "body": '{"status":"success","lineageEdgesCreated":2}'},
            {"status": 200, "body": '{"status":"success","lineageEdgesCreated":0}'},
        ]  # fmt: skip
        with Server(tmp_path, *plans) as server:
            status, data = send(
                events, "--to", "openmetadata", "--url", server.url, "--batch", "--concurrency", "1"
            )
            assert len(server.requests()) == 3
        assert (status, data["counts"]["sent"], data["counts"]["no_edges"]) == (1, 1, 1)

    def test_a_batch_that_failed_in_part_is_sent_one_by_one(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *(run(f"j{n}", **COMPLETE) for n in range(3)))
        plans = [
            {"match": '{"events":', "status": 200, "body": '{"status":"partial_success",'
             '"lineageEdgesCreated":2,"summary":{"received":3,"successful":2,"failed":1}}'},
            {"match": '"j1"', "status": 400, "body": '{"status":"failure"}'},
            {"status": 200, "body": '{"status":"success","lineageEdgesCreated":1}'},
        ]  # fmt: skip
        with Server(tmp_path, *plans) as server:
            status, data = send(
                events, "--to", "openmetadata", "--url", server.url, "--batch", "--concurrency", "1"
            )
            assert len(server.requests()) == 4
        assert status == 1
        assert (data["counts"]["sent"], data["counts"]["refused"]) == (2, 1)
        assert [p["line"] for p in data["problems"]] == [2]


class TestTrueWatch:
    @pytest.mark.parametrize(
        ("options", "header", "value"),
        [
            ([], "authorization", "Bearer t0ken"),
            (["--token-header", "x-token"], "x-token", "t0ken"),
        ],
    )
    def test_one_token_only(
        self, tmp_path: Path, options: list[str], header: str, value: str
    ) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        with Server(tmp_path, {"status": 200}) as server:
            send(
                events, "--to", "truewatch", "--url", server.url, "--token-env", "T", *options,
                environment={"T": "t0ken"},
            )  # fmt: skip
            (request,) = server.requests()
        assert request["line"] == "POST /v1/write/openlineage HTTP/1.1"
        found = {h: v for h, v in request["headers"].items() if h in ("authorization", "x-token")}
        assert found == {header: value}

    @pytest.mark.parametrize("name", ["truewatch", "datakit"])
    def test_the_limit_is_on_the_decoded_event(self, tmp_path: Path, name: str) -> None:
        limit = 8 * 1024 * 1024
        room = limit - len(json.dumps(job("a", text="")))
        exact, over = job("a", text="x" * room), job("a", text="x" * (room + 1))
        events = write(tmp_path / "e.jsonl", exact, over)
        assert len(events.read_bytes().splitlines()[0]) == limit
        with Server(tmp_path, {"status": 200}) as server:
            status, data = send(
                events, "--to", name, "--url", server.url, "--gzip", "--no-validate"
            )
            (request,) = server.requests()
        assert request["raw_size"] < limit // 100
        assert status == 1
        assert [(p["line"], p["state"]) for p in data["problems"]] == [(2, "refused")]


class TestDataKit:
    def test_a_cached_event_is_done(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        plan = {"status": 200, "body": '{"error_code":"dataway.cached"}'}
        with Server(tmp_path, plan) as server:
            status, data = send(events, "--to", "datakit", "--url", server.url, "--gzip")
            (request,) = server.requests()
        assert (status, data["counts"]["sent"]) == (0, 1)
        assert request["line"] == "POST /openlineage/api/v1/lineage HTTP/1.1"
        assert not {"authorization", "x-token"} & set(request["headers"])

    def test_503_is_retried_as_it_asks(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", job("a"))
        plan = {"status": 503, "headers": {"Retry-After": "1"}, "times": 1}
        with Server(tmp_path, plan) as server:
            status, _ = send(events, "--to", "datakit", "--url", server.url)
            first, second = (r["time"] for r in server.requests())
        assert status == 0
        assert second - first >= 1


class TestAsRunEvents:
    schema = facet("SchemaDatasetFacet", fields=[{"name": "id", "type": "INT"}])
    events = (
        job("j", inputs=refs("a.b.c"), outputs=[*refs("a.b.d"), *refs("x.y.z")]),
        dataset("a.b.c", schema=schema),
        dataset("a.b.d", documentation=facet("DocumentationDatasetFacet", description="d")),
    )

    def test_a_job_becomes_a_start_and_a_complete(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *self.events)
        with Server(tmp_path) as server:
            status, data = send(events, "--to", "marquez", "--url", server.url, "--as-run-events")
            again, _ = send(events, "--to", "marquez", "--url", server.url, "--as-run-events")
            runs = [e for e in map(json.loads, server.bodies()) if "run" in e]
        assert (status, again, data["counts"]["sent"]) == (0, 0, 4)
        start, complete = runs[:2]
        assert [e["eventType"] for e in runs] == ["START", "COMPLETE"] * 2
        assert {e["eventTime"] for e in runs} == {self.events[0]["eventTime"]}
        assert {e["schemaURL"].rpartition("/")[2] for e in runs} == {"RunEvent"}
        ids = [e["run"]["runId"] for e in runs]
        assert ids[0] == ids[1] != ids[2] == ids[3]
        assert all(uuid.UUID(run_id).version == 4 for run_id in ids)
        assert "facets" not in complete["run"]
        for event in (start, complete):
            assert event["job"] == self.events[0]["job"]
            assert event["inputs"] == [{**refs("a.b.c")[0], "facets": {"schema": self.schema}}]
            assert [sorted(d.get("facets", {})) for d in event["outputs"]] == [
                ["documentation"], []
            ]  # fmt: skip

    def test_for_openmetadata_nothing_else_counts_as_refused(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *self.events)
        plan = {"status": 200, "body": '{"status":"success","lineageEdgesCreated":2}'}
        with Server(tmp_path, plan) as server:
            status, data = send(
                events, "--to", "openmetadata", "--url", server.url, "--as-run-events"
            )
            (body,) = server.bodies()
        assert json.loads(body)["eventType"] == "COMPLETE"
        counts = {name: number for name, number in data["counts"].items() if number}
        assert (status, counts) == (0, {"sent": 1, "skipped": 3})

    def test_an_engine_is_named_only_when_asked_for(self, tmp_path: Path) -> None:
        events = write(tmp_path / "e.jsonl", *self.events)
        with Server(tmp_path) as server:
            send(
                events, "--to", "marquez", "--url", server.url, "--as-run-events",
                "--processing-engine", "Flink", "2.1",
            )  # fmt: skip
            runs = [body for body in server.bodies() if '"run"' in body]
        valid = streamt_ol("check", "-", "--for", "file", stdin="\n".join(runs).encode())
        assert valid.returncode == 0, valid.stdout
        engine = json.loads(runs[0])["run"]["facets"]["processing_engine"]
        assert (engine["name"], engine["version"]) == ("Flink", "2.1")

    def test_what_is_made_of_streamts_design_is_valid(self, tmp_path: Path) -> None:
        design, sent = tmp_path / "design.jsonl", tmp_path / "sent.jsonl"
        done = streamt_ol(
            "export", "fixtures/manifests/demo.json", "--quiet", "--job-namespace", "prod",
            "--kafka-namespace", "kafka://broker.example:9092",
        )  # fmt: skip
        design.write_bytes(done.stdout)
        made = streamt_ol(
            "send", design, "--to", "file", "--path", sent, "--as-run-events",
            "--processing-engine", "Flink", "2.1",
        )  # fmt: skip
        valid = streamt_ol("validate", sent)
        assert (made.returncode, valid.returncode) == (0, 0), valid.stdout
        producers = {
            "run" in event: event["producer"]
            for event in map(json.loads, sent.read_text().splitlines())
        }
        assert producers == {
            False: "https://github.com/conduktor/streamt",
            True: "urn:streamt-ol:send",
        }

    def test_a_run_that_would_be_invalid_is_refused_before_anything_is_sent(
        self, tmp_path: Path
    ) -> None:
        """The JobEvent is valid; the facet that its input would take over is not."""
        broken = dataset("a.b.c", schema={"fields": []})
        events = write(tmp_path / "e.jsonl", job("j", inputs=refs("a.b.c")), broken)
        with Server(tmp_path) as server:
            status, data = send(
                events, "--to", "marquez", "--url", server.url, "--as-run-events",
                "--refuse-invalid",
            )  # fmt: skip
            assert server.requests() == []
        counts = {name: number for name, number in data["counts"].items() if number}
        assert (status, counts) == (1, {"refused": 3})
        assert data["problems"][0]["event"] == "RunEvent START 'jobs' 'j'"
        assert "/inputs/0/facets/schema" in data["problems"][0]["reason"]

    def test_the_help_says_that_a_design_is_not_a_run(self) -> None:
        done = streamt_ol("send", "--help")
        assert b"A design is not a run" in b" ".join(done.stdout.replace("│".encode(), b"").split())
