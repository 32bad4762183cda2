"""`streamt-ol graph`: a picture of lineage, from events, a manifest or a project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from streamt_ol.cli import options
from streamt_ol.cli.output import file_to_write, note, write_file
from streamt_ol.cli.parameters import Context, argument, option
from streamt_ol.lineage.rendering import RENDERERS, format_of, renderer
from streamt_ol.lineage.rendering.style import (
    DIRECTIONS,
    MAX_CHARACTERS,
    MAX_EDGES,
    Style,
    counts,
)
from streamt_ol.problems import USAGE, StreamtOlError
from streamt_ol.redaction import shown_path

if TYPE_CHECKING:
    from streamt_ol.cli.output import Output
    from streamt_ol.lineage.graph import Graph, Key
    from streamt_ol.lineage.rendering.style import Picture


def graph(
    context: Context,
    source: Annotated[
        str | None,
        argument(metavar="EVENTS|MANIFEST", help="A file, or a project's folder; - reads a pipe."),
    ] = None,
    project_dir: options.ProjectDir = None,
    env: options.Environment = None,
    job_namespace: Annotated[
        str | None,
        option(
            options.JOB_NAMESPACE,
            metavar="NAMESPACE",
            help="Namespace of the jobs; may be absent here.",
        ),
    ] = None,
    kafka_namespace: options.KafkaNamespace = None,
    gateway_namespace: options.GatewayNamespace = None,
    format: Annotated[
        str | None,
        option(
            "--format",
            "-f",
            choices=RENDERERS,
            help="What is made. (default: by a file's ending, else html; without a file text)",
        ),
    ] = None,
    output_file: Annotated[
        Path | None,
        option(options.OUTPUT_FILE, metavar="PATH", help="Write to this file, all or nothing."),
    ] = None,
    focus: Annotated[
        str | None,
        option(metavar="NAME", help="Only what leads to and from NAME or NAMESPACE/NAME."),
    ] = None,
    up: Annotated[
        int | None,
        option(min=0, metavar="N", help="Steps before the focus. (default: all)"),
    ] = None,
    down: Annotated[
        int | None,
        option(min=0, metavar="N", help="Steps behind the focus. (default: all)"),
    ] = None,
    direction: Annotated[
        str,
        option(choices=DIRECTIONS, help="Where the data flows to: left, right, top, bottom."),
    ] = DIRECTIONS[0],
    datasets_only: Annotated[bool, option("--datasets-only", help="Leave the jobs out.")] = False,
    jobs_only: Annotated[bool, option("--jobs-only", help="Leave the datasets out.")] = False,
    group: Annotated[
        str | None, option(choices=["namespace"], help="Draw what belongs together: namespace.")
    ] = None,
    columns: Annotated[
        bool, option("--columns", help="Draw which column is made from which.")
    ] = False,
    max_edges: Annotated[
        int, option(min=1, metavar="N", help="Mermaid: edges that its page will draw.")
    ] = MAX_EDGES,
    max_characters: Annotated[
        int, option(min=2_000, metavar="N", help="Mermaid: text that its page will take.")
    ] = MAX_CHARACTERS,
    quiet: options.Quiet = False,
) -> None:
    """Draw lineage: from OpenLineage events, a compiled manifest or a streamt project."""
    from streamt_ol.cli import lineage_source

    output: Output = context.obj
    if datasets_only and jobs_only:
        raise StreamtOlError(USAGE, "--datasets-only and --jobs-only leave nothing to draw")
    if focus is None and (up is not None or down is not None):
        raise StreamtOlError(USAGE, "--up and --down count from a --focus, and none is given")
    chosen = format or ("text" if output_file is None else format_of(output_file))
    settings = lineage_source.ExportSettings(env, job_namespace, kafka_namespace, gateway_namespace)
    name, project = lineage_source.chosen_input(source, project_dir)
    output_file = file_to_write(output, output_file)
    if output_file is not None:
        options.refuse_target([name], output_file)
    lineage = lineage_source.load(name, settings, project=project, implicit=source is None)
    kind = "dataset" if datasets_only else "job" if jobs_only else None
    drawn, key = _selected(lineage.graph, kind, focus, up, down)
    style = Style(
        direction=direction,
        group=group is not None,
        columns=columns,
        focus=key,
        max_edges=max_edges,
        max_characters=max_characters,
    )
    picture = renderer(chosen)(drawn, style)
    if output_file is not None:
        write_file(output_file, [picture.text.encode()])
    warnings = [] if quiet else lineage.warnings
    if output.json:
        output.envelope(_data(drawn, style, chosen, picture, output_file), warnings)
        return
    if output_file is None:
        output.data([picture.text.encode()])
    else:
        output.text(
            f"drew {counts(drawn.nodes, len(drawn.edges))} to {shown_path(str(output_file))}"
        )
    if picture.left_out:
        note(f"left out of the picture: {picture.left_out}")
    output.warnings(warnings)


def _selected(
    graph: Graph, kind: str | None, focus: str | None, up: int | None, down: int | None
) -> tuple[Graph, Key | None]:
    from streamt_ol.lineage import selection

    if kind is not None:
        graph = selection.only(graph, kind)
    if focus is None:
        return graph, None
    key = selection.find(graph, focus)
    return selection.around(graph, key, up, down), key


def _data(
    drawn: Graph, style: Style, chosen: str, picture: Picture, output_file: Path | None
) -> dict[str, Any]:
    """Return the ``data`` of the envelope: the graph itself for text and JSON, else the picture."""
    from streamt_ol.lineage.rendering.document import graph_document

    data: dict[str, Any] = {"format": chosen}
    if output_file is not None:
        data["output_file"] = str(output_file)
    elif chosen in ("json", "text"):
        data["graph"] = graph_document(drawn, style)
    else:
        data["picture"] = picture.text
    return {**data, "left_out": picture.left_out} if picture.left_out else data
