"""Whole inputs: bounded, never a device, decompressed, and JSON that is none is not awaited."""

from __future__ import annotations

import gzip
import os
import subprocess
import threading
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment

from streamt_ol.reading.files import CONFIGURATION, DOCUMENT, JSON_STARTS, read_file, read_input

DEVICE = "it is a device, not a file or a pipe"


def reason(name: str, limit: int = 100) -> str | None:
    with pytest.raises(OSError) as caught:  # noqa: PT011 - its strerror is what is looked at
        read_file(name, limit)
    return caught.value.strerror


def test_a_file_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_file(str(path), 100) == b"a: 1\n"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfa: 1\n"))
    assert read_file(str(path), 100) == b"a: 1\n"


def test_a_file_at_the_limit_is_read_and_a_larger_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * CONFIGURATION)
    assert len(read_file(str(path), CONFIGURATION)) == CONFIGURATION
    path.write_bytes(b"x" * (CONFIGURATION + 1))
    assert reason(str(path), CONFIGURATION) == "it is larger than 1 MiB"
    path.write_bytes(gzip.compress(b"x" * (CONFIGURATION + 1)))
    assert reason(str(path), CONFIGURATION) == "it is larger than 1 MiB"


def test_a_sparse_file_beyond_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.truncate(DOCUMENT + 1)
    assert reason(str(path), DOCUMENT) == "it is larger than 2 GiB"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/urandom", "/dev/ptmx"])
def test_a_device_is_refused(device: str) -> None:
    assert reason(device) == DEVICE


def test_the_null_device_is_an_empty_input() -> None:
    assert read_file(os.devnull, 100) == b""


@pytest.mark.parametrize("name", ["", "a\0b", "/no/such/file", "."])
def test_what_cannot_be_opened_has_a_reason(name: str) -> None:
    assert reason(name)


def test_a_named_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "fifo"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"x" * 300_000,))
    writer.start()
    assert read_file(str(pipe), 1 << 20) == b"x" * 300_000
    writer.join()


def test_what_does_not_begin_as_json_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b" \n" + b"x" * (5 << 20))
    assert len(read_input(str(path), DOCUMENT, JSON_STARTS)) == 1 << 20
    path.write_bytes(b" " * (1 << 20) + b"[1]")
    assert read_input(str(path), DOCUMENT, JSON_STARTS) == path.read_bytes()


@pytest.mark.parametrize(
    "words",
    [
        ["export", "/dev/zero"],
        ["validate", "/dev/zero"],
        ["stage", "load-manifest", "/dev/zero"],
        ["export", "{manifest}", "--check", "/dev/zero"],
    ],
)
def test_no_command_reads_a_device(words: list[str], tmp_path: Path) -> None:
    manifest = tmp_path / "m.json"
    manifest.write_text('{"project": "p", "compiled_at": "2026-01-31T12:00:00Z"}')
    ran = subprocess.run(
        [PROGRAM, *(word.format(manifest=manifest) for word in words)],
        env=clean_environment(OPENLINEAGE_NAMESPACE="jobs"), capture_output=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert DEVICE.encode() in ran.stderr
    assert ran.stderr.startswith(b"E501_PARSE_ERROR /dev/zero: ")


@pytest.mark.parametrize(
    "words",
    [["export"], ["stage", "load-manifest"], ["stage", "emit"], ["graph"],
     ["diff", "-", "/dev/null"], ["diff", "/dev/null", "-"]],
)  # fmt: skip
def test_an_endless_pipe_of_what_is_not_json_is_refused_at_once(words: list[str]) -> None:
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as endless:
        ran = subprocess.run(
            [PROGRAM, *words], stdin=endless.stdout, capture_output=True, timeout=60, check=False,
            env=clean_environment(OPENLINEAGE_NAMESPACE="jobs"),
        )  # fmt: skip
        endless.kill()
    assert ran.returncode == 1
    assert ran.stderr.startswith(b"E501_PARSE_ERROR <stdin>:1: not JSON: ")


def test_standard_input_that_is_a_device_is_refused() -> None:
    with Path("/dev/zero").open("rb") as device:
        ran = subprocess.run(
            [PROGRAM, "validate"], stdin=device, capture_output=True, timeout=60, check=False
        )
    assert ran.returncode == 1
    assert DEVICE.encode() in ran.stderr
