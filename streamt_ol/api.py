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

from streamt_ol.problems import PARSE, USAGE, Location, StreamtOlError, WarningRecord

if TYPE_CHECKING:
    from typing import Unpack

    from streamt_ol.contracts import Counts
    from streamt_ol.validation.report.collector import Problem
    from streamt_ol.validation.run import Input

__all__ = [
    "Export",
    "ExportSettings",
    "Finding",
    "Location",
    "StreamtOlError",
    "Validation",
    "WarningRecord",
    "export",
    "validate",
]

Event = Mapping[str, Any]
PathName = str | os.PathLike[str]
Source = PathName | Iterable[str | bytes | Event]
_IN_MEMORY = "<events>"
_MANIFEST_IN_MEMORY = "<manifest>"
_MAX_LINE_BYTES = 64 << 20


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
    """What a validation found; ``counts`` are the findings by severity, ``events`` a number."""

    valid: bool
    events: int
    counts: dict[str, int]
    findings: tuple[Finding, ...]


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

    given = isinstance(manifest, Mapping)
    options = ExportOptions(
        manifest=_MANIFEST_IN_MEMORY if given else _path(manifest),
        project_dir=_path(project_dir),
        **settings,
    )
    read = _reader_of(manifest) if isinstance(manifest, Mapping) else None
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
    from streamt_ol.validation.checker import Settings
    from streamt_ol.validation.rules import RULES
    from streamt_ol.validation.run import Options
    from streamt_ol.validation.run import validate as run

    ignored = frozenset(ignore)
    if unknown := sorted(ignored - RULES.keys()):
        from streamt_ol.redaction import shown

        raise StreamtOlError(USAGE, f"there is no rule {shown(unknown[0])}", location="ignore")
    options = Options(Settings(_MAX_LINE_BYTES, ignored), max_findings, strict, 1)
    report = run([_input(source) for source in sources], options, lambda _size, _events: None)
    for failure in report.failures:
        raise failure
    findings = tuple(map(_finding, report.problems))
    return Validation(report.valid, report.events, dict(report.severities), findings)


def _finding(problem: Problem) -> Finding:
    location = Location(file=problem.file, line=problem.line, pointer=problem.pointer)
    return Finding(problem.rule, problem.severity, problem.message, location)


def _path(name: PathName | Mapping[str, Any] | None) -> str | None:
    return None if name is None or isinstance(name, Mapping) else os.fspath(name)


def _reader_of(manifest: Mapping[str, Any]) -> Any:
    data = _as_json(manifest, Location(file=_MANIFEST_IN_MEMORY))
    return lambda _name: data


def _input(source: Source) -> Input:
    """Return the name of a source and what opens it."""
    if isinstance(source, str | os.PathLike):
        from streamt_ol.reading.opening import openers

        [opened] = openers([os.fspath(source)])
        return opened
    from io import BytesIO

    data = b"\n".join(_line(item, number) for number, item in enumerate(source, 1))
    return _IN_MEMORY, lambda: BytesIO(data)


def _line(item: str | bytes | Event, number: int) -> bytes:
    if isinstance(item, bytes):
        return item.rstrip(b"\n")
    location = Location(file=_IN_MEMORY, line=number)
    if not isinstance(item, str):
        return _as_json(item, location)
    try:
        return item.rstrip("\n").encode()
    except UnicodeEncodeError:
        raise StreamtOlError(PARSE, "the line is not Unicode", location=location) from None


def _as_json(value: Mapping[str, Any], location: Location) -> bytes:
    """Return ``value`` as JSON. Raises E501 at ``location`` where it has no JSON form."""
    import orjson

    try:
        return orjson.dumps(dict(value))
    except TypeError:
        message = "it cannot be written as JSON"
        raise StreamtOlError(PARSE, message, location=location) from None
