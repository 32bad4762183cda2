"""A streamt project read without streamt: YAML, variables, macros, inferred artifacts."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from streamt_ol.problems import Location

Options = dict[str, str | None]

LOCAL = "local"  # the backend that keeps the state beside the project
PROJECT_FILES = ("stream_project.yml", "stream_project.yaml")  # the first that is there counts
_SUFFIXES = frozenset({".yml", ".yaml", ".j2"})


def may_be_read(path: PurePath) -> bool:
    """Return whether a project may read a file of this name."""
    return path.suffix in _SUFFIXES or path.name.startswith(".env")


class StateBackend(NamedTuple):
    """The backend that a project names for its state, and where it does."""

    name: str
    location: Location


class ProjectIdentity(NamedTuple):
    """A project's name and its options, with namespaces from its `.env` files where not given.

    ``tests`` have ``name``, ``type`` and ``model``; ``backend`` is None where none is named.
    """

    name: str
    options: Options
    tests: list[dict[str, str]]
    backend: StateBackend | None


def is_project(folder: Path) -> bool:
    """Return whether ``folder`` has the main file of a project."""
    return any((folder / name).is_file() for name in PROJECT_FILES)
