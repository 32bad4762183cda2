"""Real projects: exporting each gives the bytes that streamt printed, apart from the time.

``STREAMT_OL_CORPUS`` names a folder of manifests; the projects lie in `projects` beside it. Their
README has a table of the options of each.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from support.commands import streamt_ol

CORPUS = os.environ.get("STREAMT_OL_CORPUS")
PROJECTS = Path(CORPUS or ".").resolve().parent / "projects"
ROW = re.compile(r"^\| `([^`|]+?)/?` \| `([^`|]*)` \|$", re.MULTILINE)
OPTIONS = dict(ROW.findall((PROJECTS / "README.md").read_text("utf-8"))) if CORPUS else {}


@pytest.mark.skipif(not CORPUS, reason="STREAMT_OL_CORPUS names no folder of real manifests")
def test_projects_export_what_streamt_printed() -> None:
    assert OPTIONS
    for name, options in OPTIONS.items():
        expected = (PROJECTS / f"{name}.expected.jsonl").read_bytes()
        manifest = json.loads((PROJECTS / f"{name}.manifest.json").read_bytes())
        ran = streamt_ol(
            "export", "--project-dir", PROJECTS / name, "--job-namespace", "NS",
            "--event-time", manifest["compiled_at"], *shlex.split(options),
        )  # fmt: skip
        assert ran.returncode == 0, (name, ran.stderr)
        assert ran.stdout == expected, name
