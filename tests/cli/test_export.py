"""`streamt-ol export` as a user runs it: streams, files, statuses, and every way to stop it."""

from __future__ import annotations

import json
import os
import pty
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment, run_without_override, streamt_ol
from support.manifests import FIXTURES, TIME, manifest, source

DEMO = FIXTURES / "manifests" / "demo.json"
GOLDEN = (FIXTURES / "manifests" / "demo.expected.jsonl").read_bytes()
NAMESPACE = ["--job-namespace", "https://lineage.example/ns/fixtures"]
KAFKA = ["--kafka-namespace", "kafka://broker.example:9092"]
EXPORT: list[str | Path] = ["export", DEMO, *NAMESPACE, *KAFKA]
W111 = "W111_OPENLINEAGE_SINK_OUTPUT_OMITTED"


@pytest.fixture(scope="module")
def large_manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "large.json"
    path.write_text(json.dumps(manifest([source(f"source_{i}") for i in range(60_000)], [])))
    return path


class TestText:
    def test_stdout_has_only_the_lines_and_stderr_the_warnings(self) -> None:
        ran = streamt_ol(*EXPORT)
        assert (ran.returncode, ran.stdout) == (0, GOLDEN)
        assert ran.stderr.decode().startswith(f"{W111} /models/2: ")
        assert ran.stderr.count(b"\n") == 1

    def test_quiet_silences_warnings(self) -> None:
        ran = streamt_ol(*EXPORT, "--quiet")
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, GOLDEN, b"")

    @pytest.mark.parametrize("arguments", [[], ["-"]])
    def test_a_manifest_comes_through_a_pipe(self, arguments: list[str]) -> None:
        ran = streamt_ol("export", *arguments, *NAMESPACE, *KAFKA, stdin=DEMO.read_bytes())
        assert (ran.returncode, ran.stdout) == (0, GOLDEN)

    def test_two_runs_give_the_same_bytes_anywhere(self, tmp_path: Path) -> None:
        ran = streamt_ol(*EXPORT, cwd=tmp_path, environment={"TZ": "Asia/Tokyo", "LC_ALL": "C"})
        assert ran.stdout == GOLDEN

    def test_warnings_are_sorted(self) -> None:
        document = manifest([source(f"s{i}", columns=[]) for i in range(11)], [])
        ran = streamt_ol("export", *NAMESPACE, *KAFKA, stdin=json.dumps(document).encode())
        lines = ran.stderr.decode().splitlines()
        assert len(lines) == 11
        assert lines == sorted(lines)

    def test_an_error_is_one_line_with_code_and_place_and_a_hint(self) -> None:
        ran = streamt_ol("export", DEMO)
        assert (ran.returncode, ran.stdout) == (1, b"")
        first, hint = ran.stderr.decode().splitlines()
        assert first.startswith("E506_OPENLINEAGE_INVALID job_namespace: ")
        assert "--job-namespace" in hint

    def test_event_time_replaces_the_compiled_one(self) -> None:
        ran = streamt_ol(*EXPORT, "--event-time", "2020-02-29T00:00:00+00:00")
        assert ran.stdout == GOLDEN.replace(TIME.encode(), b"2020-02-29T00:00:00+00:00")


class TestEnvironment:
    def test_variables_stand_in_for_options(self) -> None:
        variables = {
            "OPENLINEAGE_NAMESPACE": NAMESPACE[1],
            "STREAMT_OPENLINEAGE_KAFKA_NAMESPACE": KAFKA[1],
            "STREAMT_OPENLINEAGE_GATEWAY_NAMESPACE": "kafka://unused.example:1",
        }
        assert streamt_ol("export", DEMO, environment=variables).stdout == GOLDEN

    def test_options_come_first(self) -> None:
        ran = streamt_ol(*EXPORT, environment={"OPENLINEAGE_NAMESPACE": "other"})
        assert ran.stdout == GOLDEN

    def test_an_error_names_the_variable_that_the_value_came_from(self) -> None:
        ran = streamt_ol("export", DEMO, *KAFKA, environment={"OPENLINEAGE_NAMESPACE": " "})
        assert b"OPENLINEAGE_NAMESPACE" in ran.stderr

    @pytest.mark.parametrize("value", ["", "kafka://a:1,b:2", "broker:9092"])
    def test_an_invalid_variable_does_not_fall_through(self, value: str) -> None:
        document = {
            **manifest([source("orders")], []),
            "runtime": {"kafka": {"bootstrap_servers": "broker.example:9092"}},
        }
        data = json.dumps(document).encode()
        assert streamt_ol("export", *NAMESPACE, stdin=data).returncode == 0
        variables = {"STREAMT_OPENLINEAGE_KAFKA_NAMESPACE": value}
        ran = streamt_ol("export", *NAMESPACE, stdin=data, environment=variables)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(b"E506_OPENLINEAGE_INVALID kafka_namespace: ")


