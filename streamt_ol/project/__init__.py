"""A streamt project read without streamt: YAML, variables, macros, inferred artifacts."""

from __future__ import annotations

from pathlib import Path, PurePath

PROJECT_FILES = ("stream_project.yml", "stream_project.yaml")  # the first that is there counts
_SUFFIXES = frozenset({".yml", ".yaml", ".j2"})


def may_be_read(path: PurePath) -> bool:
    """Return whether a project may read a file of this name."""
    return path.suffix in _SUFFIXES or path.name.startswith(".env")


def is_project(folder: Path) -> bool:
    """Return whether ``folder`` has the main file of a project."""
    return any((folder / name).is_file() for name in PROJECT_FILES)
