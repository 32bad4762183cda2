"""The command line as a whole: usage errors, help, completion, signals before any result."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.manifests import FIXTURES

from streamt_ol.cli.commands import COMMANDS, load
from streamt_ol.cli.parameters import declared

DEMO = FIXTURES / "manifests" / "demo.json"
NAMESPACES = ("--job-namespace", "jobs", "--kafka-namespace", "kafka://b.example:9092")


class TestUsageErrors:
    def test_an_output_without_a_form_is_not_told_to_stand_before_the_command(self) -> None:
        ran = streamt_ol("--output")
        assert ran.returncode == 2
        assert ran.stderr.startswith(b"E500_USAGE_ERROR: Option '--output' requires an argument.\n")

    @pytest.mark.parametrize(
        ("arguments", "message", "hint"),
        [
            (["export", "--nope"], "No such option: --nope", "see `streamt-ol export --help`"),
            (["nope"], "No such command 'nope'.", "see `streamt-ol --help`"),
            (["send"], "Missing argument 'EVENTS'.", "see `streamt-ol send --help`"),
            (
                ["export", "m.json", "--output", "json"],
                "the option --output stands before the command",
                "streamt-ol --output json COMMAND",
            ),
            (
                ["validate", "e.jsonl", "--output=json"],
                "the option --output stands before the command",
                "streamt-ol --output json COMMAND",
            ),
            (
                ["export", "m.json", "--env", "dev"],
                "--env chooses an environment of a --project-dir",
                "see `streamt-ol export --help`",
            ),
        ],
    )
    def test_they_have_one_form_in_text_and_in_the_envelope(
        self, arguments: list[str], message: str, hint: str
    ) -> None:
        ran = streamt_ol(*arguments)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert ran.stderr.decode() == f"E500_USAGE_ERROR: {message}\n  hint: {hint}\n"
        ran = streamt_ol("--output", "json", *arguments)
        assert (ran.returncode, ran.stderr) == (2, b"")
        [error] = json.loads(ran.stdout)["errors"]
        assert error == {"code": "E500_USAGE_ERROR", "message": message, "suggestion": hint}

    @pytest.mark.parametrize("name", ["", "stream_project.yml", "stream_project.yaml"])
    @pytest.mark.parametrize(
        ("command", "instead"),
        [
            (["export"], "--project-dir"),
            (["stage", "load-manifest"], "stage compile-project --project-dir"),
        ],
    )
    def test_a_project_in_the_place_of_a_manifest(
        self, tmp_path: Path, name: str, command: list[str], instead: str
    ) -> None:
        ran = streamt_ol("--output", "json", *command, tmp_path / name, *NAMESPACES)
        [error] = json.loads(ran.stdout)["errors"]
        assert (ran.returncode, error["code"]) == (2, "E500_USAGE_ERROR")
        assert error["suggestion"] == f"read the project with {instead} {tmp_path}"

    def test_a_format_that_the_envelope_would_drop_is_refused(self, tmp_path: Path) -> None:
        events = tmp_path / "e.jsonl"
        events.write_bytes((FIXTURES / "manifests" / "demo.expected.jsonl").read_bytes())
        words = ("--output", "json", "validate", events, "--format", "sarif")
        ran = streamt_ol(*words)
        [error] = json.loads(ran.stdout)["errors"]
        assert (ran.returncode, error["code"]) == (2, "E500_USAGE_ERROR")
        report = tmp_path / "report.sarif"
        ran = streamt_ol(*words, "--output-file", report)
        assert ran.returncode == 0
        assert json.loads(ran.stdout)["status"] == "ok"
        assert json.loads(report.read_text())["version"] == "2.1.0"


class TestHelp:
    @pytest.mark.parametrize("command", sorted(COMMANDS))
    def test_a_short_option_prints_it_too(self, command: str) -> None:
        short, long = (streamt_ol(command, option) for option in ("-h", "--help"))
        assert (short.returncode, short.stdout) == (0, long.stdout)
        assert f"Usage: streamt-ol {command}".encode() in short.stdout

    @pytest.mark.parametrize("command", sorted(COMMANDS))
    def test_metavars_are_words(self, command: str) -> None:
        word = r"[A-Z][A-Z-]*"
        for name, one in declared(load(command)[0]).items():
            if "metavar" not in one.settings:  # a flag, or choices that are shown instead
                assert one.kind is bool or one.choices, name
                continue
            bare = re.sub(r"\[-- |-- |[\[\]]|\.\.\.|,|\|", " ", one.settings["metavar"]).strip()
            assert re.fullmatch(rf"{word}([ =]+{word})*|sample schema continuous", bare), name


class TestCompletion:
    def complete(self, line: str) -> list[str]:
        words = line.split(" ")
        environment = {
            "_STREAMT_OL_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        }
        ran = streamt_ol(environment=environment)
        assert (ran.returncode, ran.stderr) == (0, b"")
        return ran.stdout.decode().split()

    def test_commands_and_options(self) -> None:
        assert self.complete("streamt-ol va") == ["validate"]
        assert self.complete("streamt-ol export --kafka") == ["--kafka-namespace"]
        assert self.complete("streamt-ol validate --format s") == ["sarif"]

    def test_it_is_installed_for_the_shell_that_runs(self, tmp_path: Path) -> None:
        ran = subprocess.run(
            ["bash", "-c", f"{PROGRAM} --install-completion; true"], capture_output=True,
            env=clean_environment(HOME=str(tmp_path)), check=False,
        )  # fmt: skip
        assert b"Traceback" not in ran.stderr
        [script] = tmp_path.glob(".bash_completions/*")
        assert "_STREAMT_OL_COMPLETE" in script.read_text()


class TestSignals:
    @pytest.mark.parametrize("command", ["export", "validate", "check", "stage"])
    @pytest.mark.parametrize(
        ("stop", "status"),
        [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
        ids=["INT", "TERM", "HUP"],
    )
    def test_the_envelope_is_printed_once(
        self, command: str, stop: signal.Signals, status: int
    ) -> None:
        words = {
            "export": ["export", "-", *NAMESPACES],
            "validate": ["validate", "-"],
            "check": ["check", "-", "--for", "marquez"],
            "stage": ["stage", "build-facets"],
        }[command]
        child = subprocess.Popen(
            [PROGRAM, "--output", "json", *words], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(),
        )  # fmt: skip
        assert child.stdin is not None
        child.stdin.write(b"{" * 100_000)  # more than a pipe holds: the program is reading
        child.stdin.flush()
        time.sleep(0.1)
        child.send_signal(stop)
        out, err = child.communicate(timeout=60)
        assert (child.returncode, err) == (status, b"")
        envelope = json.loads(out)
        assert envelope["command"] == command
        assert envelope["errors"] == [
            {
                "code": "E508_ENDED_BY_SIGNAL",
                "message": f"the command was ended by {stop.name}",
            }
        ]

    def test_while_the_program_is_loaded(self) -> None:
        for delay in (0.03, 0.06, 0.09, 0.12):
            child = subprocess.Popen(
                [PROGRAM, "--output", "json", "export", "-", *NAMESPACES],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=clean_environment(),
            )  # fmt: skip
            time.sleep(delay)
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=60)
            of_python = (b"site", b"Fatal Python error", b"Exception ignored")
            if child.returncode < 0 or any(words in err for words in of_python):
                continue  # the interpreter itself was not yet there, or was importing
            assert child.returncode == 130
            assert json.loads(out)["status"] == "error"

    def test_a_closed_terminal_leaves_nothing(self, tmp_path: Path) -> None:
        os.mkfifo(fifo := tmp_path / "fifo")
        folder = tmp_path / "out"
        script = f"{PROGRAM} export {fifo} {' '.join(NAMESPACES)} --output-file {folder}/x.jsonl"
        ours, theirs = os.openpty()
        child = subprocess.Popen(
            ["setsid", "--ctty", "bash", "-c", f"exec {script}"], stdin=theirs, stdout=theirs,
            stderr=theirs, env=clean_environment(),
        )  # fmt: skip
        os.close(theirs)
        with fifo.open("wb"):  # the program has opened it, and waits
            os.close(ours)
            assert child.wait(60) == 129
        assert [p.name for p in tmp_path.iterdir()] == ["fifo"]

    def test_what_is_started_by_nohup_goes_on(self, tmp_path: Path) -> None:
        os.mkfifo(fifo := tmp_path / "fifo")
        target = tmp_path / "x.jsonl"
        words = ["export", str(fifo), *NAMESPACES, "--output-file", str(target), "-q"]
        child = subprocess.Popen(
            ["nohup", PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=clean_environment(),
        )  # fmt: skip
        with fifo.open("wb") as writer:
            child.send_signal(signal.SIGHUP)
            writer.write(DEMO.read_bytes())
        assert child.wait(60) == 0
        assert target.exists()
