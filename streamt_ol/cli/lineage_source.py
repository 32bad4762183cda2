"""Inputs of `graph` and `diff`: events, a manifest or a project become a graph of lineage."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from streamt_ol import collector
from streamt_ol.cli.options import PROJECT_DIR
from streamt_ol.cli.output import note
from streamt_ol.cli.progress import elapsed
from streamt_ol.cli.source import hinted, is_folder, source_of, stdin_holds_data
from streamt_ol.export.options import ExportOptions
from streamt_ol.lineage.events import GraphBuilder
from streamt_ol.lineage.git import is_git
from streamt_ol.lineage.graph import Graph
from streamt_ol.lineage.reading import graph_of_text
from streamt_ol.problems import PARSE, USAGE, Location, StreamtOlError, WarningRecord
from streamt_ol.project import PROJECT_FILES, may_be_read
from streamt_ol.reading import strict_json
from streamt_ol.reading.opening import STDIN, STDIN_NAME
from streamt_ol.redaction import shown_path

if TYPE_CHECKING:
    from streamt_ol.contracts import Canonical

# The namespace of jobs where none is given. Nobody sees it: graphs have an empty one instead.
_NO_NAMESPACE = "urn:streamt-ol:none"


@dataclass(frozen=True)
class ExportSettings:
    """The options of `export` that a manifest or project is exported with. None: not given.

    ``env`` is an error for an input that is not a project; ``project_env`` is not.
    """

    env: str | None = None
    job_namespace: str | None = None
    kafka_namespace: str | None = None
    gateway_namespace: str | None = None
    project_env: str | None = None

    def namespaces(self) -> dict[str, str]:
        """Return the namespaces that are given."""
        names = ("job_namespace", "kafka_namespace", "gateway_namespace")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def for_project(self) -> dict[str, str]:
        """Return the options that are given for a project."""
        env = self.env if self.env is not None else self.project_env
        return self.namespaces() if env is None else {**self.namespaces(), "env": env}


class Lineage(NamedTuple):
    """The graph of an input, and the warnings of its export."""

    graph: Graph
    warnings: list[WarningRecord]


def chosen_input(name: str | None, project_dir: str | None) -> tuple[str, bool]:
    """Return the input that is meant, and whether it must be a project's folder.

    It is the one named, a pipe, or the project in this folder.
    """
    file, folder = source_of(name, project_dir, None)
    return (folder, True) if folder is not None else (STDIN if file is None else file, False)


def load(
    name: str, settings: ExportSettings, *, project: bool = False, implicit: bool = False
) -> Lineage:
    """Return the lineage of what ``name`` names: a project's folder, a file, ``git:…``, or ``-``.

    Standard input that nobody named (``implicit``) must be a pipe, a socket or a file; that it
    is empty is said.

    Raises ``StreamtOlError``: E501 or E506 at the line of an event or at its place in the
    manifest or project, or whatever else the export raises.
    """
    with elapsed("reading the lineage"), collector.paused():
        if project:
            return _of_project(name, settings)
        if is_git(name):
            return _of_git(name, settings)
        if name == STDIN:
            with hinted(implicit=implicit):
                data = _content(name)
                if implicit and not data.strip():
                    _tell_empty()
                return _of_content(data, STDIN_NAME, settings)
        if PurePath(name).name in PROJECT_FILES:
            return _of_project(str(PurePath(name).parent), settings)
        if is_folder(name):
            return _of_project(name, settings)
        return _of_content(_content(name), shown_path(name), settings)


def _tell_empty() -> None:
    if not stdin_holds_data():
        location = Location(file=STDIN_NAME, line=1)
        raise StreamtOlError(PARSE, "standard input is empty", location=location)
    note(f"standard input is empty, so there is nothing to draw; {PROJECT_DIR} reads a project")


def _of_project(folder: str, settings: ExportSettings) -> Lineage:
    return _exported(ExportOptions(project_dir=folder, **settings.for_project()))


def _of_git(name: str, settings: ExportSettings) -> Lineage:
    from streamt_ol.lineage import git
    from streamt_ol.reading.blocks import blocks

    if PurePath(name.rpartition(":")[2]).name in PROJECT_FILES:
        name = git.parent(name)
    if git.kind_of(name) == "blob":
        content = b"".join(blocks(BytesIO(git.blob(name))))
        return _of_content(content, shown_path(name), settings)
    with tempfile.TemporaryDirectory(prefix="streamt-ol-") as folder:
        git.extract(name, Path(folder), may_be_read)
        with _renamed(folder, shown_path(name)):
            return _of_project(folder, settings)


def _of_content(data: bytes, shown: str, settings: ExportSettings) -> Lineage:
    """Return the lineage of the bytes of events or of a manifest; ``shown`` is their name."""
    if settings.env is not None:
        message = "only a project has environments to choose from"
        raise StreamtOlError(USAGE, message, location=Location(option="env"))
    if not _is_manifest(data):
        return Lineage(graph_of_text(data, shown), [])
    options = ExportOptions(manifest=shown, **settings.namespaces())
    return _exported(options, lambda _name: data)


def _exported(options: ExportOptions, read: Callable[[str], bytes] | None = None) -> Lineage:
    """Return the lineage that the export declares; jobs need no namespace here."""
    from streamt_ol.export.canonical import canonical_state

    state: Canonical = canonical_state(
        options, os.environ, default_job_namespace=_NO_NAMESPACE, read=read
    )
    builder = GraphBuilder()
    for event in state["events"]:
        builder.add(_without_default(event))
    return Lineage(builder.graph(), state["warnings"])


@contextmanager
def _renamed(file: str, shown: str) -> Iterator[None]:
    """Name ``shown`` in an error instead of ``file``, which only we know."""
    try:
        yield
    except StreamtOlError as error:
        error.message = error.message.replace(file, shown)
        if error.location is not None and file in error.location:
            location = error.location
            error.location = (
                location.replaced(file=location.file.replace(file, shown))
                if location.file
                else Location(location.replace(file, shown))
            )
        raise


def _without_default(event: dict[str, Any]) -> dict[str, Any]:
    job = event.get("job")
    if job is None or job["namespace"] != _NO_NAMESPACE:
        return event
    return {**event, "job": {**job, "namespace": ""}}


def _content(name: str) -> bytes:
    """Return the bytes of a file or of standard input, decompressed.

    Of what cannot be JSON only the start, so that a pipe without end ends in an error.
    """
    from streamt_ol.reading.files import DOCUMENT, JSON_STARTS, read_input
    from streamt_ol.reading.opening import unreadable

    try:
        return read_input(name, DOCUMENT, JSON_STARTS)
    except OSError as error:
        raise unreadable(STDIN_NAME if name == STDIN else name, error) from None


def _is_manifest(data: bytes) -> bool:
    """Tell whether the bytes are one JSON object that is not an event."""
    try:
        document = strict_json.loads(data)
    except strict_json.JsonFaultError:
        return _looks_like_manifest(data)
    return isinstance(document, dict) and not {"job", "dataset", "run"} & document.keys()


def _looks_like_manifest(data: bytes) -> bool:
    """Tell whether what cannot be read was meant to be a manifest: one indented object."""
    return data.lstrip()[:64].startswith(b'{\n  "') and b'"eventTime"' not in data
