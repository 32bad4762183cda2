"""The environment of a project that is meant."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import NamedTuple

from streamt_ol.problems import ENVIRONMENT, Location, StreamtOlError
from streamt_ol.project.folder import Folder
from streamt_ol.project.variables import Variables
from streamt_ol.redaction import shown

FOLDER = "environments"
VARIABLE = "STREAMT_ENV"
DEFAULT = "default"


class Environment(NamedTuple):
    """An environment: its name, which is that of its file, and the file."""

    name: str
    file: str


def chosen_environment(
    folder: Folder, wanted: str | None, variables: Variables
) -> Environment | None:
    """Return the environment, or None for a project that has none.

    ``wanted`` is the option; without it ``STREAMT_ENV`` decides, then the environment
    ``default``, then the only one. Raises ``StreamtOlError`` (``ENVIRONMENT``).
    """
    files = {
        PurePosixPath(name).stem: name
        for name in folder.yaml_files(FOLDER)
        if PurePosixPath(name).parent == PurePosixPath(FOLDER)
    }
    location = Location(option="env")
    if wanted is None and (variable := variables.get(VARIABLE)):
        wanted, location = variable, Location(VARIABLE)
    if wanted is not None:
        if wanted not in files:
            message = f"there is no environment {shown(wanted)}; {_known(files)}"
            raise StreamtOlError(ENVIRONMENT, message, location=location)
        return Environment(wanted, files[wanted])
    if not files:
        return None
    if DEFAULT in files:
        return Environment(DEFAULT, files[DEFAULT])
    if len(files) > 1:
        raise StreamtOlError(
            ENVIRONMENT,
            f"no environment is chosen; {_known(files)}",
            location=location,
        )
    return Environment(*next(iter(files.items())))


def _known(files: dict[str, str]) -> str:
    if not files:
        return f"the project has no {FOLDER}/ folder with any"
    return "known are " + ", ".join(shown(name) for name in sorted(files)[:20])
