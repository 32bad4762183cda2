"""The source of a manifest on the command line: a file, a pipe, or a project."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath

from streamt_ol.cli.options import ENV, PROJECT_DIR
from streamt_ol.problems import USAGE, StreamtOlError
from streamt_ol.redaction import shown

_OTHER_SOURCES = (
    "name a manifest, e.g. generated/manifest.json, pipe one in, or name a project's folder "
    f"with {PROJECT_DIR}"
)


def refuse_project(manifest: str | None, instead: str = PROJECT_DIR) -> None:
    """Raise E500, with a hint, where a project is named in the place of a compiled manifest.

    ``instead`` is what reads a project.
    """
    if not manifest or manifest == "-":
        return
    from streamt_ol.project import PROJECT_FILES

    if PurePath(manifest).name in PROJECT_FILES:
        what, folder = "a file of a project", str(PurePath(manifest).parent)
    elif is_folder(manifest):
        what, folder = "a folder", manifest
    else:
        return
    raise StreamtOlError(
        USAGE,
        f"{shown(manifest, 400)} is {what}, not a compiled manifest",
        suggestion=f"read the project with {instead} {shown(folder, 400)[1:-1]}",
    )


def is_folder(name: str) -> bool:
    """Return whether ``name`` is a folder; a name that can be none is not one, nor an empty one."""
    try:
        return name != "" and Path(name).is_dir()
    except (OSError, ValueError):
        return False


def source_of(
    manifest: str | None, project_dir: str | None, env: str | None
) -> tuple[str | None, str | None]:
    """Return the manifest or the project to read: the one named, a pipe, or the project here.

    The project here is meant where standard input is nothing that could hold a manifest: a
    terminal, `/dev/null`, closed.
    """
    if manifest is not None and project_dir is not None:
        raise StreamtOlError(USAGE, f"give a manifest or {PROJECT_DIR}, not both")
    if project_dir is not None:
        return None, project_dir
    if manifest is None and not stdin_holds_data():
        from streamt_ol.project import is_project

        if is_project(Path()):
            return None, "."
    if manifest is None and sys.stdin is not None and sys.stdin.isatty():
        raise StreamtOlError(
            USAGE,
            "no manifest is given, and standard input is a terminal",
            suggestion=_OTHER_SOURCES,
        )
    if env is not None:
        raise StreamtOlError(USAGE, f"{ENV} chooses an environment of a {PROJECT_DIR}")
    return "-" if manifest is None else manifest, None


def stdin_holds_data() -> bool:
    """Return whether standard input is a pipe, a socket or a file."""
    if sys.stdin is None:  # it is closed
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode)


@contextmanager
def hinted(*, implicit: bool) -> Iterator[None]:
    """Tell of the other sources where standard input, which nobody named, holds no manifest."""
    try:
        yield
    except StreamtOlError as error:
        at = error.location
        if implicit and error.suggestion is None and at is not None and at.file == "<stdin>":
            error.suggestion = _OTHER_SOURCES
        raise
