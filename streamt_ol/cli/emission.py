"""Everything about OpenLineage in a command around a child: the preflight, and the report.

Implements the preflight of the specification's "Failure policy": all that can be refused is
refused before the child starts. Imported only by a command that emits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamt_ol.child import Ended, termination_as_exit
from streamt_ol.cli import options
from streamt_ol.problems import USAGE, StreamtOlError, Warned
from streamt_ol.resolution.settings import Namespaces
from streamt_ol.runs import Run, RunSpec, check_spec
from streamt_ol.runs.arguments import read_arguments
from streamt_ol.runs.marker import Place, local_place
from streamt_ol.stages.load_manifest import STDIN, LoadManifest
from streamt_ol.transport.build import open_transport
from streamt_ol.transport.config import read_transport_config

if TYPE_CHECKING:
    from streamt_ol.cli.output import Output
    from streamt_ol.transport.base import Transport

Given = Mapping[str, str | None]
_OPTIONS = ("--job-namespace", "--kafka-namespace", "--gateway-namespace")


def check_transport() -> None:
    """Raise ``StreamtOlError`` unless the environment configures a transport."""
    read_transport_config(os.environ)


def opened_transport(spec: RunSpec) -> Transport:
    """Return the configured transport, once every event of ``spec`` is known to be valid.

    Raises ``StreamtOlError``.
    """
    check_spec(spec)
    return open_transport(read_transport_config(os.environ))


def namespaces(given: Given, manifest: Mapping[str, Any]) -> Namespaces:
    """Return the namespaces: an option, else its environment variable, else derived.

    Raises E506 for a missing job namespace and for any that is invalid.
    """
    return Namespaces(options.chosen(given, os.environ, {}), manifest.get("runtime"))


def declared(manifest: Path | None, words: Sequence[str]) -> dict[str, Any]:
    """Return what streamt, called with the arguments ``words``, will work on.

    That is the compiled ``manifest`` where one is named, else the project. Raises E501.
    """
    if manifest is None:
        raise StreamtOlError(USAGE, "no manifest is given", suggestion="give --manifest FILE")
    if str(manifest) == STDIN:
        raise StreamtOlError(USAGE, "standard input belongs to the command", location="manifest")
    found: dict[str, Any] = LoadManifest()({"options": {"manifest": str(manifest)}})["manifest"]
    return found


def marker_place(project: str, words: Sequence[str], operation_file: Path | None) -> Place:
    """Return where the operation marker of streamt, called with ``words``, is."""
    arguments = read_arguments(words)
    environment = arguments.environment or os.environ.get("STREAMT_ENV") or "default"
    if operation_file is not None:
        return Place(operation_file, project, environment, backend=None)
    return local_place(Path(arguments.project_dir), project, environment)


@contextmanager
def own_option_names() -> Iterator[None]:
    """Let hints of the body's errors name ``--openlineage-job-namespace`` and its like."""
    try:
        yield
    except StreamtOlError as error:
        for name in _OPTIONS:
            if error.suggestion is not None:
                error.suggestion = error.suggestion.replace(name, f"--openlineage-{name[2:]}")
        raise


def _tell(warnings: list[Warned], output: Output) -> None:
    """Print warnings in the order in which they came about."""
    for warning in warnings:
        output.warnings([warning])


def report_child(spec: RunSpec, arguments: list[str], output: Output) -> Ended:
    """Run the child as one run of ``spec``; what was not delivered becomes warnings at the end."""
    from streamt_ol.runs.wrapped import run_wrapped  # noqa: PLC0415 - not for an apply

    warnings: list[Warned] = []
    try:
        with opened_transport(spec) as transport, termination_as_exit():
            run = Run(spec, transport, warn=warnings.append)
            return run_wrapped(run, arguments, os.environ)
    finally:
        _tell(warnings, output)


def report_apply(spec: RunSpec, place: Place, arguments: list[str], output: Output) -> Ended:
    """Run the child, and report the durable operations that the marker at ``place`` shows."""
    from streamt_ol.runs.durable import Deliveries, run_apply  # noqa: PLC0415 - only for an apply

    warnings: list[Warned] = []
    try:
        with opened_transport(spec) as transport, termination_as_exit():
            deliveries = Deliveries(spec, transport, warnings.append)
            ended = run_apply(arguments, os.environ, place, deliveries)
            deliveries.finish()
            return ended
    finally:
        _tell(warnings, output)
