"""`streamt-ol export`: a manifest or a project becomes canonical OpenLineage JSON Lines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from streamt_ol import collector, pipeline
from streamt_ol.cli import options
from streamt_ol.cli.output import Output, file_to_write, written
from streamt_ol.cli.progress import elapsed
from streamt_ol.cli.source import hinted, refuse_project, source_of
from streamt_ol.contracts import Canonical, Emitted
from streamt_ol.export.canonical import canonical_state, write
from streamt_ol.export.options import ExportOptions
from streamt_ol.openlineage.release import CORE_VERSION, RELEASE, STANDARD
from streamt_ol.problems import USAGE, StreamtOlError
from streamt_ol.redaction import place

_RELEASE = {"standard": STANDARD, "release": RELEASE, "core_schema": CORE_VERSION}


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
            metavar="STAGE=FUNCTION",
            help="Put a function in the place of a stage, e.g. emit=package.module:function.",
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
    output_file = file_to_write(output, output_file)
    refuse_project(manifest)
    implicit = manifest is None
    manifest, project_dir = source_of(manifest, project_dir, env)
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
    with collector.paused(), hinted(implicit=implicit):
        with elapsed(f"exporting {_named(chosen)}"):
            canonical = canonical_state(chosen, os.environ, replaced)
        collector.keep(canonical)
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


def _named(chosen: ExportOptions) -> str:
    """Return a name for what is exported, safe to show."""
    if chosen.project_dir is not None:
        return place(chosen.project_dir)
    return "standard input" if chosen.manifest in (None, "-") else place(str(chosen.manifest))


def _data(canonical: Canonical, emitted: Emitted) -> dict[str, Any]:
    data: dict[str, Any] = {**_RELEASE, "events": canonical["events"], "counts": emitted["counts"]}
    if (file := emitted.get("output_file")) is not None:
        data["output_file"] = file
    return data
