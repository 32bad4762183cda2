"""A pipe that is kept to be read again: whole, or ended by one clear error."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment
from support.delivery.events import job

from streamt_ol.delivery.spool import EndlessError, spooled

MIB = 1 << 20


def piped(writer: str, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run the program with what ``writer``, a shell command, writes into its standard input."""
    with subprocess.Popen(["sh", "-c", writer], stdout=subprocess.PIPE) as source:
        done = subprocess.run(
            [PROGRAM, *arguments], stdin=source.stdout, capture_output=True, check=False,
            timeout=60, env=clean_environment(),
        )  # fmt: skip
        source.kill()
    return done


@pytest.mark.parametrize("before", ["", f"printf '%s\\n' '{json.dumps(job('j'))}'; "])
@pytest.mark.parametrize(
    "command",
    [["send", "-", "--to", "file", "--path", "out"], ["check", "-", "--for", "file"]],
)
def test_a_line_without_end_ends_with_one_error(
    tmp_path: Path, before: str, command: list[str]
) -> None:
    arguments = [str(tmp_path / "out") if one == "out" else one for one in command]
    done = piped(f"{before}cat /dev/zero", *arguments)
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr == (
        b"E501_PARSE_ERROR <stdin>: the input cannot be kept: a line has no end within "
        b"268,435,456 bytes\n  hint: name a file instead of a pipe\n"
    )
    assert not (tmp_path / "out").exists()


def test_an_array_on_one_line_may_be_longer_than_a_line(tmp_path: Path) -> None:
    text = json.dumps([job(f"j{n}", text="x" * 1000) for n in range(20)]).encode()
    with spooled(io.BytesIO(b"\xef\xbb\xbf " + text), longest_line=5000) as spool:
        assert spool.seek(0) == 0
        assert spool.read() == b"\xef\xbb\xbf " + text


@pytest.mark.parametrize(
    "text", [b"", b"\n" * 9000, (b"x" * 5000 + b"\n") * 3, b"\x1f\x8b" + b"x" * 9000]
)
def test_what_has_lines_or_is_compressed_is_kept_whole(text: bytes) -> None:
    with spooled(io.BytesIO(text), longest_line=5000) as spool:
        spool.seek(0)
        assert spool.read() == text


def test_a_line_that_spans_blocks_is_counted_whole() -> None:
    text = b"x" * MIB + b"\n" + b"y" * (2 * MIB)
    with spooled(io.BytesIO(text), longest_line=2 * MIB) as spool:
        assert spool.tell() == len(text)
    with pytest.raises(EndlessError, match="no end within 2,097,151 bytes"):
        spooled(io.BytesIO(text), longest_line=2 * MIB - 1)


def test_a_part_of_the_disk_stays_free() -> None:
    small, large = io.BytesIO(b"x\n" * MIB), io.BytesIO(b"x\n" * (9 * MIB))
    everything = 1 << 62
    with spooled(small, kept_free=everything) as spool:
        assert spool.tell() == 2 * MIB, "what stays in memory needs no disk"
    with pytest.raises(EndlessError, match=f"{everything:,} bytes of its disk stay free"):
        spooled(large, kept_free=everything)
