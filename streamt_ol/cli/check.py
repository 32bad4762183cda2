"""`streamt-ol check`: what would a receiver do with each event? Offline."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from streamt_ol.cli import delivery_options as options
from streamt_ol.cli import exits
from streamt_ol.cli.output import Output
from streamt_ol.cli.parameters import Context, argument, option
from streamt_ol.cli.progress import elapsed, reading_settings
from streamt_ol.delivery.checks import EventCheck
from streamt_ol.delivery.checks import check as checked_events
from streamt_ol.delivery.outcome import DEPENDS, PLAIN, REFUSED, Verdict
from streamt_ol.delivery.reading import Events, RunMaking
from streamt_ol.delivery.receivers import CHECKED, RECEIVERS
from streamt_ol.problems import NOT_DELIVERED, USAGE, Location, StreamtOlError
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from streamt_ol.delivery.receivers.receiver import Watch

ALL = "all"
_MARKS = {"accepted": "yes", "depends": "depends", "ignored": "ignored", "refused": "REFUSED"}


def check(
    context: Context,
    events: Annotated[str, argument(metavar="EVENTS", help="OpenLineage events; - is a pipe.")],
    receivers: Annotated[
        list[str],
        option(
            "--for",
            metavar="RECEIVER",
            autocompletion=lambda: [*CHECKED, "all"],
            help=f"One of: {', '.join(CHECKED)}, or all; may be repeated.",
        ),
    ],
    namespace_map: options.NamespaceMap = None,
    kafka_config: Annotated[
        Path | None,
        option(metavar="PATH", help="YAML of librdkafka settings: its message.max.bytes."),
    ] = None,
    as_run_events: options.AsRunEvents = False,
    no_validate: options.NoValidate = False,
    refuse_invalid: options.RefuseInvalid = False,
    ignore: options.IgnoredRules = None,
) -> int:
    """Say what a receiver would do with each event: accepted, ignored or refused, and why."""
    output: Output = context.obj
    names = _names(receivers)
    files = {"namespace_map": namespace_map, "kafka_config": kafka_config}
    asked = [RECEIVERS[name] for name in names]
    for given, file in files.items():
        if file and given not in {receiver.settings_option for receiver in asked}:
            message = "the option does not apply to the receivers of --for"
            raise StreamtOlError(USAGE, message, location=Location(option=given))
    with reading_settings():
        bound = [receiver.with_settings(files.get(receiver.settings_option)) for receiver in asked]
    validity = options.validity_from(
        no_validate=no_validate, refuse_invalid=refuse_invalid, ignore=ignore
    )
    making = RunMaking.of(bound, lambda *_: str(uuid.UUID(int=0))) if as_run_events else None
    watches = {one.name: one.watch() for one in bound if one.watch is not None}
    totals = {name: dict.fromkeys((*_MARKS, "edges"), 0) for name in names}
    with elapsed("reading the events"):
        opened = options.open_source(events)
    with opened as source:
        found = checked_events(
            Events(source, making),
            bound,
            validity,
            watches,
        )
        counted = _counted(found, totals)
        _print(output, source.name, counted, totals, watches, is_matrix=ALL in receivers)
    refused = any(total["refused"] for total in totals.values())
    return exits.REFUSED if refused else exits.DONE


def _names(receivers: list[str]) -> list[str]:
    if ALL in receivers:
        return list(CHECKED)
    for name in receivers:
        if name not in CHECKED:
            known = ", ".join((*CHECKED, ALL))
            raise StreamtOlError(
                USAGE,
                f"there is no receiver {shown(name)} to check for",
                location=Location(option="receivers"),
                suggestion=f"choose one of: {known}",
            )  # fmt: skip
    return list(dict.fromkeys(receivers))


def _counted(
    found: Iterable[EventCheck], totals: dict[str, dict[str, int]]
) -> Iterator[EventCheck]:
    for checked in found:
        for name, verdict in checked.verdicts.items():
            total = totals[name]
            total[verdict.status] += 1
            if verdict.edges:
                total["edges"] += verdict.edges
        yield checked


def _print(
    output: Output,
    source: str,
    found: Iterable[EventCheck],
    totals: dict[str, dict[str, int]],
    watches: Mapping[str, Watch],
    *,
    is_matrix: bool,
) -> None:
    if output.json:
        listed = [_record(checked) for checked in found]
        data = {"receivers": totals, "events": listed}
        errors = [error for record in listed for error in _errors(record, source)]
        warnings = [record for watch in watches.values() for record in watch.warnings()]
        output.failure(data, errors, warnings) if errors else output.envelope(data, warnings)
        return
    lines = _matrix(found, totals) if is_matrix else _explained(found)
    output.lines(lines)
    for name, total in totals.items():
        counts = ", ".join(
            f"{status} {total[status]}" for status in _MARKS if total[status] or status != DEPENDS
        )
        limit = "at most " if total[DEPENDS] else ""
        edges = f"; {limit}{total['edges']} edges to expect" if total["edges"] else ""
        output.text(f"{name}: {counts}{edges}")
    for watch in watches.values():
        output.warnings(watch.warnings())


def _explained(found: Iterable[EventCheck]) -> Iterator[str]:
    for line, event, verdicts in found:
        for name, verdict in verdicts.items():
            if verdict == PLAIN:
                yield f"line {line}: {name}: {verdict.status}: {event}"
                continue
            limit = "at most " if verdict.status == DEPENDS else ""
            edges = f", {limit}{verdict.edges} edges" if verdict.edges is not None else ""
            yield f"line {line}: {name}: {verdict.status}{edges}: {event}"
            yield from _details(verdict)


def _details(verdict: Verdict) -> Iterator[str]:
    yield from (f"  why: {reason}" for reason in verdict.reasons)
    if verdict.rules:
        yield f"  hint: {options.ways_out(verdict.rules)}"
    yield from (f"  note: {text}" for text in verdict.notes)
    if verdict.is_taken and verdict.reads:
        yield f"  reads: {', '.join(verdict.reads)}"
    if verdict.ignores:
        yield f"  does not read: {', '.join(verdict.ignores)}"


def _matrix(found: Iterable[EventCheck], totals: dict[str, dict[str, int]]) -> Iterator[str]:
    widths = {name: max(len(name), len("REFUSED")) for name in totals}
    yield "  ".join(["line    ", *(f"{name:{widths[name]}}" for name in totals), "event"])
    for checked in found:
        marks = (f"{_MARKS[v.status]:{widths[n]}}" for n, v in checked.verdicts.items())
        yield "  ".join([f"{checked.line:<8}", *marks, checked.name])


def _record(checked: EventCheck) -> dict[str, Any]:
    verdicts = {name: _verdict(verdict) for name, verdict in checked.verdicts.items()}
    return {"line": checked.line, "event": checked.name, "verdicts": verdicts}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    given = {key: value for key, value in verdict._asdict().items() if value not in ((), None)}
    return {key: list(v) if isinstance(v, tuple) else v for key, v in given.items()}


def _errors(record: dict[str, Any], source: str) -> Iterator[StreamtOlError]:
    for name, verdict in record["verdicts"].items():
        if verdict["status"] == REFUSED:
            reason = "; ".join(verdict.get("reasons", []))
            yield StreamtOlError(
                NOT_DELIVERED,
                f"refused by {name}: {record['event']}: {reason}",
                suggestion=options.ways_out(verdict.get("rules", ())) or None,
                location=Location(file=source, line=record["line"]),
            )
