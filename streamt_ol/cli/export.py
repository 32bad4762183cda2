"""`streamt-ol export`: a manifest or a project becomes canonical OpenLineage JSON Lines."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamt_ol import pipeline, runner
from streamt_ol.cli import options
from streamt_ol.cli.output import Output
from streamt_ol.cli.report import written
from streamt_ol.contracts import State
from streamt_ol.problems import USAGE, StreamtOlError

if TYPE_CHECKING:
    from streamt_ol.stages.compile_project import CompileProject

RELEASE = {"standard": "OpenLineage", "release": "1.53.0", "core_schema": "2-0-2"}
PROJECT_FILE = "stream_project.yml"


def export(
    context: typer.Context,
    manifest: Annotated[
        str | None,
        typer.Argument(
            metavar="[MANIFEST]", help="A compiled manifest.json; - or nothing reads a pipe."
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
    given = {
        **_origin(manifest, project_dir, env),
        "job_namespace": job_namespace,
        "kafka_namespace": kafka_namespace,
        "gateway_namespace": gateway_namespace,
        "event_time": event_time,
    }
    own: dict[str, runner.Stage] = {"emit": _emit(output, output_file)}
    project = _project() if given.get("project_dir") is not None else None
    first = "load_manifest"
    if project is not None:
        first, own["compile_project"] = "compile_project", project
    chain = pipeline.stages(pipeline.replacements(stage or []), own, first)
    with _no_collector(), options.named_source(given, os.environ):
        canonical = _canonical(chain[:-1], options.chosen(given, os.environ, {}), project)
        if check is not None:
            from streamt_ol.cli.export_check import check_current

            check_current(output, check, canonical, [] if quiet else canonical["warnings"])
            return
        result = runner.run(chain[-1:], canonical)
    warnings = [] if quiet else result["warnings"]
    if output.json:
        output.envelope(_data(canonical, result), warnings)
        return
    if output_file is not None:
        output.text(written(result, output_file))
    output.warnings(warnings)


@contextmanager
def _no_collector() -> Iterator[None]:
    """Keep the collector away: parsed JSON has no cycles, it would walk it again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _canonical(
    chain: list[runner.NamedStage],
    chosen: dict[str, str | None],
    project: CompileProject | None,
) -> State:
    """Return the canonical state; a project tells where in its files a fault stands."""
    try:
        canonical = runner.run(chain, {"options": chosen})
    except StreamtOlError as error:
        raise (project.located(error) if project is not None else error) from None
    if project is not None:
        canonical["warnings"] = [project.located_warning(w) for w in canonical["warnings"]]
    return canonical


def _origin(
    manifest: str | None, project_dir: str | None, env: str | None
) -> dict[str, str | None]:
    """Return what to read: the manifest or the project named, a pipe, or the project here."""
    if manifest is not None and project_dir is not None:
        raise StreamtOlError(USAGE, "give a manifest or --project-dir, not both")
    if project_dir is not None:
        return {"project_dir": project_dir, "env": env}
    if manifest is None and sys.stdin is not None and sys.stdin.isatty():
        if Path(PROJECT_FILE).is_file():
            return {"project_dir": ".", "env": env}
        raise StreamtOlError(
            USAGE,
            "no manifest is given, and standard input is a terminal",
            suggestion="name a manifest, e.g. generated/manifest.json, pipe one in, "
            "or name a project with --project-dir",
        )
    if env is not None:
        raise StreamtOlError(USAGE, "--env chooses an environment of a --project-dir")
    return {"manifest": "-" if manifest is None else manifest}


def _project() -> CompileProject:
    from streamt_ol.stages.compile_project import CompileProject

    return CompileProject()


def _emit(output: Output, output_file: Path | None) -> runner.Stage:
    """Return the last stage: to stdout, to a file, or, for the envelope, to nowhere else."""
    from streamt_ol.stages.emit import Emit

    return Emit(output_file=output_file) if output.json else Emit(output.data, output_file)


def _data(canonical: State, result: State) -> dict[str, Any]:
    data = {**RELEASE, "events": canonical["events"], "counts": result["counts"]}
    if result.get("output_file") is not None:
        data["output_file"] = result["output_file"]
    return data
