"""The command line called from another program: nothing of that program is changed."""

from __future__ import annotations

import gc
import os
import signal
import threading
from pathlib import Path

import pytest
from support.manifests import FIXTURES

from streamt_ol.__main__ import main
from streamt_ol.cli.app import run
from streamt_ol.cli.exits import leave

EXPORT = [
    "export", str(FIXTURES / "manifests" / "demo.json"), "--job-namespace", "n",
    "--kafka-namespace", "kafka://b:1", "-q",
]  # fmt: skip


def test_the_collector_and_the_umask_are_left_as_they_were(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        assert run([*EXPORT, "--output-file", str(tmp_path / "x.jsonl")]) == 0
        assert (tmp_path / "x.jsonl").stat().st_mode & 0o777 == 0o640
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert gc.isenabled()


def test_it_runs_in_a_thread(tmp_path: Path) -> None:
    statuses: list[int] = []
    target = str(tmp_path / "x.jsonl")
    thread = threading.Thread(
        target=lambda: statuses.append(run([*EXPORT, "--output-file", target]))
    )
    thread.start()
    thread.join(60)
    assert statuses == [0]


def test_the_entry_point_runs_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["streamt-ol", "--version"])
    ended: list[object] = []

    def target() -> None:
        try:
            main()
        except SystemExit as leaving:
            ended.append(leaving.code)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join(60)
    assert ended == [0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_killed_a_command_kills_no_host(number: int) -> None:
    ended: list[object] = []

    def target() -> None:
        try:
            leave(-number)
        except SystemExit as leaving:
            ended.append(leaving.code)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join(60)
    assert ended == [128 + number]
