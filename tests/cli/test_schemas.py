"""`streamt-ol schemas`: the table of pins, verified; damage is named."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import commands

import streamt_ol

SPECIFICATION_BYTES = 21_110  # "The initial bundle is 21110 uncompressed bytes."


def test_the_table_has_every_schema_with_its_pin() -> None:
    ran = commands.streamt_ol("schemas")
    assert (ran.returncode, ran.stderr) == (0, b"")
    lines = ran.stdout.decode().splitlines()
    assert lines[-1].startswith("verified 39 schemas of OpenLineage 1.53.0, ")
    assert lines[0].split() == [
        "OpenLineage.json", "9155",
        "69f68bee00b9beac88a87059c0102410e7bb05f3f43c46d02a0409831eceb0d2",
        "specification", "https://openlineage.io/spec/2-0-2/OpenLineage.json",
    ]  # fmt: skip


def test_the_envelope_has_it_too() -> None:
    ran = commands.streamt_ol("--output", "json", "schemas")
    data = json.loads(ran.stdout)["data"]
    assert len(data["schemas"]) == 39
    pinned = [row["bytes"] for row in data["schemas"] if row["pinned_by"] == "specification"]
    assert (len(pinned), sum(pinned)) == (9, SPECIFICATION_BYTES)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the installed package, to be damaged."""
    source = Path(streamt_ol.__file__).parent
    shutil.copytree(source, tmp_path / "streamt_ol", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    "damage", ["byte", "truncated", "missing", "swapped", "bomb", "no pins", "fewer pins"]
)
def test_a_damaged_resource_is_an_error_that_names_it(copy: Path, damage: str) -> None:
    folder = copy / "streamt_ol" / "openlineage" / "schemas"
    artifact = "pins.json" if damage.endswith("pins") else "SchemaDatasetFacet.json"
    target = folder / (artifact if damage.endswith("pins") else f"{artifact}.b64")
    data = target.read_bytes()
    target.unlink()
    if damage == "byte":
        target.write_bytes(data[:200] + bytes([data[200] ^ 1]) + data[201:])
    elif damage == "truncated":
        target.write_bytes(data[:400])
    elif damage == "swapped":
        shutil.copy(folder / "TagsDatasetFacet.json.b64", target)
    elif damage == "fewer pins":
        target.write_text("{}")
    elif damage == "bomb":
        target.write_bytes(base64.b64encode(gzip.compress(b"0" * 100_000_000)))
    code = "import sys; from streamt_ol.cli.app import run; sys.exit(run(sys.argv[1:]))"
    for command in (
        ["schemas"],
        ["export", "-", "--job-namespace", "n", "--kafka-namespace", "kafka://b:1"],
    ):
        ran = subprocess.run(
            [sys.executable, "-c", code, *command], cwd=copy, capture_output=True, check=False,
            input=b'{"project": "p", "compiled_at": "2026-01-01T00:00:00Z",'
            b' "sources": [{"name": "s", "topic": "t", "columns": [{"name": "c"}]}]}',
            env=commands.clean_environment(),
        )  # fmt: skip
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr.startswith(b"E506_OPENLINEAGE_INVALID ")
        assert artifact.encode() in ran.stderr.splitlines()[0]
