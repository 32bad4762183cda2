"""`streamt-ol stage`: one stage of the pipeline as a filter from JSON to JSON."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

from streamt_ol import pipeline, runner
from streamt_ol.cli import options
from streamt_ol.cli.output import Output, file_to_write, written
from streamt_ol.cli.parameters import Context, argument, option
from streamt_ol.cli.progress import elapsed
from streamt_ol.cli.source import refuse_project
from streamt_ol.contracts import State
from streamt_ol.export.environment import variable_named, with_environment
from streamt_ol.problems import INVALID, PARSE, USAGE, Location, StreamtOlError
from streamt_ol.reading import strict_json
from streamt_ol.reading.files import DOCUMENT, JSON_STARTS, read_input
from streamt_ol.reading.opening import STDIN, STDIN_NAME
from streamt_ol.redaction import shown_path

LAST = "emit"
# The stages that read files, and the options that only they take.
READERS = {"load_manifest": ("manifest",), "compile_project": ("project_dir", "env")}


def stage(
    context: Context,
    name: Annotated[
        str | None, argument(metavar="NAME", help="The stage, e.g. build-facets.")
    ] = None,
    manifest: Annotated[
        str | None,
        argument(metavar="MANIFEST", help="For load-manifest: the file; - reads a pipe."),
    ] = None,
    show_list: Annotated[
        bool, option("--list", help="List the stages in their order and stop.")
    ] = False,
    job_namespace: options.JobNamespace = None,
    kafka_namespace: options.KafkaNamespace = None,
    gateway_namespace: options.GatewayNamespace = None,
    event_time: options.EventTime = None,
    output_file: Annotated[
        Path | None,
        option(
            options.OUTPUT_FILE,
            metavar="PATH",
            help="For emit: write to this file, all or nothing.",
        ),
    ] = None,
    project_dir: Annotated[
        str | None,
        option(
            options.PROJECT_DIR,
            metavar="FOLDER",
            help="For compile-project: the folder of the project.",
        ),
    ] = None,
    env: Annotated[
        str | None,
        option(
            options.ENV,
            metavar="NAME",
            help="For compile-project: the project's environment; or STREAMT_ENV.",
        ),
    ] = None,
    pretty: Annotated[bool, option("--pretty", help="Print the JSON over many lines.")] = False,
    quiet: Annotated[
        bool, option("--quiet", "-q", help="For emit: do not print warnings.")
    ] = False,
) -> None:
    """Run one stage of the export: its input is JSON on stdin, its result JSON on stdout."""
    output: Output = context.obj
    if show_list:
        _list(output)
        return
    if name is None:
        raise StreamtOlError(USAGE, "no stage is named", suggestion="streamt-ol stage --list")
    known = pipeline.stage_name(name)
    refuse_project(manifest, f"stage compile-project {options.PROJECT_DIR}")
    given = {
        "manifest": manifest,
        "job_namespace": job_namespace,
        "kafka_namespace": kafka_namespace,
        "gateway_namespace": gateway_namespace,
        "event_time": event_time,
        "project_dir": project_dir,
        "env": env,
    }
    for reader, names in READERS.items():
        if known != reader and any(given[name] is not None for name in names):
            message = f"only {reader} takes {' and '.join(names)}"
            raise StreamtOlError(USAGE, message, suggestion="use a pipe")
    if output_file is not None and known != LAST:
        raise StreamtOlError(USAGE, f"only {LAST} takes {options.OUTPUT_FILE}")
    if known == "load_manifest" and manifest is None and _is_terminal():
        raise StreamtOlError(USAGE, "no manifest is given, and standard input is a terminal")
    output_file = file_to_write(output, output_file)
    with elapsed("reading the state"):
        state = {"options": {}} if known in READERS else _read_state()
    if isinstance(state, dict) and isinstance(carried := state.get("options"), dict):
        own = {key: value for key, value in given.items() if value is not None}
        state["options"] = with_environment({**carried, **own}, os.environ)
    waiting = elapsed(f"running {known}") if known in READERS else nullcontext()
    with waiting, variable_named(given, os.environ):
        result = runner.run(_stages(known, output, output_file), state)
    if known == LAST and not output.json:
        if output_file is not None:
            output.text(written(result["counts"], output_file))
        output.warnings([] if quiet else result["warnings"])
        return
    _print(output, result, pretty=pretty)


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _stages(name: str, output: Output, output_file: Path | None) -> list[runner.NamedStage]:
    """Return the stage, with its contract checked on both sides, since it runs alone."""
    if name != LAST:
        return [pipeline.stage(name, checked=True)]
    from streamt_ol.stages.emit import Emit

    if output_file is not None:
        options.refuse_target([STDIN], output_file)

    call = Emit(output_file=output_file) if output.json else Emit(output.data, output_file)
    return [pipeline.GUARD, pipeline.stage(name, call, checked=True)]


def _read_state() -> Any:
    if sys.stdin is None or _is_terminal():
        raise StreamtOlError(USAGE, "the stage reads JSON from a pipe, and there is none")
    try:
        return strict_json.loads(read_input(STDIN, DOCUMENT, JSON_STARTS), strict_json.WRITABLE)
    except OSError as error:
        message = f"standard input cannot be read: {error.strerror}"
        raise StreamtOlError(PARSE, message, location=Location(file=STDIN_NAME)) from None
    except strict_json.JsonFaultError as fault:
        at = Location(file=STDIN_NAME, line=fault.line)
        if fault.pointer:
            at = Location(pointer=shown_path(fault.pointer))
        raise StreamtOlError(PARSE, fault.message, location=at) from None


def _print(output: Output, result: State, *, pretty: bool) -> None:
    if output.json:
        data = {key: value for key, value in result.items() if key != "warnings"}
        output.envelope(data, result.get("warnings", []))
        return
    import orjson

    try:
        text = orjson.dumps(result, option=orjson.OPT_INDENT_2 if pretty else 0)
    except TypeError:
        message = "what the stage returns cannot be written as JSON: it is not valid Unicode"
        raise StreamtOlError(INVALID, message, location="stdout") from None
    output.document(text)


def _list(output: Output) -> None:
    if output.json:
        rows = [{"name": name, "summary": e.summary} for name, e in pipeline.STAGES.items()]
        output.envelope({"stages": rows})
        return
    width = max(map(len, pipeline.STAGES))
    lines = (f"{name:<{width}}  {entry.summary}\n" for name, entry in pipeline.STAGES.items())
    output.data(line.encode() for line in lines)
