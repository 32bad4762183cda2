"""Locations in an event: containers of facets, identities, lists of schema fields.

Every function takes the entities of an event (see ``of_kind``) and yields only what has the
shape looked for; what has not is the schemas' to say. A path is the tuple of keys
and indices that leads there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from streamt_ol.openlineage.events import ENTITIES
from streamt_ol.openlineage.facets import (
    DATASET,
    DELETABLE,
    INPUT_DATASET,
    JOB,
    OUTPUT_DATASET,
    RUN,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str | int, ...]
Object = dict[str, Any]
# What a parent facet nests: runs and jobs with facets of their own.
_NESTED_IN_PARENT: tuple[tuple[Path, str], ...] = (
    (("run",), RUN),
    (("job",), JOB),
    (("root", "run"), RUN),
    (("root", "job"), JOB),
)


def of_kind(kind: str, event: Object) -> Object:
    """Return the entities that an event of ``kind`` has; a RunEvent's ``dataset`` means nothing."""
    return {name: event[name] for name in ENTITIES[kind] if name in event}


def is_object(value: object) -> TypeGuard[Object]:
    """Tell whether ``value`` is a JSON object."""
    return isinstance(value, dict)


def at(value: Any, path: Path) -> Any:
    """Return what stands at ``path`` of keys in ``value``, or None."""
    for key in path:
        if not is_object(value):
            return None
        value = value.get(str(key))
    return value


def withdrawn(place: str, facet: object) -> bool:
    """Tell whether ``facet`` withdraws an earlier one, so that it needs no body."""
    return place in DELETABLE and is_object(facet) and facet.get("_deleted") is True


def listed(event: Object, name: str) -> Iterator[tuple[Path, Object]]:
    """Yield the objects in the list ``name`` (``inputs`` or ``outputs``) of ``event``."""
    values = event.get(name)
    if isinstance(values, list):
        for index, value in enumerate(values):
            if is_object(value):
                yield (name, index), value


def datasets(event: Object) -> Iterator[tuple[Path, Object]]:
    """Yield every dataset of ``event``: its own, its inputs, its outputs."""
    if is_object(dataset := event.get("dataset")):
        yield ("dataset",), dataset
    yield from listed(event, "inputs")
    yield from listed(event, "outputs")


def containers(event: Object) -> Iterator[tuple[Path, str, Object]]:
    """Yield each container of facets as its path, the name of its place, and itself."""
    pending: list[tuple[Path, str, Any]] = list(outer_containers(event))
    while pending:
        path, place, container = pending.pop(0)
        if not is_object(container):
            continue
        yield path, place, container
        if place == RUN and "parent" in container:
            for nested, nested_place in _NESTED_IN_PARENT:
                inner: Path = ("parent", *nested, "facets")
                pending.append(((*path, *inner), nested_place, at(container, inner)))


def outer_containers(event: Object) -> Iterator[tuple[Path, str, Object]]:
    """Yield the containers of facets but for those nested in parent facets."""
    for path, place, container in _outer_containers(event):
        if is_object(container):
            yield path, place, container


def _outer_containers(event: Object) -> Iterator[tuple[Path, str, Any]]:
    yield ("run", "facets"), RUN, at(event, ("run", "facets"))
    yield ("job", "facets"), JOB, at(event, ("job", "facets"))
    for path, dataset in datasets(event):
        yield (*path, "facets"), DATASET, dataset.get("facets")
    for name, key, place in (
        ("inputs", "inputFacets", INPUT_DATASET),
        ("outputs", "outputFacets", OUTPUT_DATASET),
    ):
        for path, dataset in listed(event, name):
            yield (*path, key), place, dataset.get(key)


def named(event: Object) -> Iterator[tuple[Path, Object]]:
    """Yield what has a namespace and a name: the job, the datasets, the jobs of parent facets."""
    if is_object(job := event.get("job")):
        yield ("job",), job
    yield from datasets(event)
    for path, place, container in containers(event):
        if place == RUN:
            for nested, nested_place in _NESTED_IN_PARENT:
                inner: Path = ("parent", *nested)
                if nested_place == JOB and is_object(parent := at(container, inner)):
                    yield (*path, *inner), parent


def field_lists(event: Object) -> Iterator[tuple[Path, list[Object]]]:
    """Yield each list of schema fields of the datasets of ``event``, nested ones included."""
    pending: list[tuple[Path, Any]] = []
    for path, dataset in datasets(event):
        schema = at(dataset, ("facets", "schema"))
        if is_object(schema) and not withdrawn(DATASET, schema):
            pending.append(((*path, "facets", "schema", "fields"), schema.get("fields")))
    while pending:
        path, fields = pending.pop(0)
        if not isinstance(fields, list):
            continue
        yield path, fields
        pending.extend(
            ((*path, index, "fields"), field["fields"])
            for index, field in enumerate(fields)
            if is_object(field) and "fields" in field
        )
