"""`streamt-ol graph` as a user runs it."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from support.commands import PROGRAM, streamt_ol
from support.inprocess import streamt_ol_here
from support.lineage_events import dataset, job, lines, run
from support.manifests import FIXTURES

MANIFEST = FIXTURES / "manifests" / "demo.json"
EVENTS = FIXTURES / "manifests" / "demo.expected.jsonl"
PROJECT = FIXTURES / "projects" / "demo"
KAFKA = ("--kafka-namespace", "kafka://broker.example:9092")
TREE = """3 datasets, 3 jobs, 5 edges
datasets in kafka://broker.example:9092
jobs in https://lineage.example/ns/fixtures

dataset trips.raw.v1
└─ job streamt/ride-hailing/models/trips_clean
   └─ dataset trips.clean.v1
      └─ job streamt/ride-hailing/models/revenue_per_city
         └─ dataset revenue_per_city
            └─ job streamt/ride-hailing/models/revenue_to_warehouse
"""
NO_NAMESPACE = TREE.replace("jobs in https://lineage.example/ns/fixtures\n", "")


class TestInputs:
    def test_events(self) -> None:
        ran = streamt_ol("graph", EVENTS)
        assert (ran.returncode, ran.stdout.decode(), ran.stderr) == (0, TREE, b"")

    def test_events_from_a_pipe(self) -> None:
        for arguments in (["graph"], ["graph", "-"]):
            assert streamt_ol(*arguments, stdin=EVENTS.read_bytes()).stdout.decode() == TREE

    def test_events_in_any_form_that_validate_reads(self, tmp_path: Path) -> None:
        events = [json.loads(line) for line in EVENTS.read_bytes().splitlines()]
        pretty = "\n".join(json.dumps(event, indent=2) for event in events)
        forms = (
            gzip.compress(EVENTS.read_bytes()),
            json.dumps(events).encode(),
            pretty.encode(),
            b"\xef\xbb\xbf" + EVENTS.read_bytes().replace(b"\n", b"\r\n\r\n"),
        )
        for form in forms:
            (tmp_path / "events").write_bytes(form)
            assert streamt_ol("graph", tmp_path / "events").stdout.decode() == TREE

    def test_a_manifest_needs_no_job_namespace(self) -> None:
        ran = streamt_ol("graph", MANIFEST, *KAFKA)
        assert (ran.returncode, ran.stdout.decode()) == (0, NO_NAMESPACE)
        assert ran.stderr.startswith(b"W111_OPENLINEAGE_SINK_OUTPUT_OMITTED /models/2: ")
        quiet = streamt_ol("graph", "-", *KAFKA, "--quiet", stdin=MANIFEST.read_bytes())
        assert (quiet.stdout.decode(), quiet.stderr) == (NO_NAMESPACE, b"")

    def test_a_compact_manifest(self) -> None:
        compact = json.dumps(json.loads(MANIFEST.read_bytes())).encode()
        ran = streamt_ol("graph", *KAFKA, "-q", stdin=compact)
        assert ran.stdout.decode() == NO_NAMESPACE

    def test_a_given_job_namespace_is_used(self) -> None:
        namespace = "https://lineage.example/ns/fixtures"
        ran = streamt_ol("graph", MANIFEST, *KAFKA, "-q", "--job-namespace", namespace)
        assert ran.stdout.decode() == TREE
        variable = {"OPENLINEAGE_NAMESPACE": namespace}
        ran = streamt_ol("graph", MANIFEST, *KAFKA, "-q", environment=variable)
        assert ran.stdout.decode() == TREE

    @pytest.mark.parametrize("named", [["--project-dir", str(PROJECT)], [str(PROJECT)]])
    def test_a_project(self, named: list[str]) -> None:
        ran = streamt_ol("graph", *named, *KAFKA, "-q")
        assert (ran.stdout.decode(), ran.stderr) == (NO_NAMESPACE, b"")

    def test_the_project_chooses_the_namespace_in_its_environment_file(
        self, tmp_path: Path
    ) -> None:
        shutil.copytree(PROJECT, tmp_path / "project")
        (tmp_path / "project" / ".env").write_text("OPENLINEAGE_NAMESPACE=from-dotenv\n")
        ran = streamt_ol("graph", tmp_path / "project", *KAFKA, "-q")
        assert "jobs in from-dotenv\n" in ran.stdout.decode()

    def test_run_events(self) -> None:
        events = [run("load", ("a",)), run("load", (), ("b",), time="2026-03-01T09:00:00Z")]
        ran = streamt_ol("graph", stdin=lines(events))
        assert ran.stdout.decode().endswith("dataset a\n└─ job load\n   └─ dataset b\n")


class TestRefusals:
    @pytest.mark.parametrize(
        ("content", "code", "location"),
        [
            (lines([job("a")]) + b"{]\n", "E501_PARSE_ERROR", "events:2"),
            (lines([job("a")]) + b"[]\n", "E506_OPENLINEAGE_INVALID", "events:2"),
            (lines([job("a")]) + b'{"job":{"namespace":"n"}}', "E506_OPENLINEAGE_INVALID",
             "events:2 /job/name"),
            (b'[{"job":{"namespace":"n","name":"x"}},{"job":3}]', "E506_OPENLINEAGE_INVALID",
             "events:1 /1/job"),
            (b'{"version": 1}', "E501_PARSE_ERROR", "events"),
            (gzip.compress(b"x" * 100, mtime=0)[:-9], "E501_PARSE_ERROR", "events"),
        ],
    )  # fmt: skip
    def test_bad_content(self, content: bytes, code: str, location: str, tmp_path: Path) -> None:
        (tmp_path / "events").write_bytes(content)
        ran = streamt_ol("graph", "events", cwd=tmp_path)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.decode().startswith(f"{code} {location}")

    def test_no_such_file(self) -> None:
        ran = streamt_ol("graph", "no.jsonl")
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(
            b"E501_PARSE_ERROR no.jsonl: the input cannot be read: No such"
        )

    def test_a_fault_of_a_piped_manifest_names_no_file_of_ours(self) -> None:
        ran = streamt_ol("graph", "-", stdin=MANIFEST.read_bytes().replace(b'"models"', b'"m"', 1))
        assert ran.returncode == 1
        assert b"streamt-ol-" not in ran.stderr

    def test_a_missing_kafka_namespace_is_an_error_as_in_export(self) -> None:
        ran = streamt_ol("graph", MANIFEST)
        assert ran.returncode == 1
        assert b"E506_OPENLINEAGE_INVALID" in ran.stderr
        assert b"--kafka-namespace" in ran.stderr

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--datasets-only", "--jobs-only"],
            ["--up", "1"],
            ["--down", "0"],
            ["--focus", "trips.raw.v1", "--up", "-1"],
            ["--format", "png"],
            ["--group", "owner"],
            ["--direction", "UP"],
            ["--focus", "trips"],
            ["--focus", "revenue_per_city", "--jobs-only"],
            ["--project-dir", str(PROJECT)],
            ["--output-file", str(EVENTS)],
        ],
    )
    def test_usage(self, arguments: list[str]) -> None:
        before = EVENTS.read_bytes()
        ran = streamt_ol("graph", EVENTS, *arguments)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert EVENTS.read_bytes() == before

    def test_nothing_given_is_an_error_and_an_empty_pipe_is_said(self, tmp_path: Path) -> None:
        ran = subprocess.run([PROGRAM, "graph"], stdin=subprocess.DEVNULL, capture_output=True,
                             cwd=tmp_path, check=False, timeout=60)  # fmt: skip
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(
            b"E501_PARSE_ERROR <stdin>:1: standard input is empty\n  hint: "
        )
        assert b"--project-dir" in ran.stderr
        ran = streamt_ol("graph", stdin=b"", cwd=tmp_path)
        assert (ran.returncode, ran.stdout) == (0, b"no datasets and no jobs\n")
        assert b"standard input is empty" in ran.stderr
        assert b"--project-dir" in ran.stderr
        ran = streamt_ol("graph", "-", stdin=b"", cwd=tmp_path)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"no datasets and no jobs\n", b"")

    def test_a_focus_that_matches_nothing_names_the_nearest(self) -> None:
        ran = streamt_ol("graph", EVENTS, "--focus", "trips_clean")
        assert ran.returncode == 2
        assert ran.stderr.decode() == (
            "E500_USAGE_ERROR --focus: no dataset or job is named 'trips_clean'\n"
            "  hint: the nearest: 'job:https://lineage.example/ns/fixtures/"
            "streamt/ride-hailing/models/trips_clean'\n"
        )


class TestOptions:
    def test_focus_and_steps(self) -> None:
        arguments = ("--focus", "trips.clean.v1", "--up", "0", "--down", "1", "--datasets-only")
        ran = streamt_ol("graph", EVENTS, *arguments)
        assert ran.stdout.decode() == (
            "2 datasets, 1 edge\ndatasets in kafka://broker.example:9092\n\n"
            "dataset trips.clean.v1  <- focus\n└─ dataset revenue_per_city\n"
        )

    def test_output_file(self, tmp_path: Path) -> None:
        target = tmp_path / "graph.mmd"
        ran = streamt_ol("graph", EVENTS, "--format", "mermaid", "--output-file", target)
        assert ran.stdout.decode() == f"drew 3 datasets, 3 jobs, 5 edges to {target}\n"
        assert target.read_text("utf-8").startswith("flowchart LR\n")

    def test_a_file_is_a_page(self, tmp_path: Path) -> None:
        target = tmp_path / "lineage.html"
        assert streamt_ol("graph", EVENTS, "--output-file", target).returncode == 0
        assert target.read_text("utf-8").startswith("<!DOCTYPE html>\n")

    @pytest.mark.parametrize(
        ("name", "start"),
        [
            ("lineage.svg", "<svg "),
            ("lineage.SVG", "<svg "),
            ("lineage.mmd", "flowchart LR\n"),
            ("lineage.mermaid", "flowchart LR\n"),
            ("lineage.dot", "digraph "),
            ("lineage.gv", "digraph "),
            ("lineage.json", "{\n"),
            ("lineage.txt", "3 datasets, "),
            ("lineage.htm", "<!DOCTYPE html>"),
            ("lineage", "<!DOCTYPE html>"),
            ("svg", "<!DOCTYPE html>"),
        ],
    )
    def test_the_format_of_a_file_goes_by_its_name(
        self, tmp_path: Path, name: str, start: str
    ) -> None:
        target = tmp_path / name
        ran = streamt_ol_here("graph", str(EVENTS), "--output-file", str(target))
        assert ran.status == 0
        assert target.read_text("utf-8").startswith(start)

    def test_a_format_that_is_given_wins_over_the_name(self, tmp_path: Path) -> None:
        target = tmp_path / "lineage.svg"
        streamt_ol_here("graph", str(EVENTS), "--output-file", str(target), "--format", "dot")
        assert target.read_text("utf-8").startswith("digraph ")

    def test_what_is_left_out_is_said(self) -> None:
        ran = streamt_ol("graph", EVENTS, "-f", "mermaid", "--max-edges", "2")
        assert ran.stdout.count(b"-->") == 2
        assert ran.stderr == b"left out of the picture: 2 datasets, 1 job, 3 edges\n"

    def test_the_envelope(self) -> None:
        ran = streamt_ol("--output", "json", "graph", EVENTS)
        envelope = json.loads(ran.stdout)
        assert (envelope["status"], envelope["command"]) == ("ok", "graph")
        document = json.loads(streamt_ol("graph", EVENTS, "-f", "json").stdout)
        assert envelope["data"] == {"format": "text", "graph": document}
        ran = streamt_ol("--output", "json", "graph", EVENTS, "-f", "dot")
        dot = streamt_ol("graph", EVENTS, "-f", "dot").stdout.decode()
        assert json.loads(ran.stdout)["data"] == {"format": "dot", "picture": dot}

    @pytest.mark.parametrize("form", ["html", "svg", "mermaid", "dot", "json", "text"])
    def test_the_same_input_gives_the_same_bytes(self, form: str) -> None:
        seeds = ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"})
        events = lines([job(f"j{n}", (f"a{n}", f"b{n}"), (f"c{n % 3}",)) for n in range(20)])
        first, second = (
            streamt_ol("graph", "-f", form, "--columns", stdin=events, environment=seed).stdout
            for seed in seeds
        )
        assert first == second != b""

    def test_a_dataset_event_alone(self) -> None:
        ran = streamt_ol("graph", stdin=lines([dataset("alone")]))
        assert ran.stdout.decode().endswith("\ndataset alone\n")


class TestSecrets:
    """`NAME:SECRET@HOST` is never shown; `NAME@HOST` of storage is an identity."""

    EVENTS = lines(
        [
            dataset("b", namespace="s3://user:SECRET@bucket"),
            dataset(
                "kafka://u:SECRET@h:1/t",
                [("jdbc:x://a:SECRET@h", "s3://u:SECRET@t")],
                namespace="kafka://u:SECRET@h:1",
                owners=("ftp://me:SECRET@host",),
                description="see https://me:SECRET@wiki.example/x",
                columnLineage={
                    "fields": {
                        "jdbc:x://a:SECRET@h": {
                            "inputFields": [
                                {"namespace": "s3://user:SECRET@bucket", "name": "b",
                                 "field": "s3://c:SECRET@field"},
                            ]
                        }
                    }
                },
            ),
            dataset("/p/x-token=1/@a", namespace="abfss://container@account.dfs.core.windows.net"),
            job("s3://user:SECRET@bucket/path/job", ("t",)),
        ]
    )  # fmt: skip

    @pytest.mark.parametrize("more", [[], ["--group", "namespace", "--columns"]])
    @pytest.mark.parametrize("form", ["text", "json", "mermaid", "dot", "svg", "html"])
    def test_no_format_shows_one(self, form: str, more: list[str], tmp_path: Path) -> None:
        ran = streamt_ol("graph", "-f", form, *more, stdin=self.EVENTS)
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert "SECRET" not in ran.stdout.decode()
        ran = streamt_ol("--output", "json", "graph", "-f", form, *more, stdin=self.EVENTS)
        assert json.loads(ran.stdout)["status"] == "ok"
        assert "SECRET" not in ran.stdout.decode()

    def test_what_is_shown_of_them(self) -> None:
        ran = streamt_ol("graph", "-f", "json", "--columns", stdin=self.EVENTS)
        nodes = json.loads(ran.stdout)["nodes"]
        assert [(node["namespace"], node["name"]) for node in nodes] == [
            ("abfss://container@account.dfs.core.windows.net", "/p/x-token=1/@a"),
            ("kafka://broker.example:9092", "t"),
            ("kafka://***@h:1", "kafka://***@h:1/t"),
            ("s3://***@bucket", "b"),
            ("jobs", "s3://***@bucket/path/job"),
        ]
        assert nodes[2]["owners"] == [{"name": "ftp://***@host"}]
        assert nodes[2]["description"] == "see https://***@wiki.example/x"
        [edge] = json.loads(ran.stdout)["column_edges"]
        assert edge["source_column"] == "s3://***@field"

    def test_two_that_differ_in_it_alone_stay_two(self) -> None:
        events = [dataset("b", namespace=f"s3://u:SECRET{n}@bucket") for n in (1, 2)]
        ran = streamt_ol("graph", stdin=lines(events))
        assert ran.stdout.decode().count("dataset b  [s3://***@bucket]") == 2

    def test_it_may_be_the_focus(self) -> None:
        ran = streamt_ol("graph", "--focus", "s3://user:SECRET@bucket/b", stdin=self.EVENTS)
        assert (
            ran.stdout
            == b"1 dataset, 0 edges\ndatasets in s3://***@bucket\n\ndataset b  <- focus\n"
        )

    def test_the_type_of_a_structure_is_none(self) -> None:
        events = [dataset("t", [("login", "struct<password:string,n:int>")])]
        ran = streamt_ol("graph", "-f", "json", stdin=lines(events))
        [column] = json.loads(ran.stdout)["nodes"][0]["columns"]
        assert column["type"] == "struct<password:string,n:int>"


class TestLongNames:
    def test_the_tree_cuts_them(self) -> None:
        events = [dataset("x" * 100_000, namespace="n" * 100_000), dataset("y", namespace="m")]
        ran = streamt_ol("graph", stdin=lines(events))
        assert f"dataset {'x' * 399}…  [{'n' * 399}…]\n" in ran.stdout.decode()

    def test_a_line_is_bounded_whatever_it_holds(self) -> None:
        events = [
            dataset("\x1b" * 100_000, namespace="\x9b" * 100_000),
            dataset("y", namespace="m"),
        ]
        for more in ([], ["--group", "namespace"]):
            shown = streamt_ol("graph", *more, stdin=lines(events)).stdout.decode()
            assert max(map(len, shown.splitlines())) <= 4_000
            assert shown.replace("\n", "").isprintable()
