"""Files written all or not at all, with real processes and real streams."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamt_ol.transport import atomic

# Writes the first chunk, says so, and waits for ever.
WRITER = """
import sys, time
from pathlib import Path
from streamt_ol.transport import atomic
def chunks():
    yield b"x" * 100_000
    print("writing", flush=True)
    time.sleep(600)
atomic.write(Path(sys.argv[1]), chunks())
"""


def writer(target: Path) -> subprocess.Popen[bytes]:
    child = subprocess.Popen([sys.executable, "-c", WRITER, target], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"writing\n"
    return child


def ended(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    child.send_signal(number)
    child.wait(60)
    assert child.stdout is not None
    child.stdout.close()


def test_the_next_write_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    target = tmp_path / "lines.jsonl"
    for child in [writer(target) for _ in range(3)]:
        ended(child, signal.SIGKILL)
    assert len(list(tmp_path.iterdir())) == 3
    atomic.write(target, [b"new\n"])
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("lines.jsonl", b"new\n")]


def test_a_write_that_goes_on_beside_it_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "lines.jsonl"
    other = writer(target)
    atomic.write(target, [b"new\n"])
    [staging] = [p for p in tmp_path.iterdir() if p != target]
    assert staging.stat().st_size == 100_000
    ended(other, signal.SIGKILL)
    atomic.write(target, [b"newer\n"])
    assert list(tmp_path.iterdir()) == [target]


def test_many_at_once_all_succeed(tmp_path: Path) -> None:
    """Each removes what it takes for left behind; none takes that of a live one."""
    target = tmp_path / "lines.jsonl"
    script = (
        "import sys; from pathlib import Path; from streamt_ol.transport import atomic\n"
        "for n in range(200): atomic.write(Path(sys.argv[1]), [b'%d\\n' % n])"
    )
    children = [subprocess.Popen([sys.executable, "-c", script, target]) for _ in range(4)]
    assert [child.wait(120) for child in children] == [0] * 4
    assert (target.read_bytes(), list(tmp_path.iterdir())) == (b"199\n", [target])


@pytest.mark.parametrize("name", [".streamt-ol-mine", "streamt-ol-x.tmp", ".other.tmp"])
def test_files_of_others_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    atomic.write(tmp_path / "x", [b""])
    assert (tmp_path / name).read_text() == "mine"


def test_a_device_swallows_what_is_written(tmp_path: Path) -> None:
    atomic.write(Path("/dev/null"), [b"x"])
    with pytest.raises(OSError, match="No space left on device"):
        atomic.write(Path("/dev/full"), [b"x"])


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("/dev/stdout", 1),
        ("/dev/stderr", 2),
        ("/dev/fd/7", 7),
        ("/proc/self/fd/1", 1),
        ("/dev/null", None),
        ("/tmp/fd/1", None),
    ],
)
def test_streams_of_this_process_are_known_by_their_names(path: str, number: int | None) -> None:
    assert atomic.descriptor_of(Path(path)) == number


def test_a_link_to_a_stream_is_that_stream(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/stdout")
    assert atomic.descriptor_of(tmp_path / "link") == 1
    own = Path(f"/proc/{os.getpid()}/fd/1")
    assert atomic.descriptor_of(own) == 1


def test_the_open_file_of_another_process_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        other = subprocess.Popen(["sleep", "600"], stdout=file)
    try:
        with pytest.raises(OSError, match="another process"):
            atomic.write(Path(f"/proc/{other.pid}/fd/1"), [b"x"])
    finally:
        other.kill()
        other.wait()
    assert log.read_bytes() == b""


def test_a_stream_is_appended_to_where_it_stands(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = (
        "from pathlib import Path; from streamt_ol.transport import atomic\n"
        "atomic.write(Path('/dev/stderr'), [b'one\\n'])\n"
        "atomic.write(Path('/dev/fd/2'), [b'two\\n'])"
    )
    log.write_text("earlier\n")
    with log.open("ab") as file:
        subprocess.run([sys.executable, "-c", script], stderr=file, check=True)
    assert log.read_text() == "earlier\none\ntwo\n"


def test_a_pipe_behind_a_process_substitution(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    script = "import sys; from pathlib import Path; from streamt_ol.transport import atomic\n"
    script += "atomic.write(Path(sys.argv[1]), [b'lines'])"
    command = f'{sys.executable} -c "$0" >(cat > {copy})'
    subprocess.run(["bash", "-c", command, script], check=True)
    until = time.monotonic() + 60
    while (not copy.exists() or not copy.read_bytes()) and time.monotonic() < until:
        time.sleep(0.01)
    assert copy.read_bytes() == b"lines"
