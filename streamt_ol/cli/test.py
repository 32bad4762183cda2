"""`streamt-ol test`: runs `streamt test`, and reports it as one run where that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from streamt_ol.cli import child
from streamt_ol.cli.parameters import Context, option
from streamt_ol.problems import StreamtOlError

if TYPE_CHECKING:
    from pathlib import Path

    from streamt_ol.cli.emission import AnyTransportConfig, Given
    from streamt_ol.cli.output import Output
    from streamt_ol.runs import RunSpec

PARSING = child.PASS_ON


def streamt_test(
    context: Context,
    project_dir: child.ProjectDir = None,
    env: child.Environment = None,
    model: Annotated[
        str | None, option("--model", "-m", metavar="MODEL", help="Handed to streamt.")
    ] = None,
    type: Annotated[
        str | None,
        option(metavar="sample|schema|continuous", help="Handed to streamt."),
    ] = None,
    manifest: child.Manifest = None,
    streamt: child.Streamt = child.STREAMT,
    emit_openlineage: child.Emit = False,
    openlineage_job_namespace: child.JobNamespace = None,
    openlineage_kafka_namespace: child.KafkaNamespace = None,
    openlineage_gateway_namespace: child.GatewayNamespace = None,
    more: child.More = None,
) -> int:
    """Run `streamt test` with the same options, its streams and its exit status untouched.

    With --emit-openlineage the run is reported: START before it begins, then COMPLETE, FAIL or
    ABORT. Coverage, --deploy and an empty selection report nothing.
    """
    output: Output = context.obj
    own = {"project_dir": project_dir, "env": env, "model": model, "type": type}
    arguments = child.streamt_line(streamt, output, "test", child.options(**own), more)
    reported = None
    if emit_openlineage:
        given = {
            "job_namespace": openlineage_job_namespace,
            "kafka_namespace": openlineage_kafka_namespace,
            "gateway_namespace": openlineage_gateway_namespace,
        }
        reported = _reported(manifest, own, more or [], given)
    if reported is None:
        return child.become(arguments, output)
    from streamt_ol.cli.emission import report_child

    spec, config = reported
    ended = report_child(spec, arguments, output, config, streamt=True)
    return child.status_of(ended, streamt, output, streamt=True)


def _reported(
    manifest_path: Path | None, own: Given, more: list[str], given: Given
) -> tuple[RunSpec, AnyTransportConfig] | None:
    """Return the run and its transport, or None where the options ``own`` and ``more`` run no test.

    Nothing that only a run needs is asked for before it is known that there is one.
    """
    from streamt_ol.runs.arguments import read_arguments

    wanted = read_arguments(more, **own)
    if not wanted.runs:
        return None
    from streamt_ol.cli import emission
    from streamt_ol.manifest.locations import Locations
    from streamt_ol.openlineage.names import command_job_name
    from streamt_ol.resolution.settings import Namespaces
    from streamt_ol.runs import Job, RunSpec
    from streamt_ol.runs.selection import sampled_datasets, selected

    declared = emission.Declared(manifest_path, wanted, given)
    try:
        state = declared.compiled()
    except StreamtOlError:
        if manifest_path is None and not selected(declared.identity().tests, wanted):
            return None
        raise
    manifest = state["manifest"]
    tests = selected(manifest.get("tests") or (), wanted)
    if not tests:
        return None
    config = emission.transport_config()
    locations = Locations(state.get("locations"))
    namespaces = Namespaces(state["options"], manifest.get("runtime"), locations)
    inputs = sampled_datasets(tests, manifest, namespaces, locations)
    name = command_job_name(manifest["project"], "test")
    return RunSpec(Job(namespaces.job, name, job_type="TEST"), inputs), config
