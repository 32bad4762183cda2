"""Calling back when a file may have changed, by file events and by polling."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.commands import clean_environment
from support.streamt.place import wait_for
from watchdog.observers.api import EventEmitter

from streamt_ol.runs import watch

LONG = 600.0  # seconds


@pytest.fixture
def events_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let file events begin at once, and nothing but them tell of a change."""
    monkeypatch.setattr(watch, "AT_FIRST", 0)
    monkeypatch.setattr(watch, "POLL_BESIDE_EVENTS", LONG)


class Seen:
    """The content of the file at the last call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._called = threading.Condition()
        self._last: str | None = None

    def __call__(self) -> bool:
        with self._called:
            self._last = self._path.read_text() if self._path.exists() else None
            self._called.notify_all()
        return True

    def wait(self, text: str | None) -> bool:
        with self._called:
            return self._called.wait_for(lambda: self._last == text, 30)


def replace(path: Path, text: str) -> None:
    path.with_name("new").write_text(text)
    path.with_name("new").replace(path)


def has_events(folder: Path) -> bool:
    """Tell whether watchdog has a thread for the events of ``folder``."""
    return any(
        isinstance(thread, EventEmitter) and thread.watch.path == str(folder)
        for thread in threading.enumerate()
    )


@pytest.mark.usefixtures("events_alone")
class TestFileEvents:
    def test_each_change_of_the_file_is_seen(self, tmp_path: Path) -> None:
        path = tmp_path / "marker"
        seen = Seen(path)
        with watch.watching(path, seen):
            wait_for(lambda: has_events(tmp_path))
            for text in ("one", "two", "three"):
                replace(path, text)
                assert seen.wait(text)
            path.unlink()
            assert seen.wait(None)

    def test_a_folder_that_appears_is_watched(self, tmp_path: Path) -> None:
        path = tmp_path / "project" / "state" / "marker"
        seen = Seen(path)
        with watch.watching(path, seen):
            wait_for(lambda: has_events(tmp_path))
            path.parent.mkdir(parents=True)
            wait_for(lambda: has_events(path.parent))
            for text in ("one", "two", "three"):
                replace(path, text)
                assert seen.wait(text)

    def test_the_end_of_the_body_waits_for_nothing(self, tmp_path: Path) -> None:
        before = threading.active_count()
        with watch.watching(tmp_path / "marker", lambda: True):
            wait_for(lambda: has_events(tmp_path))
        assert threading.active_count() == before


def printed(code: str, *words: str) -> tuple[str, str]:
    line = [sys.executable, "-c", code, *words]
    done = subprocess.run(
        line, capture_output=True, text=True, env=clean_environment(), check=True, timeout=60
    )
    return done.stdout, done.stderr


def test_a_short_body_needs_no_watchdog(tmp_path: Path) -> None:
    """Its import takes longer than the body, and the child would inherit its descriptors."""
    code = (
        "import pathlib, sys, threading; from streamt_ol.runs import watch\n"
        f"watch.AT_FIRST = {LONG}\n"
        "looked = threading.Event()\n"
        "with watch.watching(pathlib.Path(sys.argv[1]), lambda: looked.set()):\n"
        "    looked.wait()\n"
        "print('watchdog' in sys.modules)"
    )
    assert printed(code, str(tmp_path / "marker")) == ("False\n", "")


def test_what_watchdog_logs_is_not_on_stderr(tmp_path: Path) -> None:
    """It logs an error where an event comes while it is stopped."""
    code = (
        "import logging, pathlib, sys, time; from streamt_ol.runs import watch\n"
        "watch.AT_FIRST = 0\n"
        "with watch.watching(pathlib.Path(sys.argv[1]), lambda: True):\n"
        "    while 'watchdog.observers' not in sys.modules: time.sleep(0.001)\n"
        "logging.getLogger('watchdog.observers.inotify').error('inactive')"
    )
    assert printed(code, str(tmp_path / "marker")) == ("", "")
