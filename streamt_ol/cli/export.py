"""`streamt-ol export`: a compiled manifest becomes canonical OpenLineage JSON Lines."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from streamt_ol import pipeline, runner
from streamt_ol.cli import options
from streamt_ol.cli.output import Output
from streamt_ol.contracts import State
from streamt_ol.problems import USAGE, StreamtOlError
from streamt_ol.redaction import place

RELEASE = {"standard": "OpenLineage", "release": "1.53.0", "core_schema": "2-0-2"}


def export(
    context: typer.Context,
    manifest: Annotated[
        str | None,
        typer.Argument(
            metavar="[MANIFEST]", help="A compiled manifest.json; - or nothing reads a pipe."
        ),
    ] = None,
    job_namespace: options.JobNamespace = None,
    kafka_namespace: options.KafkaNamespace = None,
    gateway_namespace: options.GatewayNamespace = None,
    event_time: options.EventTime = None,
    output_file: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Write the lines to this file, all or nothing."),
    ] = None,
    stage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=module:function", help="Put a function in the place of a stage."
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Export what a compiled streamt project declares as OpenLineage JSON Lines."""
    # Parsed JSON has no cycles: the collector would only walk it again and again.
    gc.disable()
    output: Output = context.obj
    given = {
        "manifest": _manifest(manifest),
        "job_namespace": job_namespace,
        "kafka_namespace": kafka_namespace,
        "gateway_namespace": gateway_namespace,
        "event_time": event_time,
    }
    *before, last = pipeline.stages(
        pipeline.replacements(stage or []), {"emit": _emit(output, output_file)}
    )
    canonical = runner.run(before, {"options": options.chosen(given, os.environ, {})})
    result = runner.run([last], canonical)
    warnings = [] if quiet else result["warnings"]
    if output.json:
        output.envelope(_data(canonical, result), warnings)
        return
    if output_file is not None:
        counts = result["counts"]
        output.text(
            f"wrote {counts['total']} events ({counts['dataset']} datasets, {counts['job']} jobs) "
            f"to {place(str(output_file))}"
        )
    output.warnings(warnings)


def _manifest(argument: str | None) -> str:
    """Return which manifest to read: the argument, or a pipe on standard input."""
    if argument is not None:
        return argument
    if sys.stdin is not None and sys.stdin.isatty():
        raise StreamtOlError(
            USAGE,
            "no manifest is given, and standard input is a terminal",
            suggestion="name a manifest, e.g. generated/manifest.json, or pipe one in",
        )
    return "-"


def _emit(output: Output, output_file: Path | None) -> runner.Stage:
    """Return the last stage: to stdout, to a file, or, for the envelope, to nowhere else."""
    from streamt_ol.stages.emit import Emit  # noqa: PLC0415 - the pipeline imports it as well

    return Emit(output_file=output_file) if output.json else Emit(output.data, output_file)


def _data(canonical: State, result: State) -> dict[str, Any]:
    data = {**RELEASE, "events": canonical["events"], "counts": result["counts"]}
    if result.get("output_file") is not None:
        data["output_file"] = result["output_file"]
    return data
