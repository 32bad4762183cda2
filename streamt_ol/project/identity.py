"""Who a project is: its name, the environment meant, and the namespaces of its variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from streamt_ol.project.compiler import Options, next_options, project_name
from streamt_ol.project.document import Unknown, read_document
from streamt_ol.project.environments import DEFAULT, chosen_environment
from streamt_ol.project.folder import Folder
from streamt_ol.project.variables import Variables


class ProjectIdentity(NamedTuple):
    """A project's name and its options, with namespaces from its `.env` files where not given."""

    name: str
    options: Options


def read_identity(options: Mapping[str, str | None], environ: Mapping[str, str]) -> ProjectIdentity:
    """Return who the project in ``options["project_dir"]`` is; its models are not compiled.

    Raises ``StreamtOlError`` (E501, E502, E503) with ``file:line``.
    """
    folder, variables = Folder(Path(options.get("project_dir") or ".")), Variables(environ)
    document = read_document(folder, options.get("env"), variables, Unknown())
    return ProjectIdentity(project_name(document.root), next_options(options, variables))


def environment_name(project_dir: Path, wanted: str | None, environ: Mapping[str, str]) -> str:
    """Return the name of the environment of a project that ``wanted``, the option, chooses.

    A project without environments works in ``default``. Raises ``StreamtOlError`` (E503).
    """
    folder, variables = Folder(project_dir), Variables(environ)
    settings = folder.text(".env")
    if settings is not None:
        variables.add_file(settings, ".env")
    chosen = chosen_environment(folder, wanted, variables)
    return DEFAULT if chosen is None else PurePosixPath(chosen).stem
