"""`streamt-ol export --project-dir` and `stage compile-project` as a user runs them."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import shutil
import socket
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment, run_without_override, streamt_ol
from support.manifests import FIXTURES, TIME

PROJECTS = FIXTURES / "projects"
DEMO = PROJECTS / "demo"
GOLDEN = (FIXTURES / "manifests" / "demo.expected.jsonl").read_bytes()
NAMESPACES = [
    "--job-namespace", "https://lineage.example/ns/fixtures",
    "--kafka-namespace", "kafka://broker.example:9092",
]  # fmt: skip
AT_TIME = ["--event-time", TIME]
JOBS = ["--job-namespace", "jobs"]


def project(folder: Path, **files: str) -> Path:
    """Write a project; ``__`` in a keyword stands for ``/`` and a suffix `.yml` is added."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def write_environments(folder: Path) -> None:
    """Write a project of one source with the environments ``dev`` and ``prod``."""
    broker = "runtime: {{kafka: {{bootstrap_servers: {}.example:9092}}}}\n"
    project(
        folder,
        stream_project="project: p\nsources: [{name: a, topic: a.v1, columns: [{name: id}]}]\n",
        environments__dev=broker.format("dev"),
        environments__prod=broker.format("prod"),
    )


def error_of(folder: Path, *arguments: str) -> str:
    ran = streamt_ol("export", "--project-dir", folder, *JOBS, *arguments)
    assert (ran.returncode, ran.stdout) == (1, b"")
    assert b"Traceback" not in ran.stderr
    return ran.stderr.decode()


