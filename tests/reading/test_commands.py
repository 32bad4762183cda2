"""One reading of input: what `validate` reads, every command reads."""

from __future__ import annotations

import gzip
import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from backports import zstd
from support.commands import PROGRAM, clean_environment
from support.manifests import FIXTURES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KAFKA = {"STREAMT_OPENLINEAGE_KAFKA_NAMESPACE": "kafka://broker.example:9092"}
BOM = b"\xef\xbb\xbf"


def streamt_ol(*words: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [PROGRAM, *map(str, words)], capture_output=True, timeout=120, check=False,
        env=clean_environment(OPENLINEAGE_NAMESPACE="jobs", **KAFKA),
    )  # fmt: skip


def exported() -> list[bytes]:
    lines = streamt_ol("export", FIXTURES / "manifests" / "demo.json").stdout.splitlines()
    assert len(lines) > 2
    return lines


def long_window(data: bytes) -> bytes:
    options: dict[int, int] = {zstd.CompressionParameter.window_log: 31}
    compressor = zstd.ZstdCompressor(options=options)
    return compressor.compress(data) + compressor.flush()


FORMS: dict[str, Callable[[list[bytes]], bytes]] = {
    "lines": b"\n".join,
    "byte order marks": lambda lines: b"\n".join(BOM + line for line in lines),
    "carriage returns": b"\r\n\r\n".join,
    "gzip": lambda lines: gzip.compress(b"\n".join(lines)),
    "zstd": lambda lines: zstd.compress(b"\n".join(lines)),
    "a long window": lambda lines: long_window(b"\n".join(lines)),
    "array": lambda lines: b"[" + b",".join(lines) + b"]",
    "pretty array": lambda lines: json.dumps([json.loads(x) for x in lines], indent=2).encode(),
    "pretty events": lambda lines: b"\n".join(
        json.dumps(json.loads(line), indent=2).encode() for line in lines
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_command_reads_every_form(form: str, tmp_path: Path) -> None:
    lines = exported()
    path, plain = tmp_path / "events", tmp_path / "plain"
    path.write_bytes(FORMS[form](lines))
    plain.write_bytes(b"\n".join(lines) + b"\n")
    report = json.loads(streamt_ol("validate", path, "-f", "json").stdout)["data"]
    assert (report["valid"], report["events"], report["problems"]) == (True, len(lines), [])
    checked = json.loads(streamt_ol("--output", "json", "check", path, "--for", "file").stdout)
    assert checked["data"]["receivers"]["file"]["accepted"] == len(lines)
    sent = tmp_path / "sent"
    assert streamt_ol("send", path, "--to", "file", "--path", sent).returncode == 0
    delivered = sent.read_bytes().splitlines()
    assert [json.loads(line) for line in delivered] == [json.loads(line) for line in lines]
    graphs = [streamt_ol("graph", one, "--format", "json").stdout for one in (path, plain)]
    assert graphs[0] == graphs[1] != b""


def test_an_earlier_export_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "lineage.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n".join(exported()) + b"\n"))
    ran = streamt_ol("export", FIXTURES / "manifests" / "demo.json", "--check", path)
    assert ran.returncode == 0
    path.write_bytes(b"[" + b",".join(exported()) + b"]")
    ran = streamt_ol("export", FIXTURES / "manifests" / "demo.json", "--check", path)
    assert ran.returncode == 1
    assert b"the events are the same, but not in canonical order and form" in ran.stdout


def test_a_manifest_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json.zst"
    path.write_bytes(zstd.compress((FIXTURES / "manifests" / "demo.json").read_bytes()))
    assert streamt_ol("export", path).stdout.splitlines() == exported()
