"""`streamt-ol test`: what is reported, when, and that the child is untouched by it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from support.commands import PROGRAM
from support.streamt.place import KAFKA, NAMESPACE, Json, Place, read_until

CLEAN = {"namespace": KAFKA, "name": "clean.v1"}
TOTALS = {"namespace": KAFKA, "name": "totals"}
VIEW = {"namespace": KAFKA, "name": "view"}
NOISE = bytes(range(256)) * 3 + b"\xff\xfe no line end \x00"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


class TestTheEvents:
    def test_one_run_of_start_and_complete(self, place: Place) -> None:
        assert place.run("test").returncode == 0
        start, end = place.events()
        assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
        assert start["run"] == end["run"]
        assert uuid.UUID(start["run"]["runId"]).version == 4
        assert start["job"] == end["job"]
        assert start["job"]["namespace"] == NAMESPACE
        assert start["job"]["name"] == "streamt/shop/commands/test"
        facet = start["job"]["facets"]["jobType"]
        assert (facet["processingType"], facet["integration"], facet["jobType"]) == (
            "BATCH",
            "STREAMT",
            "TEST",
        )
        assert start["eventTime"] < end["eventTime"]
        assert start["eventTime"].endswith("Z")

    def test_known_inputs_are_on_both_events_and_outputs_on_none(self, place: Place) -> None:
        place.run("test")
        for event in place.events():
            assert event["inputs"] == [CLEAN, TOTALS, VIEW]
            assert "outputs" not in event

    def test_a_second_invocation_is_another_run(self, place: Place) -> None:
        place.run("test")
        place.run("test")
        assert len({event["run"]["runId"] for event in place.events()}) == 2

    def test_only_selected_sample_tests_give_inputs(self, place: Place) -> None:
        place.run("test", "-m", "clean", "--", "-m", "totals")
        assert [event["inputs"] for event in place.events()] == [[TOTALS], [TOTALS]]

    @pytest.mark.parametrize("words", [["--model", "nobody"], ["--deploy"], ["--", "--coverage"]])
    def test_nothing_to_run_is_no_event_and_no_file(self, place: Place, words: list[str]) -> None:
        done = place.run("test", *words, plan={"exit": 5})
        assert done.returncode == 5
        assert not place.events_file.exists()

    def test_schema_tests_alone_need_no_dataset_namespace(self, place: Place) -> None:
        done = place.run("test", "--type", "schema", STREAMT_OPENLINEAGE_KAFKA_NAMESPACE="UNSET")
        assert (done.returncode, done.stderr) == (0, b"")
        assert place.kinds() == ["START", "COMPLETE"]


class TestTheEnd:
    def test_a_failed_test_is_fail_with_its_own_status(self, place: Place) -> None:
        assert place.run("test", plan={"exit": 7}).returncode == 7
        start, end = place.events()
        assert (start["eventType"], end["eventType"]) == ("START", "FAIL")
        message = end["run"]["facets"]["errorMessage"]
        assert message["message"] == "The command ended with exit status 7."
        assert message["programmingLanguage"] == "PYTHON"
        assert "stackTrace" not in message
        assert end["inputs"] == start["inputs"]

    @pytest.mark.parametrize(
        ("number", "status"),
        [(signal.SIGKILL, 137), (signal.SIGSEGV, 139), (signal.SIGTERM, -signal.SIGTERM)],
    )
    def test_a_child_killed_by_a_signal_is_fail(
        self, place: Place, number: signal.Signals, status: int
    ) -> None:
        assert place.run("test", plan={"suicide": number}).returncode == status
        assert place.kinds() == ["START", "FAIL"]

    def test_a_child_that_cannot_be_started_is_fail(self, place: Place) -> None:
        place.streamt.unlink()
        done = place.run("test")
        assert done.returncode == 127
        assert done.stderr.startswith(b"E507_COMMAND_NOT_STARTED: cannot start '")
        assert place.kinds() == ["START", "FAIL"]

    @pytest.mark.parametrize("command", ["test", "apply"])
    def test_a_streamt_that_is_not_installed_is_told_with_the_option(
        self, command: str, tmp_path: Path
    ) -> None:
        done = subprocess.run(
            [PROGRAM, command], capture_output=True, env={"PATH": str(tmp_path)}, check=False
        )
        assert (done.returncode, done.stderr) == (
            127,
            b"E507_COMMAND_NOT_STARTED: cannot start 'streamt': No such file or directory\n"
            b"  hint: install streamt, or name its program with --streamt PATH\n",
        )

    def test_a_child_that_may_not_be_executed_is_fail(self, place: Place) -> None:
        place.streamt.chmod(0o644)
        assert place.run("test").returncode == 126
        assert place.kinds() == ["START", "FAIL"]

    def test_nothing_the_child_printed_is_in_an_event(self, place: Place) -> None:
        out = b"assertion failed: password=hunter2 SELECT secret_column".hex()
        place.run("test", plan={"out": out, "err": out, "exit": 1})
        text = place.events_file.read_text()
        assert "hunter2" not in text
        assert "assertion failed" not in text
        assert "SELECT" not in text


class TestSignals:
    def test_sigint_reaches_a_child_that_is_waited_for_and_is_abort(self, place: Place) -> None:
        process = place.start("test", plan={"sleep": 1, "patient": True})
        read_until(process, b"ready")
        process.send_signal(signal.SIGINT)  # to the wrapper only
        out, err = process.communicate(timeout=30)
        assert out == b"got 2\n"  # once
        assert (process.returncode, err) == (130, b"")
        assert place.kinds() == ["START", "ABORT"]

    def test_sigint_ends_a_child_that_does_not_care(self, place: Place) -> None:
        process = place.start("test", plan={"sleep": 60})
        read_until(process, b"ready")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 130
        start, end = place.events()
        assert end["eventType"] == "ABORT"
        assert "facets" not in end["run"]
        assert start["run"]["runId"] == end["run"]["runId"]

    def test_sigint_that_kills_streamt_ends_with_130(self, place: Place) -> None:
        place.streamt.write_text("#!/bin/sh\necho ready\nexec sleep 60\n")
        process = place.start("test")
        read_until(process, b"ready")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 130
        assert place.kinds() == ["START", "ABORT"]

    def test_sigint_to_the_whole_group_is_abort(self, place: Place) -> None:
        process = place.start("test", plan={"sleep": 60})
        read_until(process, b"ready")
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 130
        assert place.kinds() == ["START", "ABORT"]

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
    def test_sigterm_is_passed_on_and_is_fail(self, place: Place, number: signal.Signals) -> None:
        process = place.start("test", plan={"sleep": 60})
        read_until(process, b"ready")
        process.send_signal(number)
        process.communicate(timeout=30)
        assert process.returncode == -number
        end = place.events()[-1]
        assert end["eventType"] == "FAIL"
        message = end["run"]["facets"]["errorMessage"]["message"]
        assert message == f"The command was stopped by {number.name}."

    def test_sigterm_that_the_child_survives_is_complete(self, place: Place) -> None:
        process = place.start("test", plan={"sleep": 0.5, "patient": True})
        read_until(process, b"ready")
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=30)
        assert (out, process.returncode) == (b"got 15\n", 0)
        assert place.kinds() == ["START", "COMPLETE"]

    def test_an_ignored_sigint_stays_ignored(self, place: Place) -> None:
        line = place.streamt_line("test")
        # As a script's `command &` does.
        process = subprocess.Popen(
            ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *line],
            stdout=subprocess.PIPE,
            env=place.environment({"sleep": 0.5}),
            cwd=place.folder,
        )
        read_until(process, b"ready")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 0
        assert place.kinds() == ["START", "COMPLETE"]


class TestTheChildIsUntouched:
    def test_start_is_out_before_the_childs_first_line(self, place: Place) -> None:
        done = place.run("test", plan={"first": str(place.events_file)})
        assert done.stdout == b"1\n"
        assert place.kinds() == ["START", "COMPLETE"]

    def test_streams_are_the_same_bytes_with_and_without_emission(self, place: Place) -> None:
        plan = {"out": NOISE.hex(), "times": 400, "err": NOISE[::-1].hex(), "echo": True, "exit": 3}
        direct = subprocess.run(
            [place.streamt, "test"],
            input=NOISE,
            capture_output=True,
            env=place.environment(plan),
            check=False,
        )
        without = place.run("test", plan=plan, emit=False, stdin=NOISE)
        assert not place.events_file.exists()
        emitting = place.run("test", plan=plan, stdin=NOISE)
        assert place.kinds() == ["START", "FAIL"]
        assert direct.stdout == NOISE * 400 + NOISE
        for done in (without, emitting):
            assert done.stdout == direct.stdout
            assert done.stderr == direct.stderr == NOISE[::-1]
            assert done.returncode == direct.returncode == 3

    def test_streamt_gets_its_options_and_no_other(self, place: Place) -> None:
        done = place.run(
            "test", "-p", ".", "-e", "dev", "-m", "clean", "--type", "sample", "--verbose",
            "--limit", "5", "--", "--", "-x", "a b", plan={"arguments": True},
        )  # fmt: skip
        assert json.loads(done.stdout) == [
            "test", "--project-dir", ".", "--env", "dev", "--model", "clean", "--type", "sample",
            "--verbose", "--limit", "5", "--", "-x", "a b",
        ]  # fmt: skip

    def test_the_envelope_on_stdout_is_streamts_own(self, place: Place) -> None:
        line = place.streamt_line("test")
        line[1:1] = ["--output", "json"]
        done = subprocess.run(
            line,
            capture_output=True,
            env=place.environment({"arguments": True}),
            cwd=place.folder,
            check=False,
        )
        assert json.loads(done.stdout) == ["--output", "json", "test"]

    def test_sigpipe_is_the_childs_own(self, place: Place) -> None:
        """A child that writes to a closed pipe is killed by it, as any program is."""
        for emit in (True, False):
            line = place.streamt_line("test", emit=emit)
            line[line.index(str(place.streamt))] = "/bin/yes"
            writer = subprocess.Popen(
                line, stdout=subprocess.PIPE, env=place.environment(), cwd=place.folder
            )
            assert writer.stdout
            writer.stdout.readline()
            writer.stdout.close()
            assert writer.wait(30) == (128 + signal.SIGPIPE if emit else -signal.SIGPIPE)

    @pytest.mark.parametrize("command", ["test", "apply"])
    @pytest.mark.parametrize("emit", [True, False])
    def test_closed_streams_are_handed_on_closed(
        self, place: Place, emit: bool, command: str
    ) -> None:
        """And no descriptor of ours, for events of files, signals or a transport, is handed on."""
        place.streamt.write_text(
            "#!/bin/sh\nfound=\nfor i in 0 1 2 3 4 5 6; do "
            '[ -e /proc/$$/fd/$i ] && found="$found $i"\ndone\necho "open:$found" > open\nexit 4\n'
        )
        line = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *place.streamt_line(command, emit=emit)]
        done = subprocess.run(line, env=place.environment(), cwd=place.folder, check=False)
        assert done.returncode == 4
        assert (place.folder / "open").read_text() == "open:\n"
        assert place.kinds() == (["START", "FAIL"] if emit and command == "test" else [])


HOSTILE: Json = {
    "OPENLINEAGE_CONFIG": "/nonexistent.yml",
    "OPENLINEAGE_URL": "http://127.0.0.1:9",
    "OPENLINEAGE_DISABLED": "true",
    "OPENLINEAGE_NAMESPACE": "",
    "OPENLINEAGE__FACETS__X": "{",
    "STREAMT_OPENLINEAGE_KAFKA_NAMESPACE": "nonsense",
}


class TestWithoutTheFlag:
    def test_the_child_is_simply_run_whatever_the_environment_says(self, place: Place) -> None:
        place.manifest.write_text("not JSON")
        done = place.run("test", plan={"exit": 9}, emit=False, **HOSTILE)
        assert (done.returncode, done.stdout, done.stderr) == (9, b"", b"")
        assert not place.events_file.exists()

    @pytest.mark.parametrize("command", ["test", "apply"])
    def test_nothing_of_openlineage_is_imported(self, place: Place, command: str) -> None:
        done = subprocess.run(
            [sys.executable, "-X", "importtime", PROGRAM, command, "--streamt", place.streamt],
            capture_output=True,
            env=place.environment({"exit": 0}),
            cwd=place.folder,
            check=False,
        )
        assert done.returncode == 0
        imported = {
            line.rpartition(b"|")[2].strip().decode()
            for line in done.stderr.splitlines()
            if line.startswith(b"import time:")
        }
        ours = {name for name in imported if name.startswith("streamt_ol.")}
        assert "streamt_ol.runs.child" in ours
        banned = ("openlineage", "validation", "transport", "stages", "pipeline")
        assert not [name for name in ours if name.split(".")[1] in banned]
        runs = {name for name in ours if name.startswith("streamt_ol.runs.")}
        # The child's process, its signals, and the process that sees what went to the group.
        assert runs == {f"streamt_ol.runs.{name}" for name in ("child", "signals", "witness")}
        assert not imported & {"jsonschema_rs", "jsonschema", "ssl", "socket", "yaml", "orjson"}


class TestPreflight:
    """Everything that can be refused is refused before the child runs."""

    @pytest.mark.parametrize(
        ("variables", "words", "location"),
        [
            ({"OPENLINEAGE_DISABLED": "true"}, [], "OPENLINEAGE_DISABLED"),
            ({"OPENLINEAGE__TRANSPORT__TYPE": "console"}, [], "transport.type"),
            (
                {
                    "OPENLINEAGE__TRANSPORT__TYPE": "UNSET",
                    "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": "UNSET",
                },
                [],
                "transport",
            ),
            ({"OPENLINEAGE_URL": "http://127.0.0.1:1"}, [], "OPENLINEAGE_URL"),
            (
                {"OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": "/nonexistent/events"},
                [],
                "transport.log_file_path",
            ),
            ({}, ["--openlineage-job-namespace", " "], "job_namespace"),
            ({}, ["--openlineage-kafka-namespace", "kafka://u:p@h:1"], "kafka_namespace"),
            ({"STREAMT_OPENLINEAGE_KAFKA_NAMESPACE": "UNSET"}, [], "kafka_namespace"),
            ({"STREAMT_OPENLINEAGE_KAFKA_NAMESPACE": "kafka://h"}, [], "kafka_namespace"),
            ({}, ["--manifest", "/nonexistent.json"], "/nonexistent.json"),
        ],
    )
    def test_refused(self, place: Place, variables: Json, words: list[str], location: str) -> None:
        done = place.run("test", *words, plan={"out": b"ran".hex()}, **variables)
        assert (done.returncode, done.stdout) == (1, b"")
        assert f" {location}: ".encode() in done.stderr.splitlines()[0]
        assert not place.events_file.exists()

    def test_the_job_namespace_is_required(self, place: Place) -> None:
        line = place.streamt_line("test", "--emit-openlineage", emit=False)
        environment = place.environment({"out": b"ran".hex()})
        done = subprocess.run(line, capture_output=True, env=environment, check=False)
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"--openlineage-job-namespace NAMESPACE" in done.stderr
        environment["OPENLINEAGE_NAMESPACE"] = "from-env"
        done = subprocess.run(line, capture_output=True, env=environment, check=False)
        assert (done.returncode, done.stdout) == (0, b"ran")
        assert {e["job"]["namespace"] for e in place.events()} == {"from-env"}

    @pytest.mark.parametrize(
        ("model", "words"), [("nobody", "is not declared"), ("", "is not declared")]
    )
    def test_a_sample_test_of_nothing_declared(self, place: Place, model: str, words: str) -> None:
        document = json.loads(place.manifest.read_text())
        document["tests"] = [{"name": "t", "model": model, "type": "sample"}]
        place.manifest.write_text(json.dumps(document))
        done = place.run("test", plan={"out": b"ran".hex()})
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.startswith(b"E506_OPENLINEAGE_INVALID /tests/0/model: ")
        assert words.encode() in done.stderr

    def test_the_error_is_one_envelope_in_json_mode(self, place: Place) -> None:
        line = place.streamt_line("test")
        line[1:1] = ["--output", "json"]
        environment = place.environment({"out": b"ran".hex()}, OPENLINEAGE_DISABLED="true")
        done = subprocess.run(line, capture_output=True, env=environment, check=False)
        envelope = json.loads(done.stdout)
        assert (done.returncode, done.stderr) == (1, b"")
        assert (envelope["status"], envelope["command"]) == ("error", "test")
        assert envelope["errors"][0]["location"] == "OPENLINEAGE_DISABLED"
