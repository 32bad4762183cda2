"""The identity of a project: its name, its environment, its tests, and where its state is kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from streamt_ol.openlineage.names import NAMESPACE_VARIABLES
from streamt_ol.project import Options, ProjectIdentity, StateBackend
from streamt_ol.project.document import Document, Unknown, read_document
from streamt_ol.project.environments import DEFAULT, chosen_environment
from streamt_ol.project.folder import Folder
from streamt_ol.project.sections import Section
from streamt_ol.project.variables import Variables

_STATE = "deployment_state"
# Where a mapping names its backend.
_BACKEND_KEYS = ("backend", "type", "kind")


def read_identity(options: Mapping[str, str | None], environ: Mapping[str, str]) -> ProjectIdentity:
    """Return the identity of the project in ``options["project_dir"]``, which is not compiled.

    Raises ``StreamtOlError`` (E501, E502, E503) with ``file:line``.
    """
    folder, variables = Folder(Path(options.get("project_dir") or ".")), Variables(environ)
    document = read_document(folder, options.get("env"), variables, Unknown())
    tests = [test.given_texts("name", "type", "model") for test in document.lists["tests"]]
    options = next_options(options, variables)
    return ProjectIdentity(project_name(document.root), options, tests, _backend(document))


def next_options(options: Mapping[str, str | None], variables: Variables) -> Options:
    """Return the options without those of the project, with namespaces from its variables."""
    chosen = {key: value for key, value in options.items() if key not in ("project_dir", "env")}
    for option, variable in NAMESPACE_VARIABLES.items():
        if chosen.get(option) is None and (value := variables.get(variable)) is not None:
            chosen[option] = value
    return chosen


def project_name(root: Section) -> str:
    """Return the project's name, from ``project: {name: X}`` or ``project: X``."""
    project = root.value.get("project")
    if isinstance(project, str):
        return root.required_text("project")
    section = root.section("project")
    return root.required_text("project") if section is None else section.required_text("name")


def _backend(document: Document) -> StateBackend | None:
    """Return the backend of the environment, else of the project: a word, or a mapping."""
    for section in (document.environment, document.root):
        declared = section and section.value.get(_STATE)
        if section is None or declared is None:
            continue
        names = declared
        if isinstance(declared, dict):
            names = next((declared[key] for key in _BACKEND_KEYS if key in declared), None)
            if names is None and len(declared) == 1:
                names = next(iter(declared))
        return StateBackend(names, section.at(_STATE)) if isinstance(names, str) else None
    return None


def environment_name(project_dir: Path, wanted: str | None, environ: Mapping[str, str]) -> str:
    """Return the name of the environment of a project that ``wanted``, the option, chooses.

    A project without environments works in ``default``. Raises ``StreamtOlError`` (E503).
    """
    folder, variables = Folder(project_dir), Variables(environ)
    settings = folder.text(".env")
    if settings is not None:
        variables.add_file(settings, ".env")
    chosen = chosen_environment(folder, wanted, variables)
    return DEFAULT if chosen is None else chosen.name
