"""The commands for Python programs: the same use cases, with values in the place of text.

    from streamt_ol.api import export, validate

    events = export("generated/manifest.json", job_namespace="prod").events
    assert validate(events).valid

Each function returns values and raises ``StreamtOlError`` only. What a call needs is imported
by that call. ``__all__`` lists what is public, here and in ``streamt_ol.runs``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from streamt_ol.problems import USAGE, Location, StreamtOlError, WarningRecord

if TYPE_CHECKING:
    from typing import Unpack

    from streamt_ol.contracts import Counts
    from streamt_ol.delivery.outcome import Verdict
    from streamt_ol.lineage.difference import Difference
    from streamt_ol.lineage.graph import Graph
    from streamt_ol.validation.report.collector import Problem

__all__ = [
    "Answer",
    "Answers",
    "Difference",
    "Export",
    "ExportSettings",
    "Finding",
    "Graph",
    "Location",
    "StreamtOlError",
    "Validation",
    "WarningRecord",
    "check",
    "diff",
    "export",
    "graph",
    "validate",
]

Event = Mapping[str, Any]
PathName = str | os.PathLike[str]
Source = PathName | Iterable[str | bytes | Event]
# Classes of what is returned that nothing here needs to make.
_HOME = {
    "Difference": "streamt_ol.lineage.difference",
    "Graph": "streamt_ol.lineage.graph",
}
_MANIFEST_IN_MEMORY = "<manifest>"


class ExportSettings(TypedDict, total=False):
    """The options of an export, by the names that ``streamt-ol export`` has for them."""

    env: str | None
    job_namespace: str | None
    kafka_namespace: str | None
    gateway_namespace: str | None
    event_time: str | None


class Export(NamedTuple):
    """The events that a project declares, in canonical order, and the line of each."""

    events: list[dict[str, Any]]
    lines: list[str]
    counts: Counts
    warnings: list[WarningRecord]


class Finding(NamedTuple):
    """A rule that an event breaks: ``severity`` is error, warning or note."""

    rule: str
    severity: str
    message: str
    location: Location


class Validation(NamedTuple):
    """The result of a validation; ``counts`` are the findings by severity, ``events`` a number."""

    valid: bool
    events: int
    counts: dict[str, int]
    findings: tuple[Finding, ...]


class Answer(NamedTuple):
    """The judgement of a receiver on the event at ``line``: accepted, depends, ignored or refused.

    ``event`` is a name that is safe to show, ``edges`` the number of edges to expect.
    """

    line: int
    event: str
    status: str
    reasons: tuple[str, ...]
    edges: int | None


class Answers(list[Answer]):
    """The answers of a receiver, one for each event.

    ``warnings`` tell what the events that it takes mean together.
    """

    def __init__(self, answers: Iterable[Answer], warnings: list[WarningRecord]) -> None:
        super().__init__(answers)
        self.warnings = warnings


def export(
    manifest: PathName | Mapping[str, Any] | None = None,
    *,
    project_dir: PathName | None = None,
    environ: Mapping[str, str] = os.environ,
    **settings: Unpack[ExportSettings],
) -> Export:
    """Return what a compiled manifest (its file, or as parsed) or a project declares.

    A namespace that is not given comes from its variable in ``environ``. Raises
    ``StreamtOlError``: E500 to E503 and E506, as ``streamt-ol export`` does.
    """
    from streamt_ol.export.canonical import canonical_state
    from streamt_ol.export.options import ExportOptions

    read = None
    if isinstance(manifest, Mapping):
        read, manifest = _reader_of(manifest), _MANIFEST_IN_MEMORY
    options = ExportOptions(manifest=_path(manifest), project_dir=_path(project_dir), **settings)
    state = canonical_state(options, environ, read=read)
    return Export(state["events"], state["lines"], state["counts"], state["warnings"])


def validate(
    *sources: Source,
    ignore: Iterable[str] = (),
    strict: bool = False,
    max_findings: int = 1_000_000,
) -> Validation:
    """Check OpenLineage events, all sources as one stream, offline.

    A source is the name of a file (``.gz`` and ``.zst`` too) or an iterable of lines or events.
    ``ignore`` switches rules off, ``strict`` takes warnings for errors. Raises
    ``StreamtOlError``: E500 for an unknown rule, E501 for what cannot be read.
    """
    from streamt_ol.reading.chunks import MAX_EVENT_BYTES
    from streamt_ol.reading.in_memory import opener
    from streamt_ol.validation.options import Options, Settings
    from streamt_ol.validation.run import validate as run

    options = Options(Settings(MAX_EVENT_BYTES, _known_rules(ignore)), max_findings, strict)
    report = run([opener(source) for source in sources], options, lambda _size, _events: None)
    for failure in report.failures:
        raise failure
    findings = tuple(map(_finding, report.problems))
    return Validation(report.valid, report.events, dict(report.severities), findings)


def check(
    source: Source, receiver: str, *, ignore: Iterable[str] = (), refuse_invalid: bool = False
) -> Answers:
    """Return what a receiver, e.g. ``marquez``, would do with each event; nothing is sent.

    Raises ``StreamtOlError``: E500 for an unknown receiver or rule, E501 for what cannot be read.
    """
    from streamt_ol.delivery.checks import check as checked
    from streamt_ol.delivery.reading import Events
    from streamt_ol.delivery.receivers import CHECKED, RECEIVERS
    from streamt_ol.delivery.source import Source as Opened
    from streamt_ol.delivery.validity import Validity
    from streamt_ol.reading.in_memory import as_file

    if receiver not in CHECKED:
        message = "there is no such receiver to check for"
        hint = f"choose among: {', '.join(CHECKED)}"
        raise StreamtOlError(USAGE, message, location=Location(option="receiver"), suggestion=hint)
    validity = Validity(_known_rules(ignore), refuses_invalid=refuse_invalid)
    row = RECEIVERS[receiver]
    watches = {receiver: row.watch()} if row.watch else {}
    with as_file(source) as path, Opened(path) as opened:
        found = checked(Events(opened), [row], validity, watches)
        answers = [_answer(one.line, one.name, one.verdicts[receiver]) for one in found]
    return Answers(answers, [record for watch in watches.values() for record in watch.warnings()])


def graph(source: Source) -> Graph:
    """Return the graph of lineage of events: nodes by their keys, edges, edges of columns.

    That of a manifest or project is ``graph(export(...).events)``. Raises ``StreamtOlError``:
    E501 or E506 at an event that cannot be read.
    """
    from streamt_ol.lineage.reading import graph_of_text
    from streamt_ol.reading.in_memory import content

    return graph_of_text(*content(source))


def diff(old: Source | Graph, new: Source | Graph) -> Difference:
    """Return what changed from ``old`` to ``new``: events, or graphs of ``graph``.

    Raises ``StreamtOlError`` as ``graph`` does.
    """
    from streamt_ol.lineage.difference import compare
    from streamt_ol.lineage.graph import Graph

    return compare(*(one if isinstance(one, Graph) else graph(one) for one in (old, new)))


def __getattr__(name: str) -> object:
    """Import a class that only type hints need, and return it."""
    if name not in _HOME:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def _known_rules(names: Iterable[str]) -> frozenset[str]:
    from streamt_ol.redaction import shown
    from streamt_ol.validation.rules import RULES

    ignored = frozenset(names)
    if unknown := sorted(ignored - RULES.keys()):
        message = f"there is no rule {shown(unknown[0])}"
        raise StreamtOlError(USAGE, message, location=Location(option="ignore"))
    return ignored


def _answer(line: int, event: str, verdict: Verdict) -> Answer:
    return Answer(line, event, verdict.status, verdict.reasons, verdict.edges)


def _finding(problem: Problem) -> Finding:
    location = Location(file=problem.file, line=problem.line, pointer=problem.pointer)
    return Finding(problem.rule, problem.severity, problem.message, location)


def _path(name: PathName | None) -> str | None:
    return None if name is None else os.fspath(name)


def _reader_of(manifest: Mapping[str, Any]) -> Any:
    from streamt_ol.reading.in_memory import as_json

    data = as_json(manifest, Location(file=_MANIFEST_IN_MEMORY))
    return lambda _name: data
