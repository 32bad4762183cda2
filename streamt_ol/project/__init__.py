"""A streamt project read without streamt: YAML, variables, macros, inferred artifacts."""

from __future__ import annotations

from pathlib import Path

PROJECT_FILES = ("stream_project.yml", "stream_project.yaml")  # the first that is there counts


def is_project(folder: Path) -> bool:
    """Return whether ``folder`` has the main file of a project."""
    return any((folder / name).is_file() for name in PROJECT_FILES)
