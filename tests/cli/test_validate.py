"""`streamt-ol validate` as a user runs it."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path
from random import Random

import psutil
import pytest
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.openlineage_events import dataset_event, job_event, mutated, random_event, run_event
from support.streamt.place import wait_for

from streamt_ol.lineage.rendering import RENDERERS
from streamt_ol.lineage.rendering.diff import REPORTERS as DIFFERENCES
from streamt_ol.lineage.rendering.style import DIRECTIONS
from streamt_ol.scale.engines import ENGINES
from streamt_ol.validation.report import REPORTERS
from streamt_ol.validation.rules import RULES

CASES = Path(__file__).parents[1] / "validation" / "cases"


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """A file with one good event, a blank name, an event without eventType, and rubbish."""
    blank = job_event()
    blank["job"]["name"] = " "
    untyped = {**run_event(None), "producer": "https://example.com/p"}
    lines = [json.dumps(one) for one in (dataset_event(), blank, untyped)]
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join([*lines, "", "rubbish"]) + "\n")
    return path


def test_text_names_place_severity_rule_and_pointer_and_counts(events: Path) -> None:
    ran = streamt_ol("validate", events)
    assert ran.returncode == 1
    assert ran.stderr == b""
    lines = ran.stdout.decode().splitlines()
    assert lines[0] == f"{events}:2: error OL-R012 /job/name: expected a name, found the blank ' '"
    assert lines[1] == f"{events}:3: warning OL-R019 /eventType: a RunEvent without an eventType"
    assert lines[-1].startswith(
        "not valid: 4 events (1 DatasetEvent, 1 JobEvent, 1 RunEvent, 1 other) in 1 input, "
        "1 blank line: 2 errors, 3 warnings, 0 notes (OL-R002 1, OL-R012 1, "
    )


def test_exit_status_is_0_for_warnings_and_1_with_strict(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps({**run_event(), "producer": "https://example.com/p"}))
    assert streamt_ol("validate", path).returncode == 0
    ran = streamt_ol("validate", path, "--strict")
    assert ran.returncode == 1
    assert b": error OL-R037 /run/runId: " in ran.stdout


def test_an_ignored_rule_is_silent_and_an_unknown_one_an_error(events: Path) -> None:
    ran = streamt_ol("validate", events, "--ignore", "OL-R012", "--ignore", "OL-R056")
    assert b"OL-R012" not in ran.stdout
    assert b"2 errors" not in ran.stdout
    # The name breaks another rule too, which is told where this one is switched off.
    ran = streamt_ol("validate", events, "--ignore", "OL-R012")
    assert b":2: error OL-R056 /job/name: " in ran.stdout
    assert streamt_ol("validate", events, "--ignore", "OL-R999").returncode == 2


def test_standard_input_is_read_with_a_dash_or_with_nothing(events: Path) -> None:
    content = events.read_bytes()
    for arguments in (["-"], []):
        ran = streamt_ol("validate", *arguments, stdin=gzip.compress(content))
        assert ran.returncode == 1
        assert ran.stdout.startswith(b"<stdin>:2: error OL-R012 /job/name: ")
    assert streamt_ol("validate", "-", "-").returncode == 2


def test_a_named_pipe_is_read_like_a_file(events: Path) -> None:
    command = f"{PROGRAM} validate <(cat {events}) {events} | tail -1"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert b"8 events" in ran.stdout
    assert b"in 2 inputs" in ran.stdout


def test_empty_input_is_valid_with_a_note() -> None:
    ran = streamt_ol("validate", stdin=b"")
    assert ran.returncode == 0
    assert ran.stdout.startswith(b"<stdin>:1: note OL-R009: ")


@pytest.mark.parametrize("name", ["missing.jsonl", "a\x1b31mb"])
def test_an_input_that_cannot_be_read_is_one_clear_error(name: str, tmp_path: Path) -> None:
    ran = streamt_ol("validate", name, cwd=tmp_path)
    assert ran.returncode == 1
    assert b":1: error OL-R061: E501_PARSE_ERROR: the input cannot be read: " in ran.stdout
    assert b"\x1b" not in ran.stdout
    assert ran.stderr.startswith(b"E501_PARSE_ERROR ")
    assert b"Traceback" not in ran.stderr
    assert b"\x1b" not in ran.stderr


def test_one_unreadable_input_does_not_cost_the_report_on_the_others(events: Path) -> None:
    missing = events.parent / "missing.jsonl"
    for name in REPORTERS:
        ran = streamt_ol("validate", missing, events, "-f", name)
        assert ran.returncode == 1, name
        for part in (b"missing.jsonl", b"OL-R061", b"E501_PARSE_ERROR", b"OL-R012"):
            assert part in ran.stdout, (name, part)
    envelope = json.loads(streamt_ol("validate", missing, events, "-f", "json").stdout)
    assert [one["code"] for one in envelope["errors"]] == [
        "E501_PARSE_ERROR",
        "E506_OPENLINEAGE_INVALID",
    ]
    assert envelope["errors"][0]["location"] == str(missing)
    assert envelope["data"]["files"] == [str(missing), str(events)]
    assert envelope["data"]["events"] == 4


def test_an_unreadable_input_is_an_error_whatever_is_ignored_or_shown(tmp_path: Path) -> None:
    for more in (["--ignore", "OL-R061"], ["--max-problems", "0"]):
        ran = streamt_ol("validate", "missing.jsonl", *more, cwd=tmp_path)
        assert ran.returncode == 1
        assert ran.stderr.startswith(b"E501_PARSE_ERROR missing.jsonl: ")


def test_the_report_never_replaces_an_input(events: Path) -> None:
    before = events.read_bytes()
    link, hard = events.with_name("link"), events.with_name("hard")
    link.symlink_to(events)
    hard.hardlink_to(events)
    for target in (events, link, hard, events.parent / "." / "x" / ".." / events.name):
        (events.parent / "x").mkdir(exist_ok=True)
        ran = streamt_ol("validate", events, "--output-file", target)
        assert (ran.returncode, ran.stdout) == (2, b""), target
        assert ran.stderr.startswith(b"E500_USAGE_ERROR --output-file: ")
    with events.open("rb") as stream:
        ran = subprocess.run(
            [PROGRAM, "validate", "-", "--output-file", events],
            stdin=stream, capture_output=True, check=False,
        )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert events.read_bytes() == before


@pytest.mark.parametrize(
    ("command", "option", "table"),
    [
        ("validate", "--format", REPORTERS),
        ("validate", "--engine", ENGINES),
        ("graph", "--format", RENDERERS),
        ("graph", "--direction", DIRECTIONS),
        ("diff", "--format", DIFFERENCES),
    ],
)
def test_the_choices_of_an_option_are_the_keys_of_its_table(
    command: str, option: str, table: Iterable[str]
) -> None:
    shown = streamt_ol(command, "--help", environment={"COLUMNS": "200", "TERM": "dumb"})
    assert f"<{'|'.join(table)}>" in shown.stdout.decode()
    ran = streamt_ol(command, option, "x", "a", "b")
    assert ran.returncode == 2
    assert f"'x' is not one of {', '.join(map(repr, table))}" in ran.stderr.decode()


def test_json_is_one_envelope(events: Path) -> None:
    lines: tuple[list[str | Path], ...] = (
        ["validate", events, "--format", "json"],
        ["--output", "json", "validate", events],
    )
    for arguments in lines:
        ran = streamt_ol(*arguments)
        envelope = json.loads(ran.stdout)
        assert ran.returncode == 1
        assert (envelope["status"], envelope["command"]) == ("error", "validate")
        assert envelope["errors"][0]["code"] == "E506_OPENLINEAGE_INVALID"
        assert envelope["data"]["severities"] == {"error": 2, "warning": 3, "note": 0}
        assert envelope["data"]["problems"][0] == {
            "file": str(events), "line": 2, "severity": "error", "rule": "OL-R012",
            "pointer": "/job/name", "message": "expected a name, found the blank ' '",
        }  # fmt: skip
    ran = streamt_ol("--output", "json", "validate", events.parent / "none")
    assert json.loads(ran.stdout)["errors"][0]["code"] == "E501_PARSE_ERROR"


def test_jsonl_is_one_problem_a_line(events: Path) -> None:
    ran = streamt_ol("validate", events, "-f", "jsonl")
    problems = [json.loads(one) for one in ran.stdout.splitlines()]
    assert [one["rule"] for one in problems][:2] == ["OL-R012", "OL-R019"]
    assert len(problems) == 5


def test_sarif_has_the_rules_and_the_results(events: Path) -> None:
    log = json.loads(streamt_ol("validate", events, "-f", "sarif").stdout)
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(RULES)
    first = run["results"][0]
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"] == "OL-R012"
    assert first["level"] == "error"
    (location,) = first["locations"]
    assert location["physicalLocation"]["region"] == {"startLine": 2}
    assert location["logicalLocations"] == [{"fullyQualifiedName": "/job/name"}]


def test_junit_is_xml_with_a_failure_for_each_error(events: Path, tmp_path: Path) -> None:
    good = tmp_path / "good & <fine>.jsonl"
    good.write_text(json.dumps(dataset_event("other")))
    root = ET.fromstring(streamt_ol("validate", events, good, "-f", "junit").stdout)
    suites = {suite.get("name"): suite for suite in root}
    assert suites[str(events)].get("failures") == "2"
    assert len(suites[str(events)].findall("testcase/failure")) == 2
    assert [case.get("name") for case in suites[str(good)]] == ["events"]


def test_github_commands_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "a,b:c%.jsonl"
    path.write_text("{}")
    ran = streamt_ol("validate", path.name, "-f", "github", cwd=tmp_path)
    first = ran.stdout.decode().splitlines()[0]
    assert first.startswith("::error file=a%2Cb%3Ac%25.jsonl,line=1,title=OL-R010::expected run")


def test_a_report_can_go_to_a_file(events: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.sarif"
    ran = streamt_ol("validate", events, "-f", "sarif", "--output-file", target)
    assert ran.returncode == 1
    assert json.loads(target.read_text())["version"] == "2.1.0"
    assert ran.stdout.decode().endswith(f"; report in {target}\n")
    ran = streamt_ol("validate", events, "--output-file", tmp_path / "events.jsonl" / "x")
    assert (ran.returncode, ran.stdout) == (1, b"")
    target = tmp_path / "events.jsonl" / "x"
    expected = f"E506_OPENLINEAGE_INVALID output_file: cannot write to {target}: Not a directory\n"
    assert ran.stderr.decode() == expected


def test_every_rule_is_listed_on_one_line() -> None:
    lines = streamt_ol("validate", "--list-rules").stdout.decode().splitlines()
    assert [one.split()[0] for one in lines] == list(RULES)
    data = json.loads(streamt_ol("--output", "json", "validate", "--list-rules").stdout)["data"]
    assert data["rules"]["OL-R012"]["severity"] == "error"


def test_max_problems_shows_the_first_and_counts_all(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text("{}\n" * 250)
    lines = streamt_ol("validate", path, "--max-problems", "3").stdout.decode().splitlines()
    assert [one.split(":")[1] for one in lines[:3]] == ["1", "2", "3"]
    assert lines[3] == "... and 247 more, counted below (--max-problems shows more)"
    assert "250 errors" in lines[4]
    assert len(streamt_ol("validate", path).stdout.splitlines()) == 102


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """A file of an event, its 149 copies (a note each), and one with a blank name at the end."""
    bad = {**job_event(), "producer": "https://example.com/p"}
    bad["job"] = {**bad["job"], "name": " "}
    good = {**dataset_event(), "producer": "https://example.com/p"}
    path = tmp_path / "crowded.jsonl"
    path.write_text(f"{json.dumps(good)}\n" * 150 + json.dumps(bad))
    return path


def test_notes_do_not_push_errors_out_of_the_report(crowded: Path) -> None:
    lines = streamt_ol("validate", crowded, "--max-problems", "3").stdout.decode().splitlines()
    assert [one.split(":")[1] for one in lines[:3]] == ["2", "3", "151"]
    assert " error OL-R012 " in lines[2]
    assert lines[3].startswith("... and 147 more")


def test_every_format_has_the_error_and_says_what_it_hides(crowded: Path) -> None:
    outputs = {}
    for name in REPORTERS:
        ran = streamt_ol("validate", crowded, "-f", name)
        assert (ran.returncode, b"OL-R012" in ran.stdout) == (1, True), name
        outputs[name] = ran.stdout
    assert json.loads(outputs["json"])["data"]["hidden"] == 50
    assert json.loads(outputs["jsonl"].splitlines()[-1]) == {"hidden": 50}
    (run,) = json.loads(outputs["sarif"])["runs"]
    assert run["properties"]["hidden"] == 50
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"].startswith("50 more problems")
    assert b"\n::notice title=streamt-ol validate::... and 50 more" in outputs["github"]


def test_junit_counts_what_it_does_not_show(crowded: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text("{}\n" * 7)
    ran = streamt_ol("validate", crowded, other, "-f", "junit", "--max-problems", "2")
    first, second = ET.fromstring(ran.stdout)
    assert (first.get("failures"), first.get("tests")) == ("1", "150")
    assert (second.get("failures"), second.get("tests")) == ("7", "7")
    assert "6 more" in (second.findtext("system-out") or "")


SECRETS = ["hunter2hunter2", "AKIAABCDEFGHIJKLMNOP", "eyJhbGciOiJIUzI1NiJ9.e30.abc"]


@pytest.mark.parametrize("secret", SECRETS)
def test_no_format_shows_secrets_or_control_characters(secret: str, tmp_path: Path) -> None:
    event = dataset_event()
    event["producer"] = f"https://user:{secret}@example.com/ \x1b[31m"
    event["dataset"]["namespace"] = f"kafka://u:{secret}@b:1"
    event["eventTime"] = f"password={secret}\n\x00"
    event["dataset"]["facets"][f"token={secret}"] = {
        "_producer": f"Bearer {secret}",
        "_schemaURL": 1,
    }
    path = tmp_path / "events.jsonl"
    path.write_text(
        json.dumps(event)
        + '\n{"a": 1, "password='
        + secret
        + '": 1, "password='
        + secret
        + '": 2}\n'
    )
    for name in REPORTERS:
        ran = streamt_ol("validate", path, "-f", name)
        assert ran.returncode == 1
        assert secret.encode() not in ran.stdout, name
        assert b"\x1b" not in ran.stdout
        assert b"\x00" not in ran.stdout


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 50 MB with a few faults, runs that cross its parts, and repeated lines."""
    random = Random(7)
    lines = []
    for number in range(400):
        event = random_event(random)
        lines.append(json.dumps(mutated(random, event) if number % 40 == 0 else event))
    path = tmp_path_factory.mktemp("archive") / "archive.jsonl"
    padding = json.dumps({**dataset_event(), "producer": "https://example.com/" + "x" * 7000})
    with path.open("w") as file:
        for number in range(7000):
            file.write(padding.replace("orders.v1", f"t{number}") + "\n")
            if number % 20 == 0:
                file.write(lines[number // 20] + "\n")
    return path


def test_processes_give_the_same_report(archive: Path) -> None:
    reports = []
    for jobs in ("1", "2", "3"):
        ran = streamt_ol("validate", archive, archive, archive, "--jobs", jobs, "-f", "json")
        reports.append(json.loads(ran.stdout))
    assert reports[0] == reports[1] == reports[2]
    assert reports[0]["data"]["events"] == 3 * 7350
    assert reports[0]["data"]["rules"]["OL-R035"] > 14_000


def test_memory_does_not_grow_with_the_length_of_the_input(archive: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.jsonl"
    with archive.open("rb") as file:
        small.write_bytes(b"".join(file.readline() for _ in range(300)))
    peaks = [peak_memory(path) for path in (small, archive)]
    assert peaks[1] - peaks[0] < 20_000


def peak_memory(path: Path) -> int:
    """Return the peak memory of a run in kB, children included."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    arguments = [sys.executable, "-c", code, PROGRAM, "validate", str(path), "--jobs", "1"]
    return int(subprocess.run(arguments, capture_output=True, check=True).stdout)


def test_an_interrupt_of_a_pipe_ends_with_130(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    started = subprocess.Popen(
        [PROGRAM, "validate", str(pipe)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=clean_environment(), start_new_session=True,
    )  # fmt: skip
    line = json.dumps(dataset_event("t" * 4000)).encode() + b"\n"
    with pipe.open("wb") as feed:
        for _ in range(100):
            feed.write(line)
        feed.flush()
        time.sleep(1)  # it waits for more
        os.killpg(started.pid, signal.SIGINT)
        out, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert (out, err) == (b"", b"")
    assert is_gone(started.pid)


def test_an_interrupt_while_a_burst_is_copied_is_not_lost() -> None:
    """Within one long read of a pipe a signal between two system calls waited for more to come."""
    burst = (json.dumps(dataset_event("t" * 500)).encode() + b"\n") * 64
    lost = 0
    for attempt in range(12):
        with subprocess.Popen(
            [PROGRAM, "validate", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=clean_environment(),
        ) as started:  # fmt: skip
            assert started.stdin is not None
            time.sleep(0.5)  # it waits for the first event
            started.stdin.write(burst[:60_000])
            started.stdin.flush()
            until = time.perf_counter() + attempt * 5e-6
            while time.perf_counter() < until:
                pass
            started.send_signal(signal.SIGINT)
            try:
                assert started.wait(3) in {130, -signal.SIGINT}
            except subprocess.TimeoutExpired:
                lost += 1
                started.kill()
    assert lost <= 2, f"{lost} of 12"  # a read may begin in the very moment


def test_an_interrupt_of_processes_ends_with_130_and_leaves_none(archive: Path) -> None:
    started = subprocess.Popen(
        [PROGRAM, "validate", *[str(archive)] * 20, "--jobs", "2", "--split-bytes", "4M"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(),
        start_new_session=True,
    )  # fmt: skip
    main = psutil.Process(started.pid)
    wait_for(lambda: len(main.children(recursive=True)) >= 2)
    os.killpg(started.pid, signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert (out, err) == (b"", b"")
    assert is_gone(started.pid)


def is_gone(group: int) -> bool:
    """Tell whether no process of a group is left, within the seconds that helpers need to end."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_a_closed_pipe_ends_quietly(events: Path) -> None:
    command = f"{PROGRAM} validate {events} -f sarif | head -c 1"
    ran = subprocess.run(
        ["bash", "-c", command], capture_output=True, env=clean_environment(), check=False
    )
    assert (ran.stdout, ran.stderr) == (b"{", b"")


def test_a_full_disk_is_one_clear_error(events: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [PROGRAM, "validate", str(events)], stdout=full, stderr=subprocess.PIPE,
            env=clean_environment(), check=False,
        )  # fmt: skip
    assert ran.returncode == 1
    assert ran.stderr.startswith(b"E506_OPENLINEAGE_INVALID stdout: cannot write")


def test_colour_and_progress_are_for_terminals_only(events: Path) -> None:
    script = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
    arguments = [sys.executable, "-c", script, PROGRAM, "validate", str(events)]
    terminal = {"TERM": "xterm", "NO_COLOR": ""}
    ran = subprocess.run(
        arguments, capture_output=True, env=clean_environment(**terminal), check=False
    )
    assert b"\x1b[31merror\x1b[0m OL-R012" in ran.stdout
    ran = subprocess.run(
        arguments,
        capture_output=True,
        env=clean_environment(TERM="xterm", NO_COLOR="1"),
        check=False,
    )
    assert b"\x1b" not in ran.stdout
    assert b"\x1b" not in streamt_ol("validate", events, environment=terminal).stdout


def test_validation_opens_no_socket_and_needs_no_jsonschema_for_valid_input(tmp_path: Path) -> None:
    path = tmp_path / "good.jsonl"
    path.write_text(json.dumps(dataset_event()) + "\n")
    code = """
import socket, sys
def refuse(*arguments, **options): raise AssertionError("a socket")
socket.socket.__init__ = refuse
socket.create_connection = refuse
from streamt_ol.cli.app import run
first = run(["validate", sys.argv[1]])
assert first == 0 and "jsonschema" not in sys.modules and "referencing" not in sys.modules
sys.exit(run(["validate", sys.argv[2]]))
"""
    bad = CASES / "negative" / "OL-R021__dataset-facet-schema-broken.jsonl"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(path), str(bad)], capture_output=True, check=False
    )
    assert ran.returncode == 1, ran.stderr
    assert b"OL-R021" in ran.stdout


ROOT = Path(__file__).parents[1].parent


def test_the_hook_and_the_action_call_the_command_with_options_that_exist() -> None:
    help_text = streamt_ol("validate", "--help").stdout.decode()
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    action = (ROOT / "action.yml").read_text("utf-8")
    assert "entry: streamt-ol validate\n" in hook
    options = set(re.findall(r"(--[a-z-]+)(?= \"|\))", action.partition("Validate\n")[2]))
    assert options == {"--format", "--output-file", "--strict", "--ignore"}
    assert all(option in help_text for option in options)
