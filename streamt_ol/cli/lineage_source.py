"""Inputs of `graph` and `diff`: events, a manifest or a project become a graph of lineage."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from streamt_ol import collector
from streamt_ol.export.options import ExportOptions
from streamt_ol.lineage.events import GraphBuilder
from streamt_ol.lineage.graph import Graph
from streamt_ol.problems import PARSE, USAGE, Location, StreamtOlError, WarningRecord
from streamt_ol.reading import strict_json
from streamt_ol.reading.opening import STDIN, STDIN_NAME
from streamt_ol.redaction import place

if TYPE_CHECKING:
    from streamt_ol.contracts import Canonical

# The namespace of jobs where none is given. Nobody sees it: graphs have an empty one instead.
_NO_NAMESPACE = "urn:streamt-ol:none"
_MAX_EVENT_BYTES = 1 << 30
PROJECT_FILE = "stream_project.yml"


@dataclass(frozen=True)
class ExportSettings:
    """The options of `export` that a manifest or project is exported with. None: not given."""

    env: str | None = None
    job_namespace: str | None = None
    kafka_namespace: str | None = None
    gateway_namespace: str | None = None

    def given(self) -> dict[str, str]:
        """Return the options that have a value."""
        return {name: value for name, value in vars(self).items() if value is not None}


class Lineage(NamedTuple):
    """The graph of an input, and the warnings of its export."""

    graph: Graph
    warnings: list[WarningRecord]


def chosen_input(name: str | None, project_dir: str | None) -> str:
    """Return the input that is meant: one that is named, a pipe, or the project in this folder."""
    if name is not None and project_dir is not None:
        raise StreamtOlError(USAGE, "give an input or --project-dir, not both")
    if project_dir is not None:
        return project_dir
    if name is not None:
        return name
    if sys.stdin is None or not sys.stdin.isatty():
        return STDIN
    if Path(PROJECT_FILE).is_file():
        return "."
    raise StreamtOlError(
        USAGE,
        "no events, manifest or project is named, and standard input is a terminal",
        suggestion="name a file, pipe one in, or name a project with --project-dir",
    )


def load(name: str, settings: ExportSettings, *, project: bool = False) -> Lineage:
    """Return the lineage of what ``name`` names: a project's folder, a file, or ``-``.

    Raises ``StreamtOlError``: E501 or E506 at the line of an event or at its place in the
    manifest or project, or whatever else the export raises.
    """
    with collector.paused():
        if project or (name != STDIN and Path(name).is_dir()):
            return exported(ExportOptions(project_dir=name, **settings.given()))
        shown = STDIN_NAME if name == STDIN else place(name)
        return of_content(_content(name), shown, settings)


def of_content(data: bytes, shown: str, settings: ExportSettings) -> Lineage:
    """Return the lineage of the bytes of events or of a manifest; ``shown`` is their name."""
    if not _is_manifest(data):
        return Lineage(_graph_of_events(data, shown), [])
    if settings.env is not None:
        message = "only a project has environments to choose from"
        raise StreamtOlError(USAGE, message, location=Location(option="env"))
    with _as_file(data) as file, renamed(file, shown):
        return exported(ExportOptions(manifest=file, **settings.given()))


def exported(options: ExportOptions) -> Lineage:
    """Return the lineage that the export declares; jobs need no namespace here."""
    from streamt_ol.export.canonical import canonical_state

    state: Canonical = canonical_state(options, os.environ, default_job_namespace=_NO_NAMESPACE)
    builder = GraphBuilder()
    for event in state["events"]:
        builder.add(_without_default(event))
    return Lineage(builder.graph(), state["warnings"])


@contextmanager
def renamed(file: str, shown: str) -> Iterator[None]:
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
    """Return the bytes of a file or of standard input, decompressed."""
    from streamt_ol.reading.files import DOCUMENT, read_file
    from streamt_ol.reading.opening import unreadable

    try:
        return read_file(name, DOCUMENT)
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


def _graph_of_events(data: bytes, shown: str) -> Graph:
    builder = GraphBuilder()
    for location, text in _events(data, shown):
        try:
            event = strict_json.loads(text)
        except strict_json.JsonFaultError as fault:
            raise StreamtOlError(PARSE, fault.message, location=location) from None
        try:
            builder.add(event)
        except StreamtOlError as error:
            below = error.location.pointer if error.location else None
            inside = (location.pointer or "") + (below or "")
            error.location = location.replaced(pointer=inside or None)
            raise
    return builder.graph()


def _events(data: bytes, shown: str) -> Iterator[tuple[Location, bytes]]:
    """Yield the bytes of each event and where it is: a line, or an element of a document."""
    from streamt_ol.reading.chunks import chunks, raw_events

    for event in raw_events(chunks(iter([data]), _MAX_EVENT_BYTES), _MAX_EVENT_BYTES):
        location = Location(file=shown, line=event.line, pointer=event.pointer or None)
        if event.fault is not None:
            raise StreamtOlError(PARSE, event.fault.message, location=location)
        yield location, event.data


@contextmanager
def _as_file(data: bytes) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="streamt-ol-") as folder:
        file = Path(folder) / "manifest.json"
        file.write_bytes(data)
        yield str(file)
