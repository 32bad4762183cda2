"""The file transport: lines on the disk, or a failure."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from streamt_ol.problems import StreamtOlError
from streamt_ol.transport.base import DeliveryError
from streamt_ol.transport.file import FileTransport

if TYPE_CHECKING:
    from pathlib import Path


def open_file(path: Path) -> FileTransport:
    return FileTransport(str(path))


def test_events_are_appended_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    for event in (b'{"a": "\xc3\xa4"}', b'{"b":2}'):
        with open_file(path) as transport:
            transport.emit(event)
    assert path.read_bytes() == b'{"a": "\xc3\xa4"}\n{"b":2}\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_mode_of_an_existing_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"")
    path.chmod(0o640)
    with open_file(path) as transport:
        transport.emit(b"{}")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_torn_line_is_ended_first(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"torn')
    with open_file(path) as transport:
        transport.emit(b"{}")
        transport.emit(b"{}")
    assert path.read_bytes() == b'{"torn\n{}\n{}\n'


@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "fifo", "device", "no folder"])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "events.jsonl"
    if kind == "link":
        (tmp_path / "target").write_bytes(b"")
        path.symlink_to("target")
    elif kind == "dangling link":
        path.symlink_to("target")
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path = path.__class__("/dev/full")
    else:
        path = tmp_path / "absent" / "events.jsonl"
    with pytest.raises(StreamtOlError) as caught:
        open_file(path)
    assert caught.value.location == "transport.log_file_path"
    if "link" in kind:
        assert not (tmp_path / "target").exists() or (tmp_path / "target").read_bytes() == b""


def test_a_full_disk_is_a_failure_and_the_next_event_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with open_file(path) as transport:
        transport.emit(b'{"n":1}')
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (12, hard))
            for _ in range(2):
                with pytest.raises(DeliveryError) as caught:
                    transport.emit(b'{"n":2,"more":true}')
                assert caught.value.kind == "write"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        transport.emit(b'{"n":3}')
    lines = path.read_bytes().splitlines()
    assert (lines[0], lines[-1]) == (b'{"n":1}', b'{"n":3}')
    assert b'{"n":2,"more":true}' not in lines


def test_a_closed_transport_takes_nothing(tmp_path: Path) -> None:
    transport = open_file(tmp_path / "events.jsonl")
    transport.close()
    transport.close()
    with pytest.raises(DeliveryError) as caught:
        transport.emit(b"{}")
    assert caught.value.kind == "closed"


def test_several_processes_append_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    program = (
        "import sys\n"
        "from streamt_ol.transport.file import FileTransport\n"
        "with FileTransport(sys.argv[1]) as transport:\n"
        "    for number in range(100):\n"
        "        transport.emit(sys.argv[2].encode() * 500)\n"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", program, str(path), letter]) for letter in "abc"
    ]
    assert [child.wait() for child in children] == [0, 0, 0]
    # An empty line is what opening the file while another process writes may leave.
    lines = [line for line in path.read_bytes().splitlines() if line]
    assert sorted(lines) == sorted([b"a" * 500, b"b" * 500, b"c" * 500] * 100)
