"""`streamt-ol run`: any finite command as one run, with its own exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.commands import PROGRAM
from support.delivery.servers import Broker
from support.streamt.place import NAMESPACE, Json, Place, checked, read_until


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


class TestTheRun:
    def test_names_datasets_and_facet(self, place: Place) -> None:
        done = place.run(
            "run", "--input", "s3://raw", "a/1", "--input", "s3://raw", "a/0",
            "--output", "trino://t:8080", "c.s.t", "--job-type", "BACKFILL",
            "--producer", "https://example.com/nightly", "--", "sh", "-c", "echo out; echo err >&2",
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"out\n", b"err\n")
        start, end = place.events()
        assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
        for event in (start, end):
            assert (event["job"]["namespace"], event["job"]["name"]) == (NAMESPACE, "nightly")
            facet = event["job"]["facets"]["jobType"]
            assert (facet["processingType"], facet["jobType"]) == ("BATCH", "BACKFILL")
            assert facet["integration"] == "STREAMT_OL"
            assert event["producer"] == facet["_producer"] == "https://example.com/nightly"
            assert event["inputs"] == [
                {"namespace": "s3://raw", "name": "a/0"},
                {"namespace": "s3://raw", "name": "a/1"},
            ]
            assert event["outputs"] == [{"namespace": "trino://t:8080", "name": "c.s.t"}]

    def test_the_command_needs_no_dashes(self, place: Place) -> None:
        done = place.run("run", "sh", "-c", 'echo "$@"', "sh", "--job-name", "x", "--", "--help")
        assert done.stdout == b"--job-name x -- --help\n"
        assert [event["job"]["name"] for event in place.events()] == ["nightly"] * 2

    @pytest.mark.parametrize("status", [1, 42, 130, 255])
    def test_the_exit_status_is_always_the_childs(self, place: Place, status: int) -> None:
        assert place.run("run", "sh", "-c", f"exit {status}").returncode == status
        assert place.kinds() == ["START", "FAIL"]

    def test_a_script_without_its_interpreter(self, place: Place, tmp_path: Path) -> None:
        script = tmp_path / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        done = place.run("run", str(script))
        assert done.returncode == 127
        assert done.stderr.endswith(b": it is there, and the interpreter that it names is not\n")

    def test_a_command_that_is_not_there(self, place: Place) -> None:
        done = place.run("run", "no-such-command-here")
        assert done.returncode == 127
        assert done.stderr == (
            b"E507_COMMAND_NOT_STARTED: cannot start 'no-such-command-here': "
            b"No such file or directory\n"
        )
        end = place.events()[1]
        assert end["run"]["facets"]["errorMessage"]["message"] == (
            "The command could not be started: No such file or directory."
        )

    def test_sigint_is_abort_and_the_childs_own_status(self, place: Place) -> None:
        script = 'trap "exit 9" INT; echo ready; while :; do sleep 0.05; done'
        process = subprocess.Popen(
            [PROGRAM, "run", "--job-namespace", "ns", "--job-name", "n", "sh", "-c", script],
            stdout=subprocess.PIPE,
            env=place.environment(),
        )
        read_until(process, b"ready")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert (process.returncode, place.kinds()) == (9, ["START", "ABORT"])

    def test_descriptors_beyond_the_three_are_handed_on(self, place: Place) -> None:
        """As `make` hands its job server to what it runs."""
        line = [PROGRAM, "run", "--job-namespace", "n", "--job-name", "n", "sh", "-c", "echo x >&7"]
        seven = place.folder / "seven"
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" 7>{seven}', "sh", *line], env=place.environment(), check=False
        )
        assert (done.returncode, seven.read_text()) == (0, "x\n")

    def test_the_environment_of_the_child_is_ours(self, place: Place) -> None:
        done = place.run("run", "env", PROBE="kept")
        assert b"PROBE=kept\n" in done.stdout
        assert b"OPENLINEAGE__TRANSPORT__TYPE=file\n" in done.stdout


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ([], b"no command is given"),
            (["--"], b"no command is given"),
            (["--input", "s3", "--", "true"], b"--input takes two words"),
            (["--output"], b"--output takes two words"),
            (["--input=s3", "true"], b"a dataset takes two words"),
            (["--unknown", "x", "true"], b"No such option: --unknown"),
        ],
    )
    def test_a_wrong_command_line_is_2(
        self, place: Place, words: list[str], message: bytes
    ) -> None:
        done = place.run("run", *words)
        assert (done.returncode, done.stdout) == (2, b"")
        assert message in done.stderr
        assert not place.events_file.exists()

    @pytest.mark.parametrize(
        ("words", "location"),
        [
            (["--input", "s3://me:secret@bucket", "k"], b"/inputs/0/namespace"),
            (["--input", "s3://bucket", "k?password=secret"], b"/inputs/0/name"),
            (["--output", "db", "jdbc:db://me:secret@h/t"], b"/outputs/0/name"),
            (["--input", "s3://b", " "], b"/inputs/0/name"),
            (["--producer", "nobody"], b"/producer"),
            (["--producer", "https://me:secret@example.com/x"], b"/producer"),
            (["--producer", "https://example.com/x?token=secret"], b"/producer"),
            (["--job-name", "https://me:secret@example.com/x"], b"/job/name"),
            (["--job-name", "nightly?api_key=secret"], b"/job/name"),
            (["--job-name", "me:secret@host"], b"/job/name"),
            (["--job-namespace", "me:secret@host:9092"], b"job_namespace"),
            (["--job-type", "jdbc://me:secret@host/x"], b"/job/facets/jobType/jobType"),
            (["--job-type", "X?password=secret"], b"/job/facets/jobType/jobType"),
            (["--job-name", ""], b"/job/name"),
            (["--job-name", os.fsdecode(b"\xff")], b"/job/name"),
            (["--job-namespace", " "], b"job_namespace"),
        ],
    )
    def test_an_invalid_event_is_refused_before_the_child_runs(
        self, place: Place, words: list[str], location: bytes
    ) -> None:
        done = place.run("run", *words, "--", "echo", "ran")
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.startswith(b"E506_OPENLINEAGE_INVALID " + location + b": ")
        assert b"secret" not in done.stderr
        assert b"Traceback" not in done.stderr
        assert not place.events_file.exists()

    def test_the_namespace_may_come_from_the_environment(self, place: Place) -> None:
        line = [PROGRAM, "run", "--job-name", "n", "true"]
        environment = place.environment()
        assert (
            subprocess.run(line, env=environment, capture_output=True, check=False).returncode == 1
        )
        environment["OPENLINEAGE_NAMESPACE"] = "from-env"
        assert (
            subprocess.run(line, env=environment, capture_output=True, check=False).returncode == 0
        )
        assert {event["job"]["namespace"] for event in place.events()} == {"from-env"}

    def test_disabled_is_a_conflict(self, place: Place) -> None:
        done = place.run("run", "echo", "ran", OPENLINEAGE_DISABLED="true")
        assert (done.returncode, done.stdout) == (1, b"")


RUN_ID = "0b1f8f6e-3c5e-4d6a-9a51-7d1c1d8f2c11"


class TestTheParent:
    @pytest.mark.parametrize(
        ("words", "variable", "job"),
        [
            (["--parent", "https://a/b", "c/d", RUN_ID], None, ("https://a/b", "c/d")),
            (["--parent", "ns", "n", RUN_ID], f"other/x/{RUN_ID}", ("ns", "n")),
            ([], f"ns/n/{RUN_ID}", ("ns", "n")),
            ([], f"ns/streamt/shop/commands/apply/{RUN_ID}", ("ns", "streamt/shop/commands/apply")),
        ],
    )
    def test_it_is_on_every_event(
        self, place: Place, words: list[str], variable: str | None, job: tuple[str, str]
    ) -> None:
        variables: Json = {} if variable is None else {"OPENLINEAGE_PARENT_ID": variable}
        done = place.run("run", *words, "false", **variables)
        assert (done.returncode, done.stderr) == (1, b"")
        events = place.events()
        assert [event["eventType"] for event in events] == ["START", "FAIL"]
        for event in events:
            facet = event["run"]["facets"]["parent"]
            assert facet["run"] == {"runId": RUN_ID}
            assert facet["job"] == {"namespace": job[0], "name": job[1]}
            assert facet["_schemaURL"] == (
                "https://openlineage.io/spec/facets/1-2-0/ParentRunFacet.json#/$defs/ParentRunFacet"
            )
            assert facet["_producer"] == event["producer"]
        assert "errorMessage" in events[1]["run"]["facets"]

    def test_an_empty_variable_names_none(self, place: Place) -> None:
        assert place.run("run", "true", OPENLINEAGE_PARENT_ID="").returncode == 0
        assert all("facets" not in event["run"] for event in place.events())

    @pytest.mark.parametrize(
        "text",
        ["x", "/", "ns/n", f"ns/{RUN_ID}", f"/n/{RUN_ID}", f"ns//{RUN_ID}", f"ns/ /{RUN_ID}",
         "ns/n/42", f"ns/n/{RUN_ID}/", f"{RUN_ID}", " ", "//", f" /n/{RUN_ID}",
         f"ns/n/{RUN_ID.replace('-', '')}", f"ns/n/{{{RUN_ID}}}", f"ns/n/urn:uuid:{RUN_ID}",
         f"ns/n/ {RUN_ID}", f"ns/n/{RUN_ID}\n", f"ns/n/{RUN_ID} ",
         # The namespace would end in the middle, and the rest go out as the name.
         f"s3://bucket/n/{RUN_ID}", f"kafka://me:secret@h:1/n/{RUN_ID}"],
    )  # fmt: skip
    def test_a_malformed_one_is_refused_before_the_start(self, place: Place, text: str) -> None:
        done = place.run("run", "echo", "ran", OPENLINEAGE_PARENT_ID=text)
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.startswith(b"E506_OPENLINEAGE_INVALID OPENLINEAGE_PARENT_ID: ")
        assert b"secret" not in done.stderr
        assert not place.events_file.exists()

    @pytest.mark.parametrize(
        ("words", "status", "said"),
        [
            (["--parent", "ns", "n", "42", "true"], 1, b"E506_OPENLINEAGE_INVALID --parent: "),
            (["--parent", " ", "n", RUN_ID, "true"], 1, b"E506_OPENLINEAGE_INVALID --parent: "),
            (["--parent", "ns", "", RUN_ID, "true"], 1, b"E506_OPENLINEAGE_INVALID --parent: "),
            (["--parent", "ns", "n", "", "true"], 1, b"E506_OPENLINEAGE_INVALID --parent: "),
            (["--parent"], 2, b"--parent takes three words: NAMESPACE NAME RUNID"),
            (["--parent", "ns", "n", "--", "true"], 2, b"--parent takes three words"),
            (
                ["--parent", "ns", "https://me:secret@h/n", RUN_ID, "true"],
                1,
                b"E506_OPENLINEAGE_INVALID /run/facets/parent/job/name: ",
            ),
            (["--parent", "ns", "n"], 2, b"--parent takes three words: NAMESPACE NAME RUNID"),
            (["--parent=ns", "true"], 2, b"a parent takes three words: NAMESPACE NAME RUNID"),
            (
                ["--parent", "s3://me:secret@b", "n", RUN_ID, "true"],
                1,
                b"E506_OPENLINEAGE_INVALID /run/facets/parent/job/namespace: ",
            ),
        ],
    )
    def test_a_wrong_option(self, place: Place, words: list[str], status: int, said: bytes) -> None:
        done = place.run("run", *words)
        assert (done.returncode, done.stdout) == (status, b"")
        assert said in done.stderr
        assert b"secret" not in done.stderr

    def test_the_variable_does_not_concern_streamts_own_commands(self, place: Place) -> None:
        assert place.run("test", OPENLINEAGE_PARENT_ID="x").returncode == 0
        assert all("facets" not in event["run"] for event in place.events())


def kafka(place: Place, broker: Broker, **fields: Any) -> dict[str, Any]:
    section = {
        "type": "kafka",
        "topic": broker.topic,
        "config": {"bootstrap.servers": broker.bootstrap, "acks": "all"},
        **fields,
    }
    return {
        "OPENLINEAGE__TRANSPORT": json.dumps(section),
        "OPENLINEAGE__TRANSPORT__TYPE": "UNSET",
        "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": "UNSET",
    }


class TestOverKafka:
    def test_the_events_arrive_with_the_official_clients_key(self, place: Place) -> None:
        with Broker() as broker:
            done = place.run("run", "sh", "-c", "exit 3", **kafka(place, broker))
            records = broker.records()
        assert (done.returncode, done.stderr) == (3, b"")
        events = checked([json.loads(record["value"]) for record in records])
        assert [event["eventType"] for event in events] == ["START", "FAIL"]
        assert {record["key"] for record in records} == {f"run:{NAMESPACE}/nightly"}

    @pytest.mark.parametrize("name", ["messageKey", "message_key"])
    def test_a_key_of_the_configuration(self, place: Place, name: str) -> None:
        with Broker() as broker:
            done = place.run("run", "true", **kafka(place, broker, **{name: "k"}))
            records = broker.records()
        assert (done.returncode, done.stderr) == (0, b"")
        assert [record["key"] for record in records] == ["k", "k"]

    def test_no_broker_is_a_warning_for_each_event(self, place: Place) -> None:
        with Broker() as broker:
            variables = kafka(place, broker, config={"bootstrap.servers": "127.0.0.1:1"})
            done = place.run("run", "echo", "ran", **variables)
        assert (done.returncode, done.stdout) == (0, b"ran\n")
        lines = done.stderr.splitlines()
        assert len(lines) == 2
        assert all(one.startswith(b"W112_OPENLINEAGE_EMIT_FAILED") for one in lines)

    @pytest.mark.parametrize(
        ("fields", "location"),
        [
            ({"topic": ""}, b"transport.topic"),
            ({"topic": 3}, b"transport.topic"),
            ({"config": None}, b"transport.config"),
            ({"config": {}}, b"transport.config.bootstrap.servers"),
            ({"config": {"bootstrap.servers": "a:1,"}}, b"transport.config.bootstrap.servers"),
            (
                {"config": {"bootstrap.servers": "a:1", "acks": "1"}},
                b"transport.config: acks",
            ),
            (
                {"config": {"bootstrap.servers": "a:1", "sasl.password": "hunter2"}},
                b"transport.config: security.protocol",
            ),
            (
                {"config": {"bootstrap.servers": "a:1", "no.such": "x"}},
                b"transport.config: no.such",
            ),
            ({"flush": False}, b"transport.flush"),
            ({"messageKey": ""}, b"transport.messageKey"),
            ({"messageKey": ["a"]}, b"transport.messageKey"),
            ({"messageKey": "a", "message_key": "b"}, b"transport.messageKey"),
            ({"url": "x"}, b"transport.url"),
        ],
    )
    def test_a_wrong_field_is_refused_before_the_start(
        self, place: Place, fields: Json, location: bytes
    ) -> None:
        with Broker() as broker:
            variables = kafka(place, broker, **fields)
            done = place.run("run", "echo", "ran", **variables)
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.startswith(b"E506_OPENLINEAGE_INVALID " + location + b": "), done.stderr
        assert b"hunter2" not in done.stderr

    @pytest.mark.parametrize("command", ["test", "apply"])
    def test_streamts_own_commands_keep_file_and_http(self, place: Place, command: str) -> None:
        with Broker() as broker:
            done = place.run(command, plan={"out": b"ran".hex()}, **kafka(place, broker))
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"transport.type: the transport type 'kafka' is not supported" in done.stderr


@pytest.mark.parametrize(("command", "collects"), [("run", False), ("validate", True)])
def test_only_commands_around_a_child_go_without_the_garbage_collector(
    command: str, collects: bool
) -> None:
    code = (
        "import atexit, gc, sys; from streamt_ol.__main__ import main; "
        "atexit.register(lambda: print(gc.isenabled(), file=sys.stderr)); main()"
    )
    line = [sys.executable, "-c", code, command, "--help"]
    done = subprocess.run(line, capture_output=True, check=True, text=True)
    assert done.stderr == f"{collects}\n"
