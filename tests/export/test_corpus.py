"""Real manifests, where there are some: each exports, and as streamt itself does it.

``STREAMT_OL_CORPUS`` names their folder. In it ``NAME.expected.jsonl`` is what streamt's own
exporter prints for ``NAME.json``, and a table in the README says with which options:
``| `NAME.json` | `--kafka-namespace ...` |``. What lies in folders inside has no table.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from support.commands import streamt_ol

JOB_NAMESPACE = "NS"
ANY_NAMESPACES = ["--kafka-namespace", "kafka://b:9092", "--gateway-namespace", "kafka://g:6969"]
ROW = re.compile(r"^\| *`(?P<manifest>[^`]+\.json)` *\| *`(?P<options>[^`]*)` *\|", re.MULTILINE)
FOLDER = os.environ.get("STREAMT_OL_CORPUS", "")
CORPUS = Path(FOLDER)


def manifests() -> list[Path]:
    return sorted(CORPUS.rglob("*.json")) if FOLDER else []


def table() -> dict[str, list[str]]:
    """Return the options of each manifest that the README of the corpus has."""
    readme = CORPUS / "README.md"
    rows = ROW.finditer(readme.read_text("utf-8")) if readme.is_file() else ()
    return {row["manifest"]: shlex.split(row["options"]) for row in rows}


needs_corpus = pytest.mark.skipif(
    not manifests(), reason="STREAMT_OL_CORPUS names no folder of real manifests"
)


@needs_corpus
@pytest.mark.parametrize("manifest", manifests(), ids=lambda path: str(path.relative_to(CORPUS)))
def test_a_real_manifest_exports_as_streamt_does_it(manifest: Path) -> None:
    options = table().get(str(manifest.relative_to(CORPUS)), ANY_NAMESPACES)
    ran = streamt_ol("export", manifest, "--quiet", "--job-namespace", JOB_NAMESPACE, *options)
    assert (ran.returncode, ran.stderr) == (0, b"")
    expected = manifest.with_suffix(".expected.jsonl")
    if expected.is_file():
        assert ran.stdout == expected.read_bytes()
    else:
        assert [json.loads(line) for line in ran.stdout.splitlines()]


@needs_corpus
def test_every_row_of_the_table_names_a_manifest() -> None:
    assert set(table()) <= {str(path.relative_to(CORPUS)) for path in manifests()}
