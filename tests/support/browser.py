"""Headless Chromium, driven by a script in Node; Graphviz."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SCRIPT = Path(__file__).parents[1] / "browser" / "browser.mjs"
# Where `make browser` puts the packages of tests/browser/package.json.
TOOLS = Path(__file__).parents[2] / ".venv" / "browser"
_CHROMIUM = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
CHROMIUM = next(_CHROMIUM, None)
NODE = shutil.which("node")
DOT = shutil.which("dot")
# In CI a missing program is a failure, not a reason to skip.
IN_CI = os.environ.get("CI") == "true"
needs_browser = pytest.mark.skipif(
    not IN_CI and not (CHROMIUM and NODE and (TOOLS / "node_modules").is_dir()),
    reason="needs chromium, node, and what `make browser` installs",
)
needs_dot = pytest.mark.skipif(not IN_CI and DOT is None, reason="Graphviz is not installed")


class Seen(NamedTuple):
    """The results of steps in the browser, and what the page did besides."""

    results: list[Any]
    errors: list[str]
    requests: list[str]
    dialogs: int


def browse(page: Path | None, *steps: tuple[str, Any], state: Path, **more: Any) -> Seen:
    """Open a page from its file and do ``steps``; ``state`` is an empty folder for Chromium."""
    asked = {"page": None if page is None else page.as_uri(), "do": steps, **more}
    assert CHROMIUM, "chromium must be installed"
    assert NODE, "node must be installed"
    ran = subprocess.run(
        [NODE, SCRIPT, TOOLS, CHROMIUM, state],
        input=json.dumps(asked).encode(),
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return Seen(**json.loads(ran.stdout))


def graphviz(dot: str, form: str = "json0") -> bytes:
    """Return what Graphviz makes of a graph in its language."""
    assert DOT, "Graphviz must be installed"
    ran = subprocess.run(
        [DOT, f"-T{form}"], input=dot.encode(), capture_output=True, timeout=120, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    return ran.stdout