class TestEnvelope:
    def test_a_success_is_one_envelope_and_nothing_else(self) -> None:
        ran = streamt_ol("--output", "json", *EXPORT)
        assert (ran.returncode, ran.stderr, ran.stdout.count(b"\n")) == (0, b"", 1)
        envelope = json.loads(ran.stdout)
        assert list(envelope) == ["status", "command", "data", "errors", "warnings"]
        assert (envelope["status"], envelope["command"], envelope["errors"]) == ("ok", "export", [])
        data = envelope["data"]
        assert (data["standard"], data["release"], data["core_schema"]) == (
            "OpenLineage", "1.53.0", "2-0-2",
        )  # fmt: skip
        assert data["counts"] == {"total": 6, "datasets": 3, "jobs": 3}
        assert data["events"] == [json.loads(line) for line in GOLDEN.splitlines()]
        assert "output_file" not in data
        assert [(w["code"], w["location"]) for w in envelope["warnings"]] == [(W111, "/models/2")]

    def test_an_output_file_is_named_in_it_and_written(self, tmp_path: Path) -> None:
        target = tmp_path / "lineage.jsonl"
        ran = streamt_ol("--output=json", *EXPORT, "--output-file", target)
        data = json.loads(ran.stdout)["data"]
        assert (data["output_file"], len(data["events"])) == (str(target), 6)
        assert target.read_bytes() == GOLDEN

    @pytest.mark.parametrize(
        ("arguments", "status", "code", "location"),
        [
            (["export", str(DEMO)], 1, "E506_OPENLINEAGE_INVALID", "job_namespace"),
            (["export", "absent.json"], 1, "E501_PARSE_ERROR", "absent.json"),
            (["export", "--nonsense"], 2, "E500_USAGE_ERROR", None),
            (["nonsense"], 2, "E500_USAGE_ERROR", None),
            (["stage", "nonsense"], 2, "E500_USAGE_ERROR", None),
        ],
    )
    def test_so_is_an_error(
        self, arguments: list[str], status: int, code: str, location: str | None
    ) -> None:
        ran = streamt_ol("--output", "json", *arguments)
        assert (ran.returncode, ran.stderr) == (status, b"")
        envelope = json.loads(ran.stdout)
        assert (envelope["status"], envelope["data"], envelope["warnings"]) == ("error", {}, [])
        [error] = envelope["errors"]
        assert (error["code"], error.get("location")) == (code, location)
        assert error["message"]

    @pytest.mark.parametrize("where", [">&-", "> /dev/full"])
    def test_that_cannot_be_written_says_so_on_stderr(self, where: str) -> None:
        arguments = " ".join(map(str, [PROGRAM, "--output", "json", *EXPORT]))
        ran = subprocess.run(
            ["bash", "-c", f"{arguments} {where}"], capture_output=True, env=clean_environment(),
            check=False,
        )  # fmt: skip
        assert ran.returncode == 1
        assert ran.stderr.startswith(b"E506_OPENLINEAGE_INVALID stdout: ")
        assert b"Traceback" not in ran.stderr

    def test_arguments_that_are_not_utf8_are_escaped(self, tmp_path: Path) -> None:
        name = os.fsdecode(b"o\xff")
        ran = streamt_ol("--output", "json", *EXPORT, "--output-file", tmp_path / name)
        assert json.loads(ran.stdout)["data"]["output_file"].endswith("o\\udcff")
        for words in ([name], ["export", "--" + name], ["export", name]):
            ran = streamt_ol("--output", "json", *words)
            assert json.loads(ran.stdout)["status"] == "error"

    def test_a_manifest_whose_name_is_not_utf8_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / os.fsdecode(b"m\xff.json")
        path.write_bytes(DEMO.read_bytes())
        assert streamt_ol("export", path, *NAMESPACE, *KAFKA).stdout == GOLDEN
        assert streamt_ol("stage", "load-manifest", path).returncode == 0


