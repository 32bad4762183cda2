"""OpenMetadata: which events become lineage edges there, and how its answers are read.

After "OpenLineage Compatibility" of OpenMetadata's documentation. Where the server alone can
know (what is in its catalog), the verdict says what has to be there, and expects it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.delivery.outcome import (
    ACCEPTED,
    DEPENDS,
    IGNORED,
    REFUSED,
    Status,
    Verdict,
)
from streamt_ol.delivery.receivers.acceptance import datasets
from streamt_ol.delivery.receivers.openmetadata_answers import (
    read_batch,
    read_failure,
    read_single,
)
from streamt_ol.delivery.receivers.openmetadata_settings import OpenMetadataSettings, read_settings
from streamt_ol.delivery.receivers.receiver import Batch, Receiver
from streamt_ol.openlineage.events import RUN_EVENT as RUN
from streamt_ol.openlineage.events import at, kind_of
from streamt_ol.openlineage.events import identity_of as identity
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamt_ol.delivery.items import Event
    from streamt_ol.delivery.receivers.acceptance import Acceptance, Candidate

# Storage, resolved to an existing container by its path; other namespaces are looked up as tables.
STORAGE = frozenset({"gs", "s3", "s3a", "abfs", "abfss", "wasbs", "adl"})
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
        return Verdict(REFUSED, ("it takes RunEvents only (see --as-run-events)",))
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
    found = [[_resolution(dataset, settings) for dataset in side] for side in sides.values()]
    edges = 1
    for side in found:
        edges *= sum(one.status != REFUSED for one in side)
    every = [one for side in found for one in side]
    texts = {
        status: tuple(dict.fromkeys(one.text for one in every if one.status == status))
        for status in (REFUSED, DEPENDS)
    }
    if not edges:
        return Verdict(REFUSED, texts[REFUSED], texts[DEPENDS], 0)
    read = candidate.facets(READ_FACETS)
    if texts[DEPENDS]:
        return Verdict(DEPENDS, texts[DEPENDS], texts[REFUSED], edges, *read)
    return Verdict(ACCEPTED, (), texts[REFUSED], edges, *read)


class Resolution(NamedTuple):
    """Whether a dataset resolves: certainly (accepted), never (refused), or if ``text`` holds."""

    status: Status
    text: str = ""


def _resolution(dataset: Mapping[str, object], settings: OpenMetadataSettings) -> Resolution:
    """Return how a dataset resolves; its ``symlinks`` are tried first, then its own identity."""
    identities = [*_symlinks(dataset), identity(dataset)]
    found = [_lookup(*each, dataset, settings) for each in identities]
    for status in (ACCEPTED, DEPENDS):
        for one in found:
            if one.status == status:
                return one
    return found[-1]


def _symlinks(dataset: Mapping[str, object]) -> list[tuple[str, str]]:
    identifiers = at(dataset, "facets", "symlinks", "identifiers")
    return [identity(one) for one in identifiers] if isinstance(identifiers, list) else []


def _lookup(
    namespace: str, name: str, dataset: Mapping[str, object], settings: OpenMetadataSettings
) -> Resolution:
    """Return how one identity resolves. What can in some release is left to the server."""
    called = f"{shown(namespace)} {shown(name)}"
    scheme = namespace.partition(":")[0].lower()
    if scheme in STORAGE:
        return Resolution(DEPENDS, f"{called}: it looks for a container with that path")
    topic = ", never a topic (see openmetadata-kafka)" if scheme == "kafka" else ""
    parts = name.split(".")
    is_qualified = len(parts) > 1 and all(parts) and "/" not in name
    mapped = _mapped(namespace, settings)
    if not is_qualified:
        if mapped == "no":
            why = "its name is not [database.]schema.table, and its namespace is not mapped"
            return Resolution(REFUSED, f"{called} cannot resolve: {why}{topic}")
        how = "a table of that bare name in the mapped service, in newest releases only"
        return Resolution(DEPENDS, f"{called}: it looks for {how}{topic}")
    if mapped == "exact" and settings.creates_entities and _has_columns(dataset):
        return Resolution(ACCEPTED)
    if mapped == "exact":
        how = "a table in its catalog: it cannot be created from this event"
    elif mapped == "prefix":
        how = "a table; older releases map the first prefix, newer the longest"
    elif mapped == "no":
        how = "a table by its name alone: no entry in namespaceToServiceMapping fits"
    else:
        how = "a table in the service that the namespace is mapped to, or by its name alone"
    return Resolution(DEPENDS, f"{called}: it looks for {how}{topic}")


def _mapped(namespace: str, settings: OpenMetadataSettings) -> str:
    """Return "exact", "prefix" (in either direction: a release may take it), "no" or "unknown"."""
    known = settings.namespaces
    if known is None:
        return "unknown"
    if namespace in known:
        return "exact"
    is_prefix = any(namespace.startswith(k) or k.startswith(namespace) for k in known if k)
    return "prefix" if is_prefix and namespace else "no"


def missing_fields(event: Event) -> Iterator[str]:
    """Yield the fields without which the endpoint answers 400, whatever else the event holds."""
    if not _is_text_or_absent(at(event, "job", "facets", "sql"), "query"):
        yield "job.facets.sql has no query (400)"
    if not _is_text_or_absent(at(event, "run", "facets", "errorMessage"), "message"):
        yield "run.facets.errorMessage has no message (400)"
    if any(
        not isinstance(at(o, "name"), str) for o in _items(at(event, "job"), "ownership", "owners")
    ):
        yield "an owner of the job has no name (400)"
    for side in ("inputs", "outputs"):
        for dataset in datasets(event, side):
            yield from _missing_in(dataset)


def _missing_in(dataset: Mapping[str, object]) -> Iterator[str]:
    called = shown(identity(dataset)[1])
    if _lacks(_fields(at(dataset, "facets", "schema")), "type"):
        yield f"a schema field of {called} has no type (400)"
    if _lacks(_items(dataset, "symlinks", "identifiers"), "namespace", "name", "type"):
        yield f"a symlink of {called} has no namespace, name or type (400)"
    if _lacks(_items(dataset, "ownership", "owners"), "name"):
        yield f"an owner of {called} has no name (400)"
    for holder in ("facets", "outputFacets"):
        columns = at(dataset, holder, "columnLineage", "fields")
        for column in columns.values() if isinstance(columns, Mapping) else ():
            inputs = at(column, "inputFields")
            found = inputs if isinstance(inputs, list) else []
            if _lacks(found, "namespace", "name", "field"):
                yield f"an input field of {called} has no namespace, name or field (400)"


def _lacks(entries: Iterable[object], *names: str) -> bool:
    return any(not isinstance(at(entry, n), str) for entry in entries for n in names)


def _items(entity: object, facet: str, name: str) -> list[object]:
    found = at(entity, "facets", facet, name)
    return found if isinstance(found, list) else []


def _fields(schema: object) -> Iterator[object]:
    """Yield the fields of a schema, those within fields too."""
    found = at(schema, "fields")
    for field in found if isinstance(found, list) else ():
        yield field
        yield from _fields(field)


def _is_text_or_absent(facet: object, name: str) -> bool:
    return not isinstance(facet, Mapping) or isinstance(facet.get(name), str)


def _has_columns(dataset: Mapping[str, object]) -> bool:
    facets = dataset.get("facets")
    schema = facets.get("schema") if isinstance(facets, Mapping) else None
    return isinstance(schema, Mapping) and bool(schema.get("fields"))


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
)
