"""`streamt-ol export`: a manifest or a project becomes canonical OpenLineage JSON Lines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from streamt_ol import collector, pipeline
from streamt_ol.cli import exits, options
from streamt_ol.cli.output import Output, file_to_write, written
from streamt_ol.cli.parameters import Context, argument, option
from streamt_ol.cli.progress import elapsed
from streamt_ol.cli.source import hinted, refuse_project, source_of
from streamt_ol.contracts import Canonical, Emitted
from streamt_ol.export.canonical import canonical_state, write
from streamt_ol.export.options import ExportOptions
from streamt_ol.openlineage.release import CORE_VERSION, RELEASE, STANDARD
from streamt_ol.problems import INVALID, PARSE, USAGE, Location, StreamtOlError, WarningRecord
from streamt_ol.redaction import shown_path

_MAX_SHOWN = 100
_RELEASE = {"standard": STANDARD, "release": RELEASE, "core_schema": CORE_VERSION}


def export(
    context: Context,
    manifest: Annotated[
        str | None,
        argument(
            metavar="MANIFEST",
            help="A compiled manifest.json; - is standard input. Without one: standard input where "
            "that is a pipe or a file, else the project in this folder.",
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
        option(
            options.OUTPUT_FILE,
            metavar="PATH",
            help="Write the lines to this file, all or nothing.",
        ),
    ] = None,
    check: Annotated[
        Path | None,
        option(metavar="FILE", help="Write nothing; fail unless this earlier export is current."),
    ] = None,
    stage: Annotated[
        list[str] | None,
        option(
            metavar="STAGE=FUNCTION",
            help="Put a function in the place of a stage, e.g. emit=package.module:function.",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> int:
    """Export what a streamt project declares as OpenLineage JSON Lines."""
    output: Output = context.obj
    if check is not None and output_file is not None:
        raise StreamtOlError(USAGE, f"--check writes nothing, so it takes no {options.OUTPUT_FILE}")
    if check is not None and str(check) == "-":
        raise StreamtOlError(USAGE, "--check takes the name of a file, not standard input")
    output_file = file_to_write(output, output_file)
    refuse_project(manifest)
    implicit = manifest is None
    manifest, project_dir = source_of(manifest, project_dir, env)
    if output_file is not None:
        options.refuse_target([str(project_dir if manifest is None else manifest)], output_file)
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
            return _check(output, check, canonical, [] if quiet else canonical["warnings"])
        emitted = write(canonical, None if output.json else output.data, output_file, replaced)
    warnings = [] if quiet else emitted["warnings"]
    if output.json:
        output.envelope(_data(canonical, emitted), warnings)
        return exits.DONE
    if output_file is not None:
        output.text(written(emitted["counts"], output_file))
    output.warnings(warnings)
    return exits.DONE


def _check(
    output: Output, file: Path, canonical: Canonical, warnings: Sequence[WarningRecord]
) -> int:
    """Compare the events of ``canonical`` with the earlier export in ``file``.

    Only ``eventTime`` may differ. Prints the changes, one per line; returns the exit status.
    Raises E501 for a file that cannot be read.
    """
    from streamt_ol.lineage.comparison import changes
    from streamt_ol.reading.files import DOCUMENT, read_file

    name = shown_path(str(file))
    try:
        earlier = read_file(str(file), DOCUMENT)
    except OSError as error:
        message = f"the earlier export cannot be read: {error.strerror}"
        raise StreamtOlError(PARSE, message, location=Location(file=name)) from None
    found = changes(earlier, name, canonical["events"])
    data = {"check": str(file), "changes": found, "counts": canonical["counts"]}
    if found:
        _tell_changes(output, name, found, data)
        return exits.REFUSED
    if output.json:
        output.envelope(data, warnings)
    else:
        output.text(f"{name} is current: {canonical['counts']['total']} events")
        output.warnings(warnings)
    return exits.DONE


def _tell_changes(output: Output, name: str, found: list[str], data: dict[str, Any]) -> None:
    if not output.json:
        for change in found[:_MAX_SHOWN]:
            output.text(change)
        if len(found) > _MAX_SHOWN:
            output.text(f"... and {len(found) - _MAX_SHOWN} more")
    what = "1 change" if len(found) == 1 else f"{len(found)} changes"
    stale = StreamtOlError(
        INVALID,
        f"the export is not current: {what}",
        location=Location(file=name),
        suggestion=f"export again with {options.OUTPUT_FILE} in the place of --check",
    )
    output.error(stale, data)


def _named(chosen: ExportOptions) -> str:
    """Return a name for what is exported, safe to show."""
    if chosen.project_dir is not None:
        return shown_path(chosen.project_dir)
    return "standard input" if chosen.manifest in (None, "-") else shown_path(str(chosen.manifest))


def _data(canonical: Canonical, emitted: Emitted) -> dict[str, Any]:
    data: dict[str, Any] = {**_RELEASE, "events": canonical["events"], "counts": emitted["counts"]}
    if (file := emitted.get("output_file")) is not None:
        data["output_file"] = file
    return data
