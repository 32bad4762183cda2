"""`streamt-ol export`: a manifest or a project becomes canonical OpenLineage JSON Lines."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from streamt_ol import collector, pipeline
from streamt_ol.cli import options
from streamt_ol.cli.output import Output, written
from streamt_ol.cli.progress import elapsed
from streamt_ol.contracts import Canonical, Emitted
from streamt_ol.export.canonical import canonical_state, write
from streamt_ol.export.options import ExportOptions
from streamt_ol.openlineage.release import CORE_VERSION, RELEASE, STANDARD
from streamt_ol.problems import USAGE, StreamtOlError
from streamt_ol.redaction import place

_RELEASE = {"standard": STANDARD, "release": RELEASE, "core_schema": CORE_VERSION}
_OTHER_SOURCES = (
    "name a manifest, e.g. generated/manifest.json, pipe one in, or name a project's folder "
    "with --project-dir"
)


def export(
    context: typer.Context,
    manifest: Annotated[
        str | None,
        typer.Argument(
            metavar="[MANIFEST]",
            help="A compiled manifest.json; - or nothing reads a pipe or a file on standard input, "
            "and where that is neither, nothing means the project in this folder.",
        ),
    ] = None,
    project_dir: options.ProjectDir = None,
    env: options.Environment = None,
    job_namespace: options.JobNamespace = None,
    kafka_namespace: options.KafkaNamespace = None,
    gateway_namespace: options.GatewayNamespace = None,
    event_time: options.EventTime = None,
    output_file: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Write the lines to this file, all or nothing."),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write nothing; fail unless this earlier export is current."
        ),
    ] = None,
    stage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=module:function", help="Put a function in the place of a stage."
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Export what a streamt project declares as OpenLineage JSON Lines."""
    output: Output = context.obj
    if check is not None and output_file is not None:
        raise StreamtOlError(USAGE, "--check writes nothing, so it takes no --output-file")
    if check is not None and str(check) == "-":
        raise StreamtOlError(USAGE, "--check takes the name of a file, not standard input")
    implicit = manifest is None
    manifest, project_dir = _source(manifest, project_dir, env)
    chosen = ExportOptions(
        manifest=manifest,
        project_dir=project_dir,
        env=env,
        job_namespace=job_namespace,
        kafka_namespace=kafka_namespace,
        gateway_namespace=gateway_namespace,
        event_time=event_time,
    )
    replaced = pipeline.replacements(stage or [])
    with collector.paused(), _hinted(implicit=implicit):
        with elapsed(f"exporting {_named(chosen)}"):
            canonical = canonical_state(chosen, os.environ, replaced)
        if check is not None:
            from streamt_ol.cli.export_check import check_current

            check_current(output, check, canonical, [] if quiet else canonical["warnings"])
            return
        emitted = write(canonical, None if output.json else output.data, output_file, replaced)
    warnings = [] if quiet else emitted["warnings"]
    if output.json:
        output.envelope(_data(canonical, emitted), warnings)
        return
    if output_file is not None:
        output.text(written(emitted["counts"], output_file))
    output.warnings(warnings)


def _source(
    manifest: str | None, project_dir: str | None, env: str | None
) -> tuple[str | None, str | None]:
    """Return the manifest or the project to read: the one named, a pipe, or the project here.

    The project here is meant where standard input is nothing that could hold a manifest: a
    terminal, `/dev/null`, closed.
    """
    if manifest is not None and project_dir is not None:
        raise StreamtOlError(USAGE, "give a manifest or --project-dir, not both")
    if project_dir is not None:
        return None, project_dir
    if manifest is None and not stdin_holds_data():
        from streamt_ol.project.folder import is_project

        if is_project(Path()):
            return None, "."
    if manifest is None and sys.stdin is not None and sys.stdin.isatty():
        raise StreamtOlError(
            USAGE,
            "no manifest is given, and standard input is a terminal",
            suggestion=_OTHER_SOURCES,
        )
    if env is not None:
        raise StreamtOlError(USAGE, "--env chooses an environment of a --project-dir")
    return "-" if manifest is None else manifest, None


def _named(chosen: ExportOptions) -> str:
    """Return a name for what is exported, safe to show."""
    if chosen.project_dir is not None:
        return place(chosen.project_dir)
    return "standard input" if chosen.manifest in (None, "-") else place(str(chosen.manifest))


def stdin_holds_data() -> bool:
    """Return whether standard input is a pipe, a socket or a file."""
    if sys.stdin is None:  # it is closed
        return False
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode)


@contextmanager
def _hinted(*, implicit: bool) -> Iterator[None]:
    """Tell of the other sources where standard input, which nobody named, holds no manifest."""
    try:
        yield
    except StreamtOlError as error:
        at = error.location
        if implicit and error.suggestion is None and at is not None and at.file == "<stdin>":
            error.suggestion = _OTHER_SOURCES
        raise


def _data(canonical: Canonical, emitted: Emitted) -> dict[str, Any]:
    data: dict[str, Any] = {**_RELEASE, "events": canonical["events"], "counts": emitted["counts"]}
    if (file := emitted.get("output_file")) is not None:
        data["output_file"] = file
    return data
