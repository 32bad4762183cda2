"""The base commit: the program as it was then, from the repository's history, in its own folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

COMMIT = "07fe00c"
_ROOT = Path(__file__).parents[1]
_FOLDER = (
    _ROOT / "build" / f"bench-base-{COMMIT}-py{sys.version_info.major}.{sys.version_info.minor}"
)


@cache
def program() -> str | None:
    """Return the base commit's command, installed once with the libraries of this environment.

    None, which is said, where the history does not hold the commit, e.g. in a shallow clone, or
    where it cannot be installed.
    """
    command = _FOLDER / "env" / "bin" / "streamt-ol"
    ready = _FOLDER / "ready"
    if ready.exists() and command.exists():
        return str(command)
    try:
        if not _in_history():
            raise LookupError("the history does not hold it")
        _install()
    except (LookupError, OSError, subprocess.CalledProcessError) as error:
        print(f"without columns of the base commit {COMMIT}: {error}", file=sys.stderr, flush=True)
        return None
    ready.touch()
    return str(command)


def _install() -> None:
    shutil.rmtree(_FOLDER, ignore_errors=True)
    source = _FOLDER / "source"
    source.mkdir(parents=True)
    archive = _FOLDER / "source.tar"
    _do("git", "archive", "--output", archive, COMMIT, cwd=_ROOT)
    shutil.unpack_archive(archive, source, filter="data")
    _do(sys.executable, "-m", "venv", _FOLDER / "env")
    constraints = _FOLDER / "constraints.txt"
    constraints.write_bytes(_do(sys.executable, "-m", "pip", "freeze", "--exclude-editable"))
    _do(
        *(_FOLDER / "env" / "bin" / "python", "-m", "pip", "install", "--quiet"),
        *("--disable-pip-version-check", "--constraint", constraints, source),
    )


def _in_history() -> bool:
    if not shutil.which("git"):
        return False
    found = subprocess.run(
        ["git", "cat-file", "-e", f"{COMMIT}^{{commit}}"],
        cwd=_ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return found.returncode == 0


def _do(*command: str | Path, cwd: Path | None = None) -> bytes:
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE).stdout
