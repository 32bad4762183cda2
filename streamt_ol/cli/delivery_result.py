"""The end of `send` and `forward`: the closing line, or the envelope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamt_ol.cli.delivery_options import ways_out
from streamt_ol.cli.output import Output, note
from streamt_ol.problems import NOT_DELIVERED, Location, StreamtOlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streamt_ol.delivery.plan import Plan
    from streamt_ol.delivery.report import Report
    from streamt_ol.delivery.routes.route import Route
    from streamt_ol.problems import WarningRecord


class Warnings:
    """The warnings of a delivery: on stderr when they come up, or kept for the envelope."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self.kept: list[WarningRecord] = []

    def add(self, records: Sequence[WarningRecord]) -> None:
        """Say these warnings, or keep them."""
        if self._output.json:
            self.kept += records
        else:
            self._output.warnings(records)


def print_result(
    output: Output,
    report: Report,
    route: Route,
    source: Location,
    warnings: Warnings,
    reason: str = "",
    **more: Any,
) -> None:
    """Say what came of a delivery from ``source``, and for what ``reason`` it was stopped.

    ``more`` goes into ``data`` of the envelope.
    """
    if output.json:
        data = {"receiver": route.receiver.name, "target": route.target, **report.data()}
        _print_envelope(output, {**data, **more}, source, reason, warnings.kept)
        return
    for line in _resolutions(report):
        note(line)
    if hint := ways_out(report.refusing_rules):
        note(f"  hint: {hint}")
    if reason:
        note(f"stopped: {reason}")
    output.text(report.closing_line())


def print_plan(
    output: Output, plan: Plan, route: Route, report: Report, source: Location, warnings: Warnings
) -> None:
    """Print what would be sent where (``--dry-run``)."""
    requests = (
        {"line": item.line, "event": item.name, "bytes": len(item.body)} for item in plan.items()
    )
    if output.json:
        print_result(
            output, report, route, source, warnings,
            adapted=plan.adapted, would_send=list(requests),
        )  # fmt: skip
        return
    output.data(
        f"line {r['line']}: {r['event']}, {r['bytes']} bytes -> {route.target}\n".encode()
        for r in requests
    )
    note(f"would send {plan.to_send}, {report.closing_line().partition(', ')[2]}")


def _resolutions(report: Report) -> Iterator[str]:
    """Yield what the receiver said of edges, and of what it could not resolve."""
    if report.edges:
        yield f"lineage edges created: {report.edges:,}"
    yield from (f"unresolved dataset: {name}" for name in report.unresolved_datasets)
    yield from (f"unresolved job: {name}" for name in report.unresolved_jobs)


def _print_envelope(
    output: Output,
    data: dict[str, Any],
    source: Location,
    reason: str,
    warnings: Sequence[WarningRecord],
) -> None:
    errors = [
        StreamtOlError(
            NOT_DELIVERED,
            f"{problem['state']}: {problem['event']}: {problem['reason']}",
            suggestion=ways_out(problem.get("rules", ())) or None,
            location=_numbered(source, problem["line"]),
        )
        for problem in data["problems"]
    ]
    if reason:
        errors.append(StreamtOlError(NOT_DELIVERED, f"stopped: {reason}"))
    if errors:
        output.failure(data, errors, warnings)
    else:
        output.envelope(data, warnings)


def _numbered(source: Location, number: int) -> Location:
    """Return the location of a line of the file ``source``, or of a record of another source."""
    return source.replaced(line=number) if source.file else Location(f"{source}:{number}")
