"""`streamt-ol diff`: what changed between two states of lineage, for a reviewer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from streamt_ol.cli import exits, options
from streamt_ol.cli.output import file_to_write, note, write_file
from streamt_ol.cli.parameters import OUTPUT, Context, argument, option
from streamt_ol.lineage.changes import KINDS
from streamt_ol.lineage.rendering.diff import REPORTERS, reporter
from streamt_ol.problems import INVALID, USAGE, Location, StreamtOlError
from streamt_ol.redaction import shown, shown_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamt_ol.cli.lineage_source import ExportSettings
    from streamt_ol.cli.output import Output
    from streamt_ol.lineage.difference import Difference
    from streamt_ol.lineage.graph import Graph
    from streamt_ol.problems import WarningRecord


Side = Annotated[str | None, option(metavar="NAMESPACE", help="As above, for one side.")]


def diff(
    context: Context,
    old: Annotated[
        str,
        argument(
            metavar="OLD",
            help="Events, a manifest or a project's folder; git:REV:PATH is one of them in git.",
        ),
    ],
    new: Annotated[str, argument(metavar="NEW", help="The same; one of both may be -.")],
    format: Annotated[
        str | None,
        option(
            "--format",
            "-f",
            choices=REPORTERS,
            help="How the difference is written. (default: text)",
        ),
    ] = None,
    output_file: Annotated[
        Path | None,
        option(options.OUTPUT_FILE, metavar="PATH", help="Write to this file, all or nothing."),
    ] = None,
    map_namespace: Annotated[
        list[str] | None,
        option(metavar="A=B", help="Compare namespace A as if it were B; may be repeated."),
    ] = None,
    exit_code: Annotated[
        bool, option("--exit-code", help="Exit with 1 if there is any difference.")
    ] = False,
    fail_on: Annotated[
        str | None,
        option(
            metavar="KIND,...",
            help=f"Exit with 1 if there are changes of these kinds: {', '.join(KINDS)}.",
        ),
    ] = None,
    env: Annotated[
        str | None, option(options.ENV, metavar="NAME", help="The environment of each project.")
    ] = None,
    job_namespace: Annotated[
        str | None,
        option(options.JOB_NAMESPACE, metavar="NAMESPACE", help="Of jobs; may be absent here."),
    ] = None,
    kafka_namespace: options.KafkaNamespace = None,
    gateway_namespace: options.GatewayNamespace = None,
    old_env: Annotated[
        str | None, option(metavar="NAME", help="The environment of OLD alone.")
    ] = None,
    new_env: Annotated[
        str | None, option(metavar="NAME", help="The environment of NEW alone.")
    ] = None,
    old_job_namespace: Side = None,
    new_job_namespace: Side = None,
    old_kafka_namespace: Side = None,
    new_kafka_namespace: Side = None,
    old_gateway_namespace: Side = None,
    new_gateway_namespace: Side = None,
    quiet: options.Quiet = False,
) -> int:
    """Compare two states of lineage: events, manifests, projects, or revisions of them in git."""
    from streamt_ol.cli import lineage_source
    from streamt_ol.cli.lineage_source import ExportSettings
    from streamt_ol.lineage.difference import compare
    from streamt_ol.reading.opening import STDIN

    output: Output = context.obj
    failing = _kinds(fail_on)
    chosen = format or ("json" if output.json else "text")
    output_file = file_to_write(output, output_file)
    if output.json and output_file is None and chosen != "json":
        message = f"{OUTPUT} json prints the difference as JSON, so --format {chosen} needs a file"
        raise StreamtOlError(USAGE, message, suggestion=f"name the file with {options.OUTPUT_FILE}")
    if (old, new) == (STDIN, STDIN):
        raise StreamtOlError(USAGE, "OLD and NEW are both standard input")
    if output_file is not None:
        options.refuse_target([old, new], output_file)

    def side(
        env_: str | None, job: str | None, kafka: str | None, gateway: str | None
    ) -> ExportSettings:
        return ExportSettings(
            env_,
            job_namespace if job is None else job,
            kafka_namespace if kafka is None else kafka,
            gateway_namespace if gateway is None else gateway,
            project_env=env,
        )

    settings = (
        side(old_env, old_job_namespace, old_kafka_namespace, old_gateway_namespace),
        side(new_env, new_job_namespace, new_kafka_namespace, new_gateway_namespace),
    )
    lineages = [lineage_source.load(*one) for one in zip((old, new), settings, strict=True)]
    graphs = _mapped([lineage.graph for lineage in lineages], map_namespace or [])
    difference = compare(*graphs)
    _show(output, difference, chosen, output_file)
    warnings = [] if quiet else [one for lineage in lineages for one in lineage.warnings]
    if not output.json:
        output.warnings(warnings)
    return _status(output, difference, failing, warnings, exit_code=exit_code)


def _kinds(given: str | None) -> frozenset[str]:
    """Return the kinds that ``--fail-on`` names. Raises E500 for one that does not exist."""
    kinds = [kind.strip() for kind in given.split(",")] if given is not None else []
    for kind in kinds:
        if kind not in KINDS:
            raise StreamtOlError(
                USAGE,
                f"there is no kind {shown(kind)} of changes",
                location=Location(option="fail_on"),
                suggestion=f"the kinds are {', '.join(KINDS)}",
            )
    return frozenset(kinds)


def _mapped(graphs: Sequence[Graph], mappings: Sequence[str]) -> list[Graph]:
    """Return both graphs with the namespaces that are to be compared as one."""
    from streamt_ol.lineage.difference import relabelled

    names: dict[str, str] = {}
    for mapping in mappings:
        source, separator, target = mapping.partition("=")
        if not separator or "=" in target or names.get(source, target) != target:
            message = f"{shown(mapping, 200)} is not A=B" if source not in names else (
                f"{shown(source, 200)} is mapped twice"
            )  # fmt: skip
            raise StreamtOlError(USAGE, message, location=Location(option="map_namespace"))
        names[source] = target
    known = {key.namespace for graph in graphs for key in graph.nodes}
    for source in (name for name in names if name not in known):
        note(f"--map-namespace: nothing is in {shown(source, 200)}")
    names |= _namespace_of_jobs(graphs, names)
    if not names:
        return list(graphs)
    try:
        return [
            relabelled(
                graph, lambda key: key._replace(namespace=names.get(key.namespace, key.namespace))
            )
            for graph in graphs
        ]
    except StreamtOlError as error:
        error.location = Location(option="map_namespace")
        raise


def _namespace_of_jobs(graphs: Sequence[Graph], names: dict[str, str]) -> dict[str, str]:
    """Return what the jobs without a namespace are compared with: the other side's only one."""
    found = [
        {names.get(key.namespace, key.namespace) for key in graph.nodes if key.kind == "job"}
        for graph in graphs
    ]
    others = found[0] | found[1]
    if {""} in found and "" not in names and found[0] != found[1]:
        match sorted(others):
            case ["", other]:
                return {"": other}
    return {}


def _show(output: Output, difference: Difference, form: str, output_file: Path | None) -> None:
    from streamt_ol.lineage.wording import summary

    if output_file is not None:
        write_file(output_file, [reporter(form)(difference).encode()])
    if output.json:
        return
    if output_file is None:
        output.data([reporter(form)(difference).encode()])
    else:
        output.text(f"{summary(difference.changes)}; written to {shown_path(str(output_file))}")


def _status(
    output: Output,
    difference: Difference,
    failing: frozenset[str],
    warnings: Sequence[WarningRecord],
    *,
    exit_code: bool,
) -> int:
    """Return the exit status, and say why it is not 0."""
    from streamt_ol.lineage.rendering.diff_document import diff_document
    from streamt_ol.lineage.wording import summary

    failed = [c for c in difference.changes if exit_code or c.kind in failing]
    if failed:
        option = "exit_code" if exit_code else "fail_on"
        error = StreamtOlError(INVALID, summary(failed), location=Location(option=option))
        output.error(error, diff_document(difference) if output.json else None)
        return exits.REFUSED
    if output.json:
        output.envelope(diff_document(difference), warnings)
    return exits.DONE
