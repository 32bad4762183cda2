"""`streamt-ol validate`: any OpenLineage JSON Lines, offline, with places."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from streamt_ol.cli.options import OUTPUT_FILE, known_rules, refuse_target, size_of
from streamt_ol.cli.output import file_to_write, write_file
from streamt_ol.cli.parameters import OUTPUT, Context, argument, option
from streamt_ol.problems import USAGE, StreamtOlError
from streamt_ol.reading.expansion import expanded
from streamt_ol.redaction import shown_path
from streamt_ol.scale.engines import ENGINES, LOCAL
from streamt_ol.scale.options import SPLIT_BYTES, ScaleOptions, worth_splits
from streamt_ol.validation.options import Options, Settings
from streamt_ol.validation.report import REPORTERS, reporter
from streamt_ol.validation.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamt_ol.cli.output import Output
    from streamt_ol.validation.report.collector import Report


_MAX_LINE_BYTES = 64 << 20
_MAX_PROBLEMS = 100


def validate(
    context: Context,
    events: Annotated[
        list[str] | None,
        argument(
            metavar="EVENTS...",
            help="Files, folders, patterns, objects (s3://...) of events; - or nothing: a pipe.",
        ),
    ] = None,
    format: Annotated[
        str | None,
        option(
            "--format", "-f", choices=REPORTERS, help="How the report is written. (default: text)"
        ),
    ] = None,
    output_file: Annotated[
        Path | None,
        option(OUTPUT_FILE, metavar="PATH", help="Write the report to this file, all or nothing."),
    ] = None,
    strict: Annotated[bool, option("--strict", help="Treat warnings as errors.")] = False,
    ignore: Annotated[
        list[str] | None,
        option(metavar="RULE", help="Switch a rule off, e.g. OL-R012; may be repeated."),
    ] = None,
    max_problems: Annotated[
        int,
        option(
            min=0, metavar="NUMBER", help="Show this many problems, errors first; all are counted."
        ),
    ] = _MAX_PROBLEMS,
    max_line_bytes: Annotated[
        int, option(min=1, metavar="NUMBER", help="A longer line is an error and is skipped.")
    ] = _MAX_LINE_BYTES,
    jobs: Annotated[
        int | None,
        option(min=1, metavar="NUMBER", help="Processes for large input. (default: all cores)"),
    ] = None,
    engine: Annotated[
        str | None,
        option(
            choices=ENGINES,
            help="What checks archives: processes here, or Spark. (default: local)",
        ),
    ] = None,
    master: Annotated[
        str | None,
        option(metavar="URL", help="Spark's master, where spark-submit does not say it."),
    ] = None,
    work_dir: Annotated[
        str | None,
        option(
            metavar="URI", help="Keep what is done here: the same command goes on where it stopped."
        ),
    ] = None,
    split_bytes: Annotated[
        str | None,
        option(metavar="SIZE", help="Split large files, at most of this size each. (default: 64M)"),
    ] = None,
    partitions: Annotated[
        int | None,
        option(
            min=1, metavar="NUMBER", help="Parts of the stream rules' state. (default: by size)"
        ),
    ] = None,
    list_rules: Annotated[
        bool, option("--list-rules", help="Print every rule, one per line, and stop.")
    ] = False,
) -> int:
    """Check OpenLineage events, offline. Exit 0: valid; 1: not valid, or not readable."""
    output: Output = context.obj
    if list_rules:
        _list_rules(output)
        return 0
    chosen = _format(format, output)
    output_file = file_to_write(output, output_file)
    if output.json and output_file is None and chosen != "json":
        message = f"{OUTPUT} json prints the report as JSON, so --format {chosen} needs a file"
        raise StreamtOlError(USAGE, message, suggestion=f"name the file with {OUTPUT_FILE}")
    ignored = known_rules(ignore or [])
    names = expanded(_names(events or []))
    if output_file is not None:
        refuse_target(names, output_file)
    options = Options(Settings(max_line_bytes, ignored), max_problems, strict)
    scale = ScaleOptions(
        engine=engine or LOCAL,
        jobs=jobs or _cores(),
        master=master,
        work_dir=work_dir,
        split_bytes=SPLIT_BYTES if split_bytes is None else size_of(split_bytes, "split_bytes"),
        partitions=partitions,
    )
    asked = any(one is not None for one in (engine, master, work_dir, split_bytes, partitions))
    report = _checked(names, options, scale, in_splits=asked)
    if not (output.json or chosen == "json"):
        for failure in report.failures:
            output.error(failure)
    if output_file is not None:
        write_file(output_file, reporter(chosen)(report, False))
    if output_file is None or output.json:
        colour = chosen == "text" and _is_colourful()
        output.data(reporter("json" if output.json else chosen)(report, colour))
    else:
        from streamt_ol.validation.report.text import summary

        output.text(f"{summary(report)}; report in {shown_path(str(output_file))}")
    return 0 if report.valid else 1


def _format(given: str | None, output: Output) -> str:
    """Return the report's format; ``--output json`` is the format json."""
    return given or ("json" if output.json else "text")


def _names(given: Sequence[str]) -> list[str]:
    """Return the inputs: those given, or standard input where that is a pipe."""
    if given:
        return list(given)
    if sys.stdin is not None and sys.stdin.isatty():
        raise StreamtOlError(
            USAGE,
            "no events are given, and standard input is a terminal",
            suggestion="name a file of events, or pipe one in",
        )
    return ["-"]


def _checked(names: list[str], options: Options, scale: ScaleOptions, *, in_splits: bool) -> Report:
    """Return the report: of one pass, or in splits where that is asked for or pays."""
    from streamt_ol.cli.progress import ByteCount, ProgressLine
    from streamt_ol.reading.opening import openers
    from streamt_ol.reading.storage import total_size

    size = total_size(names)
    count = ByteCount(size)
    with ProgressLine(count.text):
        if in_splits or worth_splits(size, scale.jobs):
            from streamt_ol.scale.run import validate as validate_in_splits

            return validate_in_splits(names, options, scale, count.show)
        from streamt_ol.validation.run import validate as validate_at_once

        return validate_at_once(openers(names), options, count.show)


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _is_colourful() -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and sys.stdout is not None and sys.stdout.isatty()


def _list_rules(output: Output) -> None:
    if output.json:
        output.envelope({"rules": {name: rule._asdict() for name, rule in RULES.items()}})
        return
    for name, rule in RULES.items():
        output.text(f"{name} {rule.severity:7} {rule.title} [{rule.passage}]")
