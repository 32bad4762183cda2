"""OpenMetadata: which events become lineage edges there, and how its answers are read.

After "OpenLineage Compatibility" of OpenMetadata's documentation. Where the server alone can
know (what is in its catalog), the verdict says what has to be there, and expects it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from streamt_ol.delivery.outcome import ACCEPTED, IGNORED, REFUSED, Outcome, Verdict
from streamt_ol.delivery.receivers.acceptance import datasets
from streamt_ol.delivery.receivers.openmetadata_settings import OpenMetadataSettings, read_settings
from streamt_ol.delivery.receivers.receiver import Batch, Receiver, body_of
from streamt_ol.openlineage.events import RUN_EVENT as RUN
from streamt_ol.openlineage.events import identity_of as identity
from streamt_ol.openlineage.events import kind_of
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamt_ol.delivery.items import Event
    from streamt_ol.delivery.receivers.acceptance import Acceptance, Candidate
    from streamt_ol.transport.answer import Answer

# "The mapper can resolve storage datasets to existing container assets by path."
STORAGE = frozenset({"s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "hdfs", "file",
                     "dbfs", "adl", "oss"})  # fmt: skip
READ_FACETS = frozenset(
    {
        "run.parent", "job.sql", "inputs.schema", "outputs.schema", "outputs.columnLineage",
        "inputs.dataSource", "outputs.dataSource",
    }
)  # fmt: skip
_MAX_NAMED = 20
_MOST_EDGES = 2**53


def acceptance(settings: OpenMetadataSettings) -> Acceptance:
    """Return the rules of a server with ``settings``."""
    return partial(_accept, settings)


def _accept(settings: OpenMetadataSettings, candidate: Candidate) -> Verdict:
    """Say whether the event makes edges, and how many of them can be expected."""
    event = candidate.event
    if kind_of(event) != RUN:
        return Verdict(REFUSED, ("it takes RunEvents only (see --as-run-events)",))
    if not settings.is_enabled:
        return Verdict(REFUSED, ("the settings disable its OpenLineage API",))
    state = event.get("eventType")
    effective = state if isinstance(state, str) else "COMPLETE"
    if effective not in settings.event_types:
        allowed = ", ".join(sorted(settings.event_types))
        reason = f"eventType {shown(effective, 20)} is not processed (eventTypeFilter: {allowed})"
        return Verdict(IGNORED, (reason,))
    sides = {side: datasets(event, side) for side in ("inputs", "outputs")}
    if missing := [side for side, found in sides.items() if not found]:
        return Verdict(IGNORED, (f"no edge without {' and '.join(missing)}",))
    return _edges(candidate, sides, settings)


def _edges(
    candidate: Candidate,
    sides: dict[str, list[Mapping[str, object]]],
    settings: OpenMetadataSettings,
) -> Verdict:
    reasons: list[str] = []
    notes: list[str] = []
    edges = 1
    for found in sides.values():
        resolved = 0
        for dataset in found:
            problem, note = _resolution(dataset, settings)
            resolved += not problem
            reasons.extend([problem] if problem else [])
            notes.extend([note] if note else [])
        edges *= resolved
    return Verdict(
        ACCEPTED if edges else REFUSED,
        tuple(dict.fromkeys(reasons)),
        tuple(dict.fromkeys(notes)),
        edges,
        *candidate.facets(READ_FACETS),
    )


def _resolution(dataset: Mapping[str, object], settings: OpenMetadataSettings) -> tuple[str, str]:
    """Return why a dataset cannot resolve ("" if it can), and what it takes for it to do so."""
    namespace, name = identity(dataset)
    called = f"{shown(namespace)} {shown(name)}"
    if namespace.partition(":")[0].lower() in STORAGE:
        return "", f"{called} resolves only to a container that is in the catalog"
    parts = name.split(".")
    if len(parts) < 2 or not all(parts):  # noqa: PLR2004 - schema.table is the least
        return f"{called} cannot resolve: its name is not [database.]schema.table", ""
    if settings.namespaces is None:
        return "", ""
    if namespace not in settings.namespaces:
        # A table's name alone may match all the same: only the server knows.
        return "", f"{called} has no entry in namespaceToServiceMapping: only its name may match"
    if settings.creates_entities and _has_columns(dataset):
        return "", ""
    return "", f"{called} must be in the catalog already: it cannot be created from this event"


def _has_columns(dataset: Mapping[str, object]) -> bool:
    facets = dataset.get("facets")
    schema = facets.get("schema") if isinstance(facets, Mapping) else None
    return isinstance(schema, Mapping) and bool(schema.get("fields"))


def read_single(answer: Answer) -> Outcome:
    """Read the answer to one event (2xx): edges, and what could not be resolved."""
    said = body_of(answer)
    edges = _number(said.get("lineageEdgesCreated"))
    if edges > _MOST_EDGES:
        return Outcome("sent", "its lineageEdgesCreated is not understood", answer.status)
    unresolved = _named(said.get("unresolvedDatasets")), _named(said.get("unresolvedJobs"))
    status = said.get("status")
    if status == "failure":
        return Outcome("refused", "the server reports failure", answer.status, 0, *unresolved)
    if not edges:
        return Outcome(
            "no-edges", "answered with success, but no edge", answer.status, 0, *unresolved
        )
    detail = "some datasets did not resolve" if status == "partial_success" else ""
    return Outcome("sent", detail, answer.status, edges, *unresolved)


def read_failure(answer: Answer, refusal: Outcome) -> Outcome:
    """Add to a refusal (400 with ``status: failure``) what its body says was not resolved."""
    said = body_of(answer)
    return refusal._replace(
        unresolved_datasets=_named(said.get("unresolvedDatasets")),
        unresolved_jobs=_named(said.get("unresolvedJobs")),
    )


def read_batch(answer: Answer, events: Sequence[Event]) -> list[Outcome] | None:
    """Return one outcome for each of ``events``, or None: each must be sent alone.

    Only a plain success tells about every one of them: no failed event, nothing unresolved, and
    as many edges as all pairs of their inputs and outputs. Whatever else is said, a single answer
    tells the truth about a single event.
    """
    said = body_of(answer)
    expected = [len(datasets(e, "inputs")) * len(datasets(e, "outputs")) for e in events]
    is_plain = (
        answer.status in range(200, 300)
        and said.get("status") == "success"
        and not said.get("unresolvedDatasets")
        and not _failed(said)
    )
    if not is_plain or said.get("lineageEdgesCreated") != sum(expected) or not all(expected):
        return None
    return [Outcome("sent", "", answer.status, edges) for edges in expected]


def _failed(said: Mapping[str, Any]) -> bool:
    summary = said.get("summary")
    failed = summary.get("failed") if isinstance(summary, Mapping) else 0
    return bool(failed or said.get("failedEvents") or said.get("failed_events"))


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _named(value: object) -> tuple[str, ...]:
    """Return the unresolved entities, each as one short text that is safe to show."""
    if not isinstance(value, list):
        return ()
    found = []
    for entry in value[:_MAX_NAMED]:
        if isinstance(entry, dict):
            parts = [str(entry[k]) for k in ("namespace", "name", "reason") if k in entry]
            found.append(shown(" ".join(parts) or json.dumps(entry), 160)[1:-1])
        else:
            found.append(shown(entry, 160)[1:-1])
    return tuple(found)


def _events_object(bodies: Sequence[bytes]) -> bytes:
    return b'{"events":[%b]}' % b",".join(bodies)


OPENMETADATA = Receiver(
    "openmetadata",
    "http",
    "RunEvents with inputs and outputs, by default COMPLETE ones only",
    acceptance(OpenMetadataSettings()),
    endpoint="/api/v1/openlineage/lineage",
    tokens=("bearer",),
    batch=Batch("/api/v1/openlineage/lineage/batch", 50, _events_object, read_batch),
    read_success=read_single,
    read_refusal=read_failure,
    read_settings=lambda path: acceptance(read_settings(path)),
    settings_option="namespace_map",
)