class TestExport:
    def test_a_project_gives_the_bytes_of_its_manifest(self) -> None:
        ran = streamt_ol("export", "--project-dir", DEMO, *NAMESPACES, *AT_TIME)
        assert (ran.returncode, ran.stdout) == (0, GOLDEN)
        assert ran.stderr.decode().startswith(
            "W111_OPENLINEAGE_SINK_OUTPUT_OMITTED stream_project.yml:61 /models/2: "
        )

    def test_the_time_is_now_in_utc(self) -> None:
        before = datetime.now(UTC)
        zone = {"TZ": "Asia/Tokyo"}
        ran = streamt_ol("export", "--project-dir", DEMO, *NAMESPACES, environment=zone)
        [time] = {json.loads(line)["eventTime"] for line in ran.stdout.splitlines()}
        assert time.endswith("Z")
        assert before <= datetime.fromisoformat(time) <= datetime.now(UTC)
        assert re.sub(rb'"eventTime":"[^"]+"', b"", ran.stdout) == re.sub(
            rb'"eventTime":"[^"]+"', b"", GOLDEN
        )

    def test_a_terminal_on_stdin_means_the_project_here(self) -> None:
        terminal, child = pty.openpty()
        try:
            ran = subprocess.run(
                [PROGRAM, "export", *NAMESPACES, *AT_TIME, "--quiet"],
                stdin=child, capture_output=True, cwd=DEMO, env=clean_environment(), check=False,
            )  # fmt: skip
        finally:
            os.close(terminal)
            os.close(child)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, GOLDEN, b"")

    @pytest.mark.parametrize("name", ["stream_project.yml", "stream_project.yaml"])
    @pytest.mark.parametrize("stdin", ["</dev/null", "<&-"])
    def test_so_does_a_stdin_that_holds_nothing(
        self, stdin: str, name: str, tmp_path: Path
    ) -> None:
        folder = tmp_path / "p"
        shutil.copytree(DEMO, folder)
        (folder / "stream_project.yml").rename(folder / name)
        words = shlex.join(["export", *NAMESPACES, *AT_TIME, "--quiet"])
        ran = subprocess.run(
            ["bash", "-c", f"{shlex.quote(PROGRAM)} {words} {stdin}"],
            capture_output=True, cwd=folder, env=clean_environment(), check=False,
        )  # fmt: skip
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, GOLDEN, b"")

    def test_an_environment_may_be_chosen_for_the_project_here(self, tmp_path: Path) -> None:
        write_environments(tmp_path)
        found = {}
        for name in ("dev", "prod"):
            ran = subprocess.run(
                [PROGRAM, "export", *JOBS, "--env", name, "--quiet"], stdin=subprocess.DEVNULL,
                capture_output=True, cwd=tmp_path, env=clean_environment(), check=True,
            )  # fmt: skip
            found[name] = json.loads(ran.stdout)["dataset"]["namespace"]
        assert found == {"dev": "kafka://dev.example:9092", "prod": "kafka://prod.example:9092"}

    @pytest.mark.parametrize("kind", ["pipe", "file", "socket"])
    def test_an_empty_stdin_that_could_hold_a_manifest_is_an_error(
        self, kind: str, tmp_path: Path
    ) -> None:
        write_environments(tmp_path)
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        os.close(writing)
        ours.close()
        (tmp_path / "empty").touch()
        with (tmp_path / "empty").open() as file, theirs, os.fdopen(reading) as pipe:
            stdin = {"pipe": pipe.fileno(), "file": file.fileno(), "socket": theirs.fileno()}[kind]
            ran = subprocess.run(
                [PROGRAM, "export", *JOBS], stdin=stdin, capture_output=True, cwd=tmp_path,
                env=clean_environment(), check=False,
            )  # fmt: skip
        assert (ran.returncode, ran.stdout) == (1, b"")
        first, hint = ran.stderr.decode().splitlines()
        assert first == "E501_PARSE_ERROR <stdin>:1: standard input is empty"
        assert "--project-dir" in hint

    def test_nothing_on_stdin_and_no_project_is_an_error(self, tmp_path: Path) -> None:
        ran = subprocess.run(
            [PROGRAM, "export", *JOBS], stdin=subprocess.DEVNULL, capture_output=True,
            cwd=tmp_path, env=clean_environment(), check=False,
        )  # fmt: skip
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert b"<stdin>:1: standard input is empty" in ran.stderr
        assert b"--project-dir" in ran.stderr

    def test_a_terminal_and_no_project_is_a_usage_error(self, tmp_path: Path) -> None:
        terminal, child = pty.openpty()
        try:
            ran = subprocess.run(
                [PROGRAM, "export", *NAMESPACES],
                stdin=child, capture_output=True, cwd=tmp_path, env=clean_environment(),
                check=False,
            )  # fmt: skip
        finally:
            os.close(terminal)
            os.close(child)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert b"--project-dir" in ran.stderr

    def test_a_pipe_on_stdin_is_a_manifest_even_in_a_project(self) -> None:
        manifest = (FIXTURES / "manifests" / "demo.json").read_bytes()
        ran = streamt_ol("export", *NAMESPACES, stdin=manifest, cwd=PROJECTS / "macros")
        assert (ran.returncode, ran.stdout) == (0, GOLDEN)

    @pytest.mark.parametrize(
        "arguments",
        [
            ["m.json", "--project-dir", "."],
            ["m.json", "--env", "prod"],
            ["-", "--env", "prod"],
            ["--project-dir", ".", "--check", "a.jsonl", "--output-file", "b.jsonl"],
        ],
    )
    def test_options_that_exclude_each_other(self, arguments: list[str], tmp_path: Path) -> None:
        ran = streamt_ol("export", *arguments, *JOBS, cwd=tmp_path)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert ran.stderr.startswith(b"E500_USAGE_ERROR")
        assert list(tmp_path.iterdir()) == []

    def test_the_envelope_has_places_of_the_project(self) -> None:
        ran = streamt_ol("--output", "json", "export", "--project-dir", DEMO, *NAMESPACES)
        [warning] = json.loads(ran.stdout)["warnings"]
        assert warning["location"] == "stream_project.yml:61 /models/2"
        bad = PROJECTS / "bad_blank_description"
        ran = streamt_ol("--output", "json", "export", "--project-dir", bad, *JOBS)
        [error] = json.loads(ran.stdout)["errors"]
        assert (ran.returncode, error["code"]) == (1, "E506_OPENLINEAGE_INVALID")
        assert error["location"] == "models/orders.yml:14 /models/1/description"

    @pytest.mark.parametrize(
        "name", ["bad_blank_description", "bad_reads_a_sink", "bad_name_twice"]
    )
    def test_the_stages_one_by_one_show_the_same_location(self, name: str) -> None:
        """The file and line of a fault travel in the JSON between the stages."""
        words = ["--project-dir", str(PROJECTS / name), *JOBS]
        whole = streamt_ol("--output", "json", "export", *words)
        compiled = streamt_ol("stage", "compile-project", *words)
        alone = streamt_ol("--output", "json", "stage", "resolve-identities", stdin=compiled.stdout)
        [expected], [found] = (json.loads(ran.stdout)["errors"] for ran in (whole, alone))
        assert found == expected
        assert expected["location"] == "{file}:{line} {pointer}".format(**expected)

    def test_a_stage_can_be_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "mine.py").write_text(
            "from streamt_ol.stages.compile_project import CompileProject\n"
            "def compile(state):\n"
            "    loaded = CompileProject()(state)\n"
            "    loaded['manifest']['models'][0]['owner'] = 'another-team'\n"
            "    return loaded\n"
        )
        ran = streamt_ol(
            "export", "--project-dir", DEMO, *NAMESPACES, "--stage", "compile_project=mine:compile",
            cwd=tmp_path,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.count(b'"owners":[{"name":"another-team"}]') == 2


class TestEnvironments:
    FOLDER = PROJECTS / "environments"
    TOPIC = "${TOPIC_PREFIX:-local}.raw"

    def export(self, *arguments: str, **variables: str) -> tuple[str, str, str]:
        """Return the job namespace, and namespace and name of the Kafka source.

        The name of the topic holds a reference to a variable, which is text there.
        """
        ran = streamt_ol("export", "--project-dir", self.FOLDER, *arguments, environment=variables)
        assert ran.returncode == 0, ran.stderr
        events = [json.loads(line) for line in ran.stdout.splitlines()]
        [job] = [event["job"]["namespace"] for event in events if "job" in event]
        [raw] = [e["dataset"] for e in events if "raw" in e.get("dataset", {}).get("name", "")]
        return job, raw["namespace"], raw["name"]

    def test_the_default_and_its_dotenv(self) -> None:
        found = ("jobs-of-dotenv", "kafka://shared.default.example:9092", self.TOPIC)
        assert self.export() == found

    def test_the_option_beats_the_variable(self) -> None:
        prod = ("jobs-of-dotenv", "kafka://prod.example:9092", self.TOPIC)
        assert self.export("--env", "prod") == prod
        assert self.export(STREAMT_ENV="prod") == prod
        assert self.export("--env", "prod", STREAMT_ENV="nonsense") == prod

    def test_an_environment_without_runtime_keeps_the_projects(self) -> None:
        assert self.export("--env", "same")[1] == "kafka://ignored.example:9092"

    def test_variables_that_are_set_beat_the_files_and_options_beat_both(self) -> None:
        found = self.export("--env", "prod", OPENLINEAGE_NAMESPACE="set", CLUSTER="set")
        assert found == ("set", "kafka://set.example:9092", self.TOPIC)
        assert self.export(*JOBS, OPENLINEAGE_NAMESPACE="set")[0] == "jobs"
        ran = streamt_ol(
            "export", "--project-dir", self.FOLDER, environment={"OPENLINEAGE_NAMESPACE": ""}
        )
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert b" job_namespace: " in ran.stderr

    def test_dataset_namespaces_may_come_from_dotenv(self, tmp_path: Path) -> None:
        text = "project: {name: p}\nsources: [{name: s, topic: t}]"
        folder = project(tmp_path / "p", stream_project=text)
        setting = "STREAMT_OPENLINEAGE_KAFKA_NAMESPACE=kafka://dotenv.example:1\n"
        (folder / ".env").write_text(setting)
        ran = streamt_ol("export", "--project-dir", folder, *JOBS)
        assert b'"namespace":"kafka://dotenv.example:1"' in ran.stdout

    def test_a_variable_that_nothing_needs_may_be_missing(self, tmp_path: Path) -> None:
        text = (
            "project: {name: p}\nruntime: {kafka: {bootstrap_servers: '${BROKER}'}}\n"
            "sources: [{name: s, topic: t, schema: {registry: '${REGISTRY}'}}]"
        )
        folder = project(tmp_path / "p", stream_project=text)
        assert "E502_ENV_VAR_ERROR stream_project.yml:2 " in error_of(folder)
        ran = streamt_ol("export", "--project-dir", folder, *NAMESPACES)
        assert ran.returncode == 0, ran.stderr


class TestStage:
    def test_prints_the_manifest_compact_or_pretty(self) -> None:
        command: list[str | Path] = [
            "stage",
            "compile-project",
            "--project-dir",
            DEMO,
            *NAMESPACES[2:],
            *AT_TIME,
        ]
        compact, pretty = streamt_ol(*command), streamt_ol(*command, "--pretty")
        assert (compact.returncode, pretty.returncode) == (0, 0)
        assert compact.stdout.count(b"\n") == 1
        assert pretty.stdout.count(b"\n") > 50
        expected = json.loads((PROJECTS / "demo.manifest.json").read_text())
        for ran in (compact, pretty):
            state = json.loads(ran.stdout)
            locations = state.pop("locations")
            assert locations["/models/2"]["line"] == 61
            assert locations["/artifacts/connectors/0"] == {
                "file": "stream_project.yml",
                "line": 61,
            }
            assert state == {
                "options": {
                    "kafka_namespace": "kafka://broker.example:9092",
                    "event_time": TIME,
                },
                "manifest": expected,
            }

    def test_filters_by_hand_give_the_bytes_of_export(self) -> None:
        data = streamt_ol(
            "stage", "compile-project", "--project-dir", DEMO, *NAMESPACES, *AT_TIME
        ).stdout
        for stage in ("resolve-identities", "build-facets", "validate", "canonicalize", "emit"):
            data = streamt_ol("stage", stage, stdin=data).stdout
        assert data == GOLDEN

    def test_warnings_of_the_project_travel_along(self) -> None:
        folder = PROJECTS / "unknown_keys"
        data = streamt_ol("stage", "compile-project", "--project-dir", folder).stdout
        projection = json.loads(streamt_ol("stage", "resolve-identities", *JOBS, stdin=data).stdout)
        codes = [warning["code"] for warning in projection["warnings"]]
        assert codes.count("W000_WARNING") == 3

    def test_a_key_is_called_what_the_file_calls_it(self, tmp_path: Path) -> None:
        text = "project: {name: p}\nruntime: {kafka: {bootstrap_servers: 'b:1'}}\non: x\n"
        folder = project(tmp_path, stream_project=text)
        ran = streamt_ol("export", "--project-dir", folder, *JOBS)
        assert ran.stderr.decode() == (
            "W000_WARNING stream_project.yml:3: the key 'on' of a project is not known "
            "and is ignored\n"
        )

    @pytest.mark.parametrize(
        ("environment", "warning"),
        [
            ("environment:\n  name: b\n", "environments/a.yml:2: the name 'b' is not that of"),
            ("environment: b\n", "environments/a.yml:1: the name 'b' is not that of the file"),
            ("environment: {name: password=hunter2}", "the name 'password=***' is not that of"),
            ("environment: {name: a}", ""),
            ("environment: a", ""),
            ("environment: {protected: true}", ""),
            ("environment: {name: '${NOT_SET}'}", ""),
            ("environment: [b]", ""),
            ("", ""),
        ],
    )
    def test_an_environment_with_another_name_than_its_file(
        self, environment: str, warning: str, tmp_path: Path
    ) -> None:
        text = "project: {name: p}\nruntime: {kafka: {bootstrap_servers: 'b:1'}}\n"
        folder = project(tmp_path, stream_project=text, environments__a=environment)
        ran = streamt_ol("export", "--project-dir", folder, "--env", "a", *JOBS)
        assert ran.returncode == 0
        lines = ran.stderr.decode().splitlines()
        assert len(lines) == bool(warning)
        assert warning in "".join(lines)
        assert all(line.startswith("W000_WARNING environments/a.yml:") for line in lines)

    def test_only_it_takes_a_project(self) -> None:
        ran = streamt_ol("stage", "load-manifest", "--project-dir", DEMO)
        assert (ran.returncode, ran.stdout) == (2, b"")


class TestReadsOnly:
    def test_nothing_is_written_into_the_project(self, tmp_path: Path) -> None:
        folder = tmp_path / "p"
        shutil.copytree(PROJECTS / "macros", folder)
        before = {p: p.stat().st_mtime_ns for p in [folder, *folder.rglob("*")]}
        ran = streamt_ol("export", "--project-dir", folder, *JOBS, cwd=folder)
        assert ran.returncode == 0
        assert {p: p.stat().st_mtime_ns for p in [folder, *folder.rglob("*")]} == before

    def test_no_socket_is_opened(self, tmp_path: Path) -> None:
        (tmp_path / "sitecustomize.py").write_text(
            "import sys\n"
            "def refuse(event, args):\n"
            "    if event.startswith('socket.'): raise RuntimeError(event)\n"
            "sys.addaudithook(refuse)\n"
        )
        ran = streamt_ol(
            "export", "--project-dir", PROJECTS / "macros", *JOBS,
            environment={"PYTHONPATH": str(tmp_path)},
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr

    def test_secrets_reach_no_output(self, tmp_path: Path) -> None:
        text = """
project: {name: p, note: hunter2}
runtime:
  kafka: {bootstrap_servers: "b:9092", sasl_password: hunter2}
  schema_registry: {url: "https://u:hunter2@r", key: "${SECRET}"}
sources: [{name: s, topic: t, columns: [{name: id, default: hunter2}], auth: hunter2}]
models:
  - name: m
    sql: SELECT 'hunter2', "${SECRET}" FROM {{ source("s") }} -- hunter2
    key: hunter2
  - {name: k, materialized: sink, from: s, sink: {config: {password: hunter2}}}
  - {name: x, macro: x, params: {token: "${SECRET}"}}
tests: [{name: q, type: sample, model: m, assertions: [hunter2]}]
rules: {hunter: hunter2}
"""
        folder = project(tmp_path / "p", stream_project=text)
        (folder / ".env").write_text("SECRET=hunter2\nhunter2\n")
        (folder / "macros").mkdir()
        (folder / "macros" / "x.sql.j2").write_text(
            "SELECT '{{ token }}' FROM {{ source('s') }} GROUP BY hunter2"
        )
        for command in (["export", *JOBS], ["stage", "compile-project", "--pretty"]):
            for output in ([], ["--output", "json"]):
                ran = streamt_ol(*output, *command, "--project-dir", folder)
                assert ran.returncode == 0, ran.stderr
                assert b"hunter2" not in ran.stdout + ran.stderr

    def test_secrets_reach_no_error(self, tmp_path: Path) -> None:
        secret = "password: hunter2\n"
        named = secret + "project: {name: p}\n"
        texts = {
            "yaml": secret + "a: [hunter2",
            "duplicate": secret + "a: 1\na: hunter2",
            "sql": secret + 'project: {name: p}\nmodels: [{name: m, sql: "SELECT \'hunter2"}]',
            "jinja": secret
            + "project: {name: p}\nmodels: [{name: m, sql: \"{{ 'hunter2' + 1 }}\"}]",
            "type": named + "sources: hunter2",
            "tag": secret + "a: !!hunter2 x",
            "broker": named
            + "sources: [{name: s, topic: t}]\n"
            + "runtime: {kafka: {bootstrap_servers: 'user:hunter2@b:9092'}}",
        }
        for name, text in texts.items():
            assert "hunter2" not in error_of(project(tmp_path / name, stream_project=text)), name


class TestHints:
    @pytest.mark.parametrize(
        ("sql", "said"),
        [
            ("{{ source('trips_rw') }}",
             "there is no source named 'trips_rw'\n  hint: did you mean 'trips_raw'?\n"),
            ("{{ ref('trips_cleen') }}",
             "there is no model named 'trips_cleen'\n  hint: did you mean 'trips_clean'?\n"),
            ("{{ source('trips_clean') }}",
             "there is no source named 'trips_clean'\n  hint: 'trips_clean' is a model\n"),
            ("{{ ref('trips_raw') }}",
             "there is no model named 'trips_raw'\n  hint: 'trips_raw' is a source\n"),
            ("{{ source('payments') }}", "there is no source named 'payments'\n"),
        ],
    )  # fmt: skip
    def test_a_misspelt_name_has_the_right_one_as_its_hint(
        self, sql: str, said: str, tmp_path: Path
    ) -> None:
        folder = project(
            tmp_path / "p",
            stream_project="project: {name: p}\nsources: [{name: trips_raw, topic: a}]\n"
            "models:\n  - {name: trips_clean, materialized: topic, sql: SELECT 1}\n"
            f'  - {{name: m, materialized: topic, sql: "SELECT * FROM {sql}"}}\n',
        )
        told = error_of(folder, "--kafka-namespace", "kafka://b.example:9092")
        assert told.endswith(f"/models/1/sql: {said}")

    @pytest.mark.parametrize("command", ["export", "graph"])
    def test_a_list_of_brokers_needs_the_option(self, command: str, tmp_path: Path) -> None:
        folder = project(
            tmp_path / "p",
            stream_project="project: {name: p}\n"
            "runtime: {kafka: {bootstrap_servers: 'a:1,b:2'}}\nsources: [{name: a, topic: a}]\n",
        )
        arguments = JOBS if command == "export" else []
        ran = streamt_ol(command, "--project-dir", folder, *arguments)
        told = ran.stderr.decode().splitlines()
        assert told[0].startswith(
            "E506_OPENLINEAGE_INVALID stream_project.yml:2 runtime.kafka.bootstrap_servers: "
        )
        assert told[1] == "  hint: give --kafka-namespace kafka://HOST:PORT"


class TestBadFolders:
    def test_no_folder_and_no_project(self, tmp_path: Path) -> None:
        missing = error_of(tmp_path / "missing")
        assert missing.startswith(f"E501_PARSE_ERROR {tmp_path / 'missing'}: ")
        (tmp_path / "file").touch()
        assert "Not a directory" in error_of(tmp_path / "file")
        ran = streamt_ol("export", "--project-dir", "", *JOBS, cwd=DEMO)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(b"E501_PARSE_ERROR project_dir: ")
        assert "there is no stream_project.yml in it" in error_of(tmp_path)

    def test_a_folder_in_the_place_of_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "stream_project.yml").mkdir()
        assert "E501_PARSE_ERROR stream_project.yml: " in error_of(tmp_path)

    def test_a_named_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        folder = project(tmp_path / "p", stream_project="project: {name: p}")
        (folder / "models").mkdir()
        os.mkfifo(folder / "models" / "m.yml")
        assert "E501_PARSE_ERROR models/m.yml: " in error_of(folder)

    def test_not_utf_8_has_a_line(self, tmp_path: Path) -> None:
        folder = project(tmp_path / "p", stream_project="")
        (folder / "stream_project.yml").write_bytes(b"project:\n  name: \xff\n")
        assert "E501_PARSE_ERROR stream_project.yml:2: " in error_of(folder)

    def test_utf_16_is_called_by_its_name(self, tmp_path: Path) -> None:
        folder = project(tmp_path / "p", stream_project="")
        (folder / "stream_project.yml").write_text("project: {name: p}\n", "utf-16")
        assert error_of(folder) == (
            "E501_PARSE_ERROR stream_project.yml:1: the file cannot be read: it is not UTF-8 "
            "but UTF-16\n"
        )

    def test_a_byte_order_mark_is_accepted(self, tmp_path: Path) -> None:
        folder = project(tmp_path / "p", stream_project="\ufeffproject: {name: p}\n")
        assert streamt_ol("export", "--project-dir", folder, *JOBS).returncode == 0

    @pytest.mark.parametrize("locked", [".", "models", "models/deep", "models/m.yml", "macros"])
    def test_what_may_not_be_read_is_never_left_out(self, locked: str, tmp_path: Path) -> None:
        text = "models: [{name: m, macro: made}]"
        folder = project(tmp_path / "p", stream_project="project: {name: p}", models__m=text)
        (folder / "models" / "deep").mkdir()
        (folder / "macros").mkdir()
        (folder / "macros" / "made.sql.j2").write_text("SELECT 1")
        (folder / locked).chmod(0)
        ran = run_without_override("export", "--project-dir", folder, *JOBS)
        (folder / locked).chmod(0o700)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(b"E501_PARSE_ERROR ")
        assert b"Permission denied" in ran.stderr

    def test_macros_that_are_no_names_of_files(self, tmp_path: Path) -> None:
        for name in ('"a\\0b"', '"' + "x" * 300 + '"', '""', '"."', "/etc/passwd", '"a/../b"'):
            text = f"project: {{name: p}}\nmodels: [{{name: m, macro: {name}}}]"
            folder = project(tmp_path / "p", stream_project=text)
            (folder / "macros").mkdir(exist_ok=True)
            assert "E501_PARSE_ERROR " in error_of(folder), name

    def test_a_symbolic_link_does_not_lead_out_of_macros(self, tmp_path: Path) -> None:
        text = "project: {name: p}\nmodels: [{name: m, macro: out}, {name: n, macro: in}]"
        folder = project(tmp_path / "p", stream_project=text)
        (folder / "macros").mkdir()
        (tmp_path / "secret.sql.j2").write_text("hunter2 {{ hunter2 }}")
        (folder / "macros" / "out.sql.j2").symlink_to(tmp_path / "secret.sql.j2")
        assert "there is no macro 'out'" in error_of(folder)

    def test_a_dangling_link_and_an_endless_one(self, tmp_path: Path) -> None:
        folder = project(tmp_path / "p", stream_project="project: {name: p}")
        (folder / "models").mkdir()
        (folder / "models" / "a.yml").symlink_to("nowhere")
        assert "E501_PARSE_ERROR models/a.yml" in error_of(folder)
        (folder / "models" / "a.yml").unlink()
        (folder / "models" / "a.yml").symlink_to("a.yml")
        assert "E501_PARSE_ERROR models/a.yml" in error_of(folder)

    def test_a_long_chain_of_models_is_no_recursion(self, tmp_path: Path) -> None:
        models = "".join(
            f"  - name: m{n}\n    materialized: topic\n"
            f"    sql: SELECT 1 FROM {{{{ ref('m{n + 1}') }}}}\n"
            for n in range(5000)
        )
        text = f"project: {{name: p}}\nmodels:\n{models}  - {{name: m5000}}\n"
        folder = project(tmp_path / "p", stream_project=text)
        ran = streamt_ol("export", "--project-dir", folder, *NAMESPACES, "--quiet")
        assert (ran.returncode, ran.stdout.count(b"\n")) == (0, 10_001)


class TestCheck:
    def check(self, file: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return streamt_ol(
            "export", "--project-dir", DEMO, *NAMESPACES, "--check", file, "--quiet", *arguments
        )

    def committed(self, tmp_path: Path, old: bytes = b"", new: bytes = b"") -> Path:
        file = tmp_path / "lineage.jsonl"
        assert old in GOLDEN
        file.write_bytes(GOLDEN.replace(old, new) if old else GOLDEN)
        return file

    def test_another_time_is_no_change(self, tmp_path: Path) -> None:
        file = self.committed(tmp_path, TIME.encode(), b"2020-01-01T00:00:00Z")
        ran = self.check(file)
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert ran.stdout.decode() == f"{file} is current: 6 events\n"

    def test_it_works_for_a_manifest_too(self, tmp_path: Path) -> None:
        manifest = FIXTURES / "manifests" / "demo.json"
        ran = streamt_ol("export", manifest, *NAMESPACES, "--check", self.committed(tmp_path))
        assert ran.returncode == 0

    @pytest.mark.parametrize(
        ("old", "new", "change"),
        [
            (
                b'"name":"dispatch-team"',
                b'"name":"old-team"',
                "changed: dataset 'trips.raw.v1' in 'kafka://broker.example:9092': "
                "/dataset/facets/ownership/owners/0/name 'old-team' -> 'dispatch-team'",
            ),
            (
                b'"ordinal_position":4',
                b'"ordinal_position":true',
                "/dataset/facets/schema/fields/3/ordinal_position true -> 4",
            ),
            (
                b'"outputs":[{"name":"trips.clean.v1"',
                b'"outputs":[{"name":"trips.old.v1"',
                "changed: job 'streamt/ride-hailing/models/trips_clean' in "
                "'https://lineage.example/ns/fixtures': /outputs/0/name "
                "'trips.old.v1' -> 'trips.clean.v1'",
            ),
            (
                b'"streamt/ride-hailing/models/trips_clean"',
                b'"streamt/ride-hailing/models/gone"',
                "removed: job 'streamt/ride-hailing/models/gone' in ",
            ),
            (
                b'"streamt/ride-hailing/models/trips_clean"',
                b'"streamt/ride-hailing/models/gone"',
                "added: job 'streamt/ride-hailing/models/trips_clean' in ",
            ),
            (b'{"dataset":', b'{ "dataset":', "not in canonical order and form"),
            (b'"jobType":"MODEL",', b"", "/job/facets/jobType/jobType nothing -> 'MODEL'"),
        ],
    )
    def test_changes_are_listed(self, old: bytes, new: bytes, change: str, tmp_path: Path) -> None:
        file = self.committed(tmp_path, old, new)
        before = file.read_bytes()
        ran = self.check(file)
        assert ran.returncode == 1
        assert change in ran.stdout.decode()
        assert ran.stderr.decode().startswith(f"E506_OPENLINEAGE_INVALID {file}: the export is not")
        assert file.read_bytes() == before
        assert list(tmp_path.iterdir()) == [file]

    @pytest.mark.parametrize(
        ("old", "new", "change"),
        [
            (b'"eventTime":"TIME",', b"", "/eventTime nothing is not a time in UTC"),
            (b'"TIME"', b'"bad"', "/eventTime 'bad' is not a time in UTC"),
            (b'"TIME"', b'""', "/eventTime '' is not a time in UTC"),
            (b'"TIME"', b"null", "/eventTime null is not a time in UTC"),
            (b'"TIME"', b"7", "/eventTime 7 is not a time in UTC"),
            (b'"TIME"', b'["TIME"]', "is not a time in UTC"),
            (b'"TIME"', b'"2026-02-30T00:00:00Z"', "'2026-02-30T00:00:00Z' is not a time in UTC"),
            (b'"TIME"', b'"2026-03-14T00:00:00+02:00"', "+02:00' is not a time in UTC"),
            (b'"TIME"', b'"password=hunter2"', "/eventTime 'password=***' is not a time in UTC"),
        ],
    )
    def test_each_event_has_a_time(
        self, old: bytes, new: bytes, change: str, tmp_path: Path
    ) -> None:
        old, new = (text.replace(b"TIME", TIME.encode()) for text in (old, new))
        ran = self.check(self.committed(tmp_path, old, new))
        assert ran.returncode == 1
        lines = ran.stdout.decode().splitlines()
        assert len(lines) == 6
        assert all(line.startswith("changed: ") and line.endswith(change) for line in lines)
        assert ran.stderr.decode().partition("not current: ")[2].startswith("6 changes")

    def test_standard_input_is_no_file_to_check(self) -> None:
        ran = streamt_ol("export", "--project-dir", DEMO, *NAMESPACES, "--check", "-", stdin=GOLDEN)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert b"--check takes the name of a file, not standard input" in ran.stderr

    @pytest.mark.parametrize("order", [[1, 0, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 5]])
    def test_order_and_repetition_count(self, order: list[int], tmp_path: Path) -> None:
        file = tmp_path / "lineage.jsonl"
        lines = GOLDEN.splitlines(keepends=True)
        file.write_bytes(b"".join(lines[index] for index in order))
        assert self.check(file).returncode == 1

    @pytest.mark.parametrize(
        ("data", "place"),
        [(b"{}\n{", ":2"), (b"{}\n[]\n", ":2"), (b'{"a":1,"a":2}\n', ":1")],
    )
    def test_what_is_no_export(self, data: bytes, place: str, tmp_path: Path) -> None:
        file = tmp_path / "lineage.jsonl"
        file.write_bytes(data)
        ran = self.check(file)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.decode().startswith(f"E501_PARSE_ERROR {file}{place}: ")

    @pytest.mark.parametrize("data", [b"", b"\n"])
    def test_a_file_without_events_is_an_empty_export(self, data: bytes, tmp_path: Path) -> None:
        file = tmp_path / "lineage.jsonl"
        file.write_bytes(data)
        ran = self.check(file)
        assert ran.returncode == 1
        lines = ran.stdout.decode().splitlines()
        assert len(lines) == 6
        assert all(line.startswith("added: ") for line in lines)

    def test_a_missing_file(self, tmp_path: Path) -> None:
        ran = self.check(tmp_path / "lineage.jsonl")
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(b"E501_PARSE_ERROR ")

    def test_the_envelope(self, tmp_path: Path) -> None:
        command: list[str | Path] = [
            "--output",
            "json",
            "export",
            "--project-dir",
            DEMO,
            *NAMESPACES,
            "--check",
        ]
        file = self.committed(tmp_path)
        ran = streamt_ol(*command, file)
        envelope = json.loads(ran.stdout)
        assert (ran.returncode, envelope["status"], envelope["data"]["changes"]) == (0, "ok", [])
        file = self.committed(tmp_path, b"dispatch-team", b"old-team")
        ran = streamt_ol(*command, file)
        envelope = json.loads(ran.stdout)
        assert (ran.returncode, ran.stderr, envelope["status"]) == (1, b"", "error")
        assert len(envelope["data"]["changes"]) == 1
        assert [error["code"] for error in envelope["errors"]] == ["E506_OPENLINEAGE_INVALID"]
