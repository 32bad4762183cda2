"""`streamt-ol apply`: runs `streamt apply`, and reports its durable operation where asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from streamt_ol.cli import child
from streamt_ol.cli.parameters import Context, option
from streamt_ol.problems import INVALID, StreamtOlError

if TYPE_CHECKING:
    from streamt_ol.cli.emission import Declared
    from streamt_ol.cli.output import Output
    from streamt_ol.project import StateBackend
    from streamt_ol.runs.child import Ended

PARSING = child.PASS_ON


def streamt_apply(
    context: Context,
    project_dir: child.ProjectDir = None,
    env: child.Environment = None,
    manifest: child.Manifest = None,
    operation_file: Annotated[
        Path | None,
        option(
            metavar="PATH",
            help="The operation marker, where it is not DIR/.streamt/state/ENV.control.json.",
        ),
    ] = None,
    streamt: child.Streamt = child.STREAMT,
    emit_openlineage: child.Emit = False,
    openlineage_job_namespace: child.JobNamespace = None,
    openlineage_kafka_namespace: child.KafkaNamespace = None,
    openlineage_gateway_namespace: child.GatewayNamespace = None,
    more: child.More = None,
) -> int:
    """Run `streamt apply` with the same options, its streams and its exit status untouched.

    With --emit-openlineage its durable operation is reported: START when its marker appears,
    COMPLETE when it is cleared after a commit, FAIL or ABORT otherwise. A command that begins
    no operation reports nothing.
    """
    output: Output = context.obj
    own = child.options(project_dir=project_dir, env=env)
    arguments = child.streamt_line(streamt, output, "apply", own, more)
    if not emit_openlineage:
        return child.become(arguments, output)
    from streamt_ol.runs.arguments import read_arguments

    wanted = read_arguments(more or (), project_dir=project_dir, env=env)
    if not wanted.runs:
        return child.become(arguments, output)
    from streamt_ol.cli import emission

    given = {
        "job_namespace": openlineage_job_namespace,
        "kafka_namespace": openlineage_kafka_namespace,
        "gateway_namespace": openlineage_gateway_namespace,
    }
    declared = emission.Declared(manifest, wanted, given)
    ended = _reported(declared, arguments, operation_file, output)
    return child.status_of(ended, streamt, output, streamt=True)


def _reported(
    declared: Declared, arguments: list[str], operation_file: Path | None, output: Output
) -> Ended:
    from streamt_ol.cli import emission
    from streamt_ol.openlineage.names import command_job_name
    from streamt_ol.resolution.settings import Namespaces
    from streamt_ol.runs import Job, RunSpec

    config = emission.transport_config()
    project = declared.identity()
    if operation_file is None:
        _require_local_state(project.backend)
    namespaces = Namespaces(project.options, None)
    spec = RunSpec(Job(namespaces.job, command_job_name(project.name, "apply")))
    location = declared.marker_location(project.name, operation_file)
    return emission.report_apply(spec, location, arguments, output, config)


def _require_local_state(backend: StateBackend | None) -> None:
    """Raise E506 where the project keeps its state where no marker can be seen."""
    from streamt_ol.project import LOCAL
    from streamt_ol.redaction import shown

    if backend is not None and backend.name != LOCAL:
        raise StreamtOlError(
            INVALID,
            f"the deployment state is kept by the backend {shown(backend.name)}, which writes no "
            "local operation marker, so that an apply cannot be reported",
            location=backend.location,
            suggestion="apply without --emit-openlineage, or name the marker with --operation-file",
        )