class TestOutputFile:
    def test_is_written_and_confirmed_by_one_line(self, tmp_path: Path) -> None:
        target = tmp_path / "new" / "folders" / "lineage.jsonl"
        ran = streamt_ol(*EXPORT, "--output-file", target, "-q")
        assert target.read_bytes() == GOLDEN
        assert ran.stdout.decode() == f"wrote 6 events (3 datasets, 3 jobs) to {target}\n"
        assert list(target.parent.iterdir()) == [target]

    def test_keeps_the_mode_of_an_existing_target(self, tmp_path: Path) -> None:
        target = tmp_path / "lineage.jsonl"
        target.write_text("old")
        target.chmod(0o640)
        streamt_ol(*EXPORT, "--output-file", target)
        assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (GOLDEN, 0o640)

    def test_replaces_what_a_symlink_points_to_and_not_the_link(self, tmp_path: Path) -> None:
        target, link = tmp_path / "a" / "real.jsonl", tmp_path / "link.jsonl"
        target.parent.mkdir()
        target.write_text("old")
        link.symlink_to("a/real.jsonl")
        streamt_ol(*EXPORT, "--output-file", link)
        assert link.is_symlink()
        assert target.read_bytes() == GOLDEN

    def test_a_failed_export_leaves_an_existing_target_alone(self, tmp_path: Path) -> None:
        target = tmp_path / "lineage.jsonl"
        target.write_text("old")
        ran = streamt_ol("export", DEMO, "--output-file", target)
        assert ran.returncode == 1
        assert (target.read_text(), list(tmp_path.iterdir())) == ("old", [target])

    @pytest.mark.parametrize("kind", ["folder", "file for a parent", "device"])
    def test_what_cannot_be_written_is_an_error_and_leaves_nothing(
        self, tmp_path: Path, kind: str
    ) -> None:
        (tmp_path / "file").write_text("old")
        target = {
            "folder": tmp_path,
            "file for a parent": tmp_path / "file" / "x.jsonl",
            "device": Path("/dev/full"),
        }[kind]
        ran = streamt_ol(*EXPORT, "--output-file", target)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(b"E506_OPENLINEAGE_INVALID output_file: ")
        assert list(tmp_path.iterdir()) == [tmp_path / "file"]

    def test_a_failure_removes_the_folders_that_it_made(self, tmp_path: Path) -> None:
        arguments = " ".join(
            map(str, [PROGRAM, *EXPORT, "--output-file", tmp_path / "a" / "b" / "c"])
        )
        ran = subprocess.run(
            ["bash", "-c", f"ulimit -f 1; trap '' XFSZ; exec {arguments}"],
            capture_output=True, env=clean_environment(PYTHONDONTWRITEBYTECODE="1"), check=False,
        )  # fmt: skip
        assert (ran.returncode, list(tmp_path.iterdir())) == (1, [])

    def test_standard_output_is_written_to_and_not_replaced(self, tmp_path: Path) -> None:
        log, link = tmp_path / "log", tmp_path / "link"
        log.write_text("earlier\n")
        link.symlink_to("/dev/stdout")
        for target in ("/dev/stdout", link, "/proc/self/fd/1"):
            arguments = " ".join(map(str, [PROGRAM, *EXPORT, "-q", "--output-file", target]))
            ran = subprocess.run(
                ["bash", "-c", f"{arguments} >> {log}"], capture_output=True,
                env=clean_environment(), check=False,
            )  # fmt: skip
            assert (ran.returncode, ran.stderr) == (0, b"")
        assert log.read_bytes() == b"earlier\n" + 3 * GOLDEN

    def test_standard_output_as_a_file_is_refused_beside_the_envelope(self) -> None:
        ran = streamt_ol("--output", "json", *EXPORT, "--output-file", "/dev/stdout")
        [error] = json.loads(ran.stdout)["errors"]
        assert (ran.returncode, error["code"]) == (2, "E500_USAGE_ERROR")
        assert error["option"] == "output_file"

    def test_a_device_takes_the_lines(self) -> None:
        ran = streamt_ol(*EXPORT, "-q", "--output-file", "/dev/null")
        assert ran.returncode == 0
        assert ran.stdout.endswith(b" to /dev/null\n")
        assert Path("/dev/null").is_char_device()

    def test_a_disk_that_fills_up_leaves_nothing(self, tmp_path: Path) -> None:
        """A limit on the size of files stands for the full disk."""
        target = tmp_path / "lineage.jsonl"
        target.write_text("old")
        arguments = " ".join(map(str, [PROGRAM, *EXPORT, "--output-file", target]))
        ran = subprocess.run(
            ["bash", "-c", f"ulimit -f 1; trap '' XFSZ; exec {arguments}"],
            capture_output=True,
            env=clean_environment(PYTHONDONTWRITEBYTECODE="1"),
            check=False,
        )
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert b"output_file" in ran.stderr
        assert (target.read_text(), list(tmp_path.iterdir())) == ("old", [target])


