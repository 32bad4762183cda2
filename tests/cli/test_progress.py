"""The line of progress: on a real terminal only, and only after two seconds."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment
from support.delivery.servers import Server
from support.manifests import FIXTURES
from support.terminal import stderr_on_a_terminal

from streamt_ol.cli.progress import ByteCount, EventCount

EVENTS = FIXTURES / "manifests" / "demo.expected.jsonl"
SCRIPT = """
import sys, time
from streamt_ol.cli.progress import elapsed
with elapsed("reading the project") as line:
    time.sleep(float(sys.argv[1]))
    if len(sys.argv) > 2: line.say("a warning")
    time.sleep(float(sys.argv[1]) / 8)
"""


def on_a_terminal(*arguments: str, columns: int = 60) -> bytes:
    """Return what the script writes to a terminal on its stderr."""
    command = [sys.executable, "-c", SCRIPT, *arguments]
    shown, status = stderr_on_a_terminal(command, columns)
    assert status == 0
    return shown


def test_it_comes_after_two_seconds_and_is_taken_away() -> None:
    shown = on_a_terminal("2.6")
    assert shown.startswith(b"\r\x1b[Kreading the project, 2 s\r\x1b[K")
    assert shown.endswith(b"\r\x1b[K")


def test_short_work_shows_nothing() -> None:
    assert on_a_terminal("0.2") == b""


def test_another_line_takes_its_place() -> None:
    shown = on_a_terminal("2.6", "say")
    assert b"\r\x1b[Ka warning\r\n\r\x1b[Kreading" in shown


def test_it_is_never_wider_than_the_terminal() -> None:
    assert on_a_terminal("2.4", columns=12).startswith(b"\r\x1b[Kreading the\r\x1b[K")


def test_nothing_is_shown_in_a_pipe() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, "2.4"], capture_output=True, env=clean_environment(),
        check=True,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == (b"", b"")


@pytest.mark.parametrize(
    ("total", "text"),
    [
        (200_000_000, " 25% of 200 MB, 20,000 events/s, 6 s left"),
        (None, "50 MB, 20,000 events/s"),
    ],
)
def test_bytes_speed_and_time_left(total: int | None, text: str) -> None:
    count = ByteCount(total)
    count.show(50_000_000, 40_000)
    assert count.text(2.0) == text


def test_events_of_all() -> None:
    count = EventCount()
    assert count.text(3.0) == "reading the events, 3 s"
    count.total = 10
    for _ in range(5):
        count.tick()
    assert count.text(2.5) == f"[{'#' * 15}{'.' * 15}] 5/10  50% 2/s, 2 s"


@pytest.mark.parametrize(
    "command",
    [
        ["export"],
        ["validate"],
        ["check", "--for", "file"],
        ["stage", "load-manifest"],
        ["graph"],
        ["diff", str(EVENTS)],
        ["send", "--to", "file", "--path", "/dev/null/none", "--dry-run"],
    ],
    ids=lambda words: words[0],
)
def test_a_command_that_waits_for_its_input_says_so(command: list[str], tmp_path: Path) -> None:
    os.mkfifo(fifo := tmp_path / "fifo")
    terminal, theirs = pty.openpty()
    child = subprocess.Popen(
        [PROGRAM, *command, str(fifo)], stdout=subprocess.DEVNULL, stderr=theirs,
        env=clean_environment(OPENLINEAGE_NAMESPACE="jobs"),
    )  # fmt: skip
    os.close(theirs)
    shown = os.read(terminal, 65536)
    fifo.write_bytes(b"")
    child.wait(60)
    os.close(terminal)
    assert shown.startswith(b"\r\x1b[Kwaiting for a writer of ")


@pytest.mark.parametrize(
    ("command", "variable"),
    [
        (["send", "{events}", "--to", "marquez", "--url", "https://127.0.0.1:1",
          "--ca-file"], None),
        (["send", "{events}", "--to", "kafka", "--bootstrap", "127.0.0.1:1", "--topic", "t",
          "--kafka-config"], None),
        (["send", "{events}", "--to", "openmetadata", "--url", "http://127.0.0.1:1",
          "--namespace-map"], None),
        (["forward", "--bootstrap", "127.0.0.1:1", "--topic", "t", "--group", "g",
          "--to", "marquez", "--url", "http://127.0.0.1:1", "--kafka-config"], None),
        (["check", "{events}", "--for", "openmetadata", "--namespace-map"], None),
        (["send", "{events}", "--to", "config"], "OPENLINEAGE_CONFIG"),
        (["run", "--job-name", "j", "--", "true"], "OPENLINEAGE_CONFIG"),
        (["test", "--streamt", "true", "--emit-openlineage", "--manifest"], None),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else words,
)  # fmt: skip
def test_a_command_that_waits_for_its_settings_says_so(
    command: list[str], variable: str | None, tmp_path: Path
) -> None:
    os.mkfifo(fifo := tmp_path / "fifo")
    words = [word.format(events=EVENTS) for word in command]
    environment = clean_environment(OPENLINEAGE_NAMESPACE="jobs")
    if variable is None:
        words.append(str(fifo))
    else:
        environment[variable] = str(fifo)
    terminal, theirs = pty.openpty()
    child = subprocess.Popen(
        [PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
        env=environment,
    )  # fmt: skip
    os.close(theirs)
    shown = os.read(terminal, 65536)
    child.kill()
    child.wait(60)
    os.close(terminal)
    assert shown.startswith(b"\r\x1b[Kwaiting for a writer of ")


def test_settings_are_read_once_and_so_from_a_pipe(tmp_path: Path) -> None:
    target = tmp_path / "events"
    settings = f'{{"transport": {{"type": "file", "log_file_path": "{target}"}}}}'
    ran = subprocess.run(
        ["bash", "-c", 'OPENLINEAGE_CONFIG=<(echo "$1") exec "$0" run --job-name j -- true',
         PROGRAM, settings],
        capture_output=True, env=clean_environment(OPENLINEAGE_NAMESPACE="jobs"), timeout=60,
        check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert len(target.read_bytes().splitlines()) == 2


def test_an_interrupted_delivery_says_what_it_waits_for(tmp_path: Path) -> None:
    with Server(tmp_path, {"kind": "hang", "seconds": 60}) as server:
        terminal, theirs = pty.openpty()
        child = subprocess.Popen(
            [PROGRAM, "send", EVENTS, "--to", "marquez", "--url", server.url, "--timeout", "50"],
            stdout=subprocess.DEVNULL, stderr=theirs, env=clean_environment(),
        )  # fmt: skip
        os.close(theirs)
        os.read(terminal, 65536)  # the first line of progress: it is at work
        child.send_signal(signal.SIGINT)
        shown = b""
        while b"finishing what is on its way; Ctrl-C again ends that" not in shown:
            shown += os.read(terminal, 65536)
        child.send_signal(signal.SIGINT)
        child.wait(60)
        os.close(terminal)
    assert child.returncode == 130
