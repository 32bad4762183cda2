"""The fields without which OpenMetadata's endpoint answers 400, after its Java code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from streamt_ol.delivery.receivers.acceptance import datasets
from streamt_ol.openlineage.events import at
from streamt_ol.openlineage.events import identity_of as identity
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from streamt_ol.delivery.items import Event


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
        lineage = at(dataset, holder, "columnLineage")
        if isinstance(lineage, Mapping):
            yield from _missing_in_columns(lineage, called)


def _missing_in_columns(lineage: Mapping[str, object], called: str) -> Iterator[str]:
    columns = lineage.get("fields")
    if not isinstance(columns, Mapping):
        yield f"columnLineage of {called} has no fields (400)"
        return
    for column in columns.values():
        inputs = at(column, "inputFields")
        if not isinstance(inputs, list):
            yield f"a column of {called} has no inputFields (400)"
        elif _lacks(inputs, "namespace", "name", "field"):
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