class TestPermissions:
    def test_an_unreadable_manifest(self, tmp_path: Path) -> None:
        path = tmp_path / "m.json"
        path.write_bytes(DEMO.read_bytes())
        path.chmod(0)
        ran = run_without_override("export", path, *NAMESPACE, *KAFKA)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.decode().startswith(f"E501_PARSE_ERROR {path}: ")

    @pytest.mark.parametrize("mode", [0o500, 0o300])
    def test_a_folder_that_cannot_be_written_or_synced(self, tmp_path: Path, mode: int) -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "lineage.jsonl").write_text("old")
        folder.chmod(mode)
        ran = run_without_override(*EXPORT, "--output-file", folder / "lineage.jsonl")
        folder.chmod(0o700)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(b"E506_OPENLINEAGE_INVALID output_file: ")
        assert [(p.name, p.read_text()) for p in folder.iterdir()] == [("lineage.jsonl", "old")]


class TestStopping:
    def test_a_closed_pipe_ends_quietly(self, large_manifest: Path) -> None:
        child = subprocess.Popen(
            [PROGRAM, "export", large_manifest, *NAMESPACE, *KAFKA],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(),
        )
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.read(10) == b'{"dataset"'
        child.stdout.close()
        assert child.stderr.read() == b""
        child.stderr.close()
        assert child.wait(60) == 0

    def test_a_full_device_behind_stdout_is_an_error(self) -> None:
        with Path("/dev/full").open("wb") as full:
            ran = subprocess.run(
                [PROGRAM, *EXPORT], stdout=full, stderr=subprocess.PIPE, env=clean_environment(),
                check=False,
            )  # fmt: skip
        assert ran.returncode == 1
        assert ran.stderr.startswith(b"E506_OPENLINEAGE_INVALID stdout: ")
        assert b"Traceback" not in ran.stderr

    @pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
    def test_closed_standard_streams_are_no_traceback(self, closed: str) -> None:
        arguments = " ".join(map(str, [PROGRAM, "export", *NAMESPACE, *KAFKA]))
        with DEMO.open("rb") as demo:
            ran = subprocess.run(
                ["bash", "-c", f"{arguments} {closed}"],
                stdin=demo,
                capture_output=True,
                env=clean_environment(),
                check=False,
            )
        assert b"Traceback" not in ran.stderr
        assert ran.returncode == (0 if closed == "2>&-" else 1)

    @pytest.mark.parametrize("delay", [None, 0.0, 0.05, 0.1, 0.2, 0.4, 0.8])
    @pytest.mark.parametrize(
        ("stop", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
    )
    def test_ctrl_c_and_termination_end_with_their_status_and_leave_nothing(
        self,
        tmp_path: Path,
        large_manifest: Path,
        delay: float | None,
        stop: signal.Signals,
        status: int,
    ) -> None:
        """At any moment: while reading (no delay), or some time after the input has ended."""
        target = tmp_path / "out" / "lineage.jsonl"
        target.parent.mkdir()
        target.write_text("old")
        data = large_manifest.read_bytes()
        child = subprocess.Popen(
            [PROGRAM, "export", "-", *NAMESPACE, *KAFKA, "--output-file", target],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(),
        )
        assert child.stdin is not None
        child.stdin.write(data)  # a pipe is small: nearly all of it must have been read
        if delay is not None:
            child.stdin.close()
            child.stdin = None
            time.sleep(delay)
        child.send_signal(stop)
        out, err = child.communicate(timeout=60)
        assert list(target.parent.iterdir()) == [target]
        assert b"Traceback" not in err
        if delay is None or child.returncode == status:
            assert (child.returncode, out) == (status, b"")
        else:  # it was done before
            assert child.returncode == 0
        whole = target.read_bytes()
        assert whole == b"old" or whole.count(b"\n") == 60_000


class TestUsage:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["export", "--nonsense"],
            ["export", str(DEMO), "second.json"],
            ["nonsense"],
            ["--output", "xml", "export"],
            ["export", str(DEMO), "--stage", "build_facets"],
            ["export", str(DEMO), "--stage", "nonsense=os:getcwd"],
            ["export", str(DEMO), "--stage", "emit=absent_module:f"],
            ["export", str(DEMO), "--stage", "emit=os:absent"],
            ["export", str(DEMO), "--stage", "emit=os:name"],
        ],
    )
    def test_a_wrong_command_line_is_status_2(self, arguments: list[str]) -> None:
        ran = streamt_ol(*arguments)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert ran.stderr
        assert b"Traceback" not in ran.stderr

    def test_no_manifest_on_a_terminal_is_status_2(self, tmp_path: Path) -> None:
        ours, theirs = pty.openpty()
        try:
            ran = subprocess.run(
                [PROGRAM, "export", *NAMESPACE], stdin=theirs, capture_output=True, cwd=tmp_path,
                env=clean_environment(), timeout=60, check=False,
            )  # fmt: skip
        finally:
            os.close(ours)
            os.close(theirs)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert b"terminal" in ran.stderr

    def test_credentials_in_a_wrong_command_line_are_not_repeated(self) -> None:
        for words in ([], ["--output", "json"]):
            ran = streamt_ol(*words, "export", DEMO, "kafka://user:hunter2@host:9092")
            assert ran.returncode == 2
            assert b"hunter2" not in ran.stderr + ran.stdout

    def test_an_empty_argument_is_a_file_that_does_not_exist(self) -> None:
        ran = streamt_ol("export", "", *NAMESPACE, *KAFKA, stdin=DEMO.read_bytes())
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr == (b"E501_PARSE_ERROR: the manifest cannot be read: its name is empty\n")

    def test_help_that_cannot_be_written_is_no_traceback(self) -> None:
        for words, status in (("--help", 1), ("--version", 1), ("export --help", 1)):
            ran = subprocess.run(
                ["bash", "-c", f"{PROGRAM} {words} > /dev/full"], capture_output=True,
                env=clean_environment(), check=False,
            )  # fmt: skip
            assert ran.returncode == status
            assert b"Traceback" not in ran.stderr
        gone = f"{PROGRAM} export --help | true; exit ${{PIPESTATUS[0]}}"
        assert (
            subprocess.run(["bash", "-c", gone], env=clean_environment(), check=False).returncode
            == 0
        )

    def test_help_and_version(self) -> None:
        assert streamt_ol("--version").stdout.startswith(b"streamt-ol 0.")
        for command in ("export", "stage"):
            ran = streamt_ol(command, "--help")
            assert ran.returncode == 0
            assert b"--job-namespace" in ran.stdout
