"""A project becomes the manifest that `streamt compile` would write: what lineage reads of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from streamt_ol.manifest.locations import DeclaredAt
from streamt_ol.problems import PARSE, Location, StreamtOlError, WarningRecord
from streamt_ol.project import Options
from streamt_ol.project.artifacts import compiled_artifacts
from streamt_ol.project.declared_at import declared_locations
from streamt_ol.project.document import Document, Unknown, read_document
from streamt_ol.project.folder import Folder
from streamt_ol.project.graph import compiled_dag, refuse_cycles
from streamt_ol.project.identity import next_options, project_name
from streamt_ol.project.macros import Macros
from streamt_ol.project.models import read_model
from streamt_ol.project.sections import Section
from streamt_ol.project.sources import read_source
from streamt_ol.project.variables import Variables
from streamt_ol.templates import one_process


class CompiledProject(NamedTuple):
    """The result: options for the next stage, a manifest, its locations, warnings."""

    options: Options
    manifest: dict[str, Any]
    locations: dict[str, DeclaredAt]
    warnings: list[WarningRecord]


@one_process()
def compile_project(
    options: Mapping[str, str | None],
    environ: Mapping[str, str],
    now: Callable[[], datetime],
) -> CompiledProject:
    """Return the manifest of the project in ``options["project_dir"]``, without streamt.

    ``options["env"]`` names the environment. Namespaces that are not given may come from the
    project's `.env` files. Raises ``StreamtOlError`` (E501, E502, E503, E506) whose location is
    ``file:line``, with a JSON pointer into the manifest where there is one.
    """
    folder = Folder(Path(_required_folder(options.get("project_dir"))))
    variables = Variables(environ)
    unknown = Unknown()
    document = read_document(folder, options.get("env"), variables, unknown)
    chosen = next_options(options, variables)
    project = project_name(document.root)
    runtime = _runtime(document, chosen)
    sources = [read_source(section) for section in document.lists["sources"]]
    gateway = document.gateway is not None
    macros = Macros(folder)
    models = [read_model(section, macros, gateway=gateway) for section in document.lists["models"]]
    refuse_cycles(models)
    artifacts = compiled_artifacts(project, sources, models)
    manifest = {
        "project": project,
        "compiled_at": chosen.get("event_time") or _utc(now()),
        "runtime": runtime,
        "sources": sources,
        "models": [model.body for model in models],
        "tests": [test.given_texts("name", "type", "model") for test in document.lists["tests"]],
        "exposures": [exposure.given_texts("name") for exposure in document.lists["exposures"]],
        "dag": compiled_dag(sources, models),
        "artifacts": artifacts,
    }
    locations = declared_locations(document, artifacts)
    return CompiledProject(chosen, manifest, locations, unknown.warnings)


def _required_folder(name: str | None) -> str:
    """Return the folder of the project, by default the one we are in."""
    if name is not None and not name.strip():
        at = Location(option="project_dir")
        raise StreamtOlError(PARSE, "the name of the folder is blank", location=at)
    return "." if name is None else name


def _runtime(document: Document, options: Options) -> dict[str, Any]:
    """Return the endpoints that namespaces may be derived from, where none are given.

    A value that is not needed is not read, so that its variables need not be set.
    """
    runtime: dict[str, Any] = {}
    kafka = document.runtime and document.runtime.section("kafka")
    if kafka is not None and options.get("kafka_namespace") is None:
        runtime["kafka"] = _picked(kafka, "bootstrap_servers")
    gateway = document.gateway
    if gateway is not None and options.get("gateway_namespace") is None:
        runtime["conduktor"] = {"gateway": _picked(gateway, "proxy_bootstrap")}
    return runtime


def _picked(section: Section, *keys: str) -> dict[str, str]:
    return {key: text for key in keys if (text := section.text(key)) is not None}


def _utc(time: datetime) -> str:
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
