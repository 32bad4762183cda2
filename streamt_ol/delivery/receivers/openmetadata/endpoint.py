"""OpenMetadata: which events become lineage edges there, and how its answers are read.

After "OpenLineage Compatibility" of OpenMetadata's documentation. Where the server alone can
know (what is in its catalog), the verdict says what has to be there, and expects it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from streamt_ol.delivery.outcome import ACCEPTED, DEPENDS, IGNORED, REFUSED, Verdict
from streamt_ol.delivery.receivers.acceptance import datasets
from streamt_ol.delivery.receivers.openmetadata.answers import (
    read_batch,
    read_failure,
    read_single,
)
from streamt_ol.delivery.receivers.openmetadata.fields import missing_fields
from streamt_ol.delivery.receivers.openmetadata.resolution import resolution
from streamt_ol.delivery.receivers.openmetadata.settings import OpenMetadataSettings, read_settings
from streamt_ol.delivery.receivers.receiver import Batch, Receiver
from streamt_ol.delivery.receivers.run_rules import AS_RUNS
from streamt_ol.openlineage.events import RUN_EVENT as RUN
from streamt_ol.openlineage.events import kind_of
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamt_ol.delivery.receivers.acceptance import Acceptance, Candidate

READ_FACETS = frozenset(
    {
        "run.parent", "job.sql", "inputs.schema", "outputs.schema", "outputs.columnLineage",
        "inputs.datasource", "outputs.datasource", "inputs.symlinks", "outputs.symlinks",
        "inputs.documentation", "outputs.documentation", "inputs.ownership", "outputs.ownership",
    }
)  # fmt: skip


def acceptance(settings: OpenMetadataSettings) -> Acceptance:
    """Return the rules of a server with ``settings``."""
    return partial(_accept, settings)


def _accept(settings: OpenMetadataSettings, candidate: Candidate) -> Verdict:
    """Say whether the event makes edges, and how many of them can be expected."""
    event = candidate.event
    if kind_of(event) != RUN:
        return Verdict(REFUSED, (f"it takes RunEvents only ({AS_RUNS})",))
    if not settings.is_enabled:
        return Verdict(REFUSED, ("the settings disable its OpenLineage API",))
    if reasons := tuple(dict.fromkeys(missing_fields(event))):
        return Verdict(REFUSED, reasons)
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
    found = [[resolution(dataset, settings) for dataset in side] for side in sides.values()]
    edges = 1
    for side in found:
        edges *= sum(one.status != REFUSED for one in side)
    every = [one for side in found for one in side]
    texts = {
        status: tuple(dict.fromkeys(one.text for one in every if one.status == status))
        for status in (ACCEPTED, DEPENDS, REFUSED)
    }
    notes = (*filter(None, texts[ACCEPTED]), *texts[REFUSED])
    if not edges:
        return Verdict(REFUSED, texts[REFUSED], texts[DEPENDS], 0)
    read = candidate.facets(READ_FACETS)
    if texts[DEPENDS]:
        return Verdict(DEPENDS, texts[DEPENDS], notes, edges, *read)
    return Verdict(ACCEPTED, (), notes, edges, *read)


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
    needs_field_types=True,
    others="RunEvents: ignored, 200 without an edge; other kinds: refused, what it answers was not "
    "found",
    reads=READ_FACETS,
)
