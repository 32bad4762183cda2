"""A folder of wheels for installations without a network: the project's own and its dependencies.

The dependencies are packed from the environment that runs the tests, as their RECORD lists them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

from packaging.requirements import Requirement

from support.commands import clean_environment
from support.pages import ROOT

EXTRAS = ("apply", "kafka", "zstd")
PRODUCTS = (".*", "__pycache__", "build", "dist", "out", "site", "*.egg-info")


def build(folder: Path) -> Path:
    """Build the wheel of a copy of the repository; return its path."""
    shutil.copytree(ROOT, folder / "repository", ignore=shutil.ignore_patterns(*PRODUCTS))
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder / "wheels",
         folder / "repository"],
        env=clean_environment(), check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    [wheel] = (folder / "wheels").glob("*.whl")
    return wheel


def fill(folder: Path) -> None:
    """Add the wheels of all that the project needs, with its extras, to ``folder``."""
    for needed in _needed():
        _pack(needed, folder)


def _needed() -> Iterator[Distribution]:
    waiting, seen = [("streamt-ol", frozenset(EXTRAS))], set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        found = distribution(name)
        if name != "streamt-ol":
            yield found
        for line in found.requires or []:
            need = Requirement(line)
            wanted = [{"extra": extra} for extra in extras] or [{"extra": ""}]
            if need.marker is None or any(map(need.marker.evaluate, wanted)):
                waiting.append((need.name, frozenset(need.extras)))


def _pack(found: Distribution, folder: Path) -> None:
    tags = [line.partition(": ")[2] for line in (found.read_text("WHEEL") or "").splitlines()
            if line.startswith("Tag: ")]  # fmt: skip
    parts = [sorted(set(part)) for part in zip(*(tag.split("-") for tag in tags), strict=True)]
    name = found.metadata["Name"].replace("-", "_")
    tag = "-".join(".".join(part) for part in parts)
    target = folder / f"{name}-{found.version}-{tag}.whl"
    if target.exists():
        return
    with ZipFile(target, "w", ZIP_STORED) as archive:
        for file in found.files or []:
            path = Path(str(found.locate_file(file)))
            if not file.parts[0].startswith("..") and path.is_file():
                archive.write(path, str(file))
