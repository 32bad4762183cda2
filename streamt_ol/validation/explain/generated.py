"""The specification's rules for generated events, in words.

Facets that streamt does not emit, with another ``_producer``, are that producer's addition and
are judged like any facet, elsewhere. Implements "generated objects contain only the fields
permitted for that kind" and "standard facet keys match their exact ``_schemaURL`` and entity
location".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from streamt_ol.openlineage.events import DATASET_EVENT, EVENT_SCHEMA_URLS, RUN_EVENT
from streamt_ol.openlineage.formats import is_date_time, is_utc_date_time
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.problems import pointer
from streamt_ol.redaction import shown
from streamt_ol.validation import walk
from streamt_ol.validation.explain.generated_facets import facets
from streamt_ol.validation.explain.wording import kind_of_value
from streamt_ol.validation.findings import ERROR
from streamt_ol.validation.generated_tables import (
    EVENT_TYPES,
    JOB_NAMES,
    KAFKA_NAMESPACE,
    PERMITTED,
    READING_COMMANDS,
    command_of,
)
from streamt_ol.validation.rules import finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from streamt_ol.validation.findings import Finding


def explain(kind: str, event: walk.Object, *, closed: bool = True) -> list[Finding]:
    """Return what breaks the rules for generated events in an event of ``kind``.

    ``closed`` says that streamt's own facets are exactly the specified ones; otherwise other
    facets may stand beside them, whoever their producer says they are from.
    """
    return [
        *(one for rule in RULES for one in rule(kind, event)),
        *facets(kind, walk.of_kind(kind, event), closed=closed),
    ]


def joined(found: Iterable[Finding], own: Iterable[Finding]) -> list[Finding]:
    """Return what any event is judged by, and the rules for generated ones: one cause once.

    Where both speak of one location, an error counts, then what any event is judged by.
    """
    found, own = [*found], [*own]
    wrong = {one.pointer for one in found if one.severity == ERROR}
    own = [one for one in own if one.pointer not in wrong]
    pointers = {one.pointer for one in own}
    return [*(one for one in found if one.severity == ERROR or one.pointer not in pointers), *own]


def order(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield the first input of a serialized event that should stand further ahead."""
    before = ("", "")
    for path, dataset in walk.listed(walk.of_kind(kind, event), "inputs"):
        namespace, name = dataset.get("namespace"), dataset.get("name")
        if not (isinstance(namespace, str) and isinstance(name, str)):
            return
        if (namespace, name) < before:
            message = f"{shown(name)} should stand before {shown(before[1])}"
            yield finding("OL-R049", pointer(*path), message)
            return
        before = (namespace, name)


def _objects(event: walk.Object) -> Iterator[tuple[str, walk.Path, walk.Object]]:
    """Yield the objects of an event that have a row in ``PERMITTED``, under its name."""
    yield "", (), event
    for name in ("run", "job", "dataset"):
        if walk.is_object(value := event.get(name)):
            yield name, (name,), value
    for name in ("inputs", "outputs"):
        for path, value in walk.listed(event, name):
            yield name, path, value


def members(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield the fields that are not permitted in an object of this kind (OL-R050)."""
    permitted = PERMITTED[kind]
    for place, path, value in _objects(event):
        for name in value if place in permitted else ():
            if name not in permitted[place]:
                message = f"a generated {kind} does not hold {shown(name)} here"
                yield finding("OL-R050", pointer(*path, name), message)
    for name in ("inputs", "outputs"):
        if event.get(name) == []:
            yield finding("OL-R050", pointer(name), f"empty {name} are omitted")


def urls(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield a producer or schemaURL that is not the exact one (OL-R051)."""
    for name, expected in (("producer", PRODUCER), ("schemaURL", EVENT_SCHEMA_URLS[kind])):
        if event.get(name) != expected:
            message = f"expected {expected}, found {kind_of_value(event.get(name))}"
            yield finding("OL-R051", pointer(name), message)


def namespaces(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield the datasets outside of kafka:// namespaces (OL-R055)."""
    for path, dataset in walk.datasets(walk.of_kind(kind, event)):
        namespace = dataset.get("namespace")
        if isinstance(namespace, str) and not _matches(KAFKA_NAMESPACE, namespace):
            message = f"expected kafka://host:port, found {shown(namespace)}"
            yield finding("OL-R055", pointer(*path, "namespace"), message)


def job_name(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield a job that is not named as specified (OL-R056)."""
    name = walk.at(event, ("job", "name"))
    if kind != DATASET_EVENT and isinstance(name, str) and not _matches(JOB_NAMES[kind], name):
        form = "commands/apply or /test" if kind == RUN_EVENT else "models/MODEL"
        message = f"expected streamt/PROJECT/{form}, percent-encoded, found {shown(name)}"
        yield finding("OL-R056", "/job/name", message)


def command_inputs(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield inputs of a command that reads no datasets ("Apply: inputs and outputs: omitted")."""
    command = command_of(walk.at(event, ("job", "name"))) if kind == RUN_EVENT else None
    if command is not None and command not in READING_COMMANDS and event.get("inputs"):
        yield finding("OL-R050", "/inputs", f"a run of {command} has no inputs")


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern.removeprefix("^").removesuffix("$"), text) is not None


def time(_kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield an event time that is not UTC (OL-R057)."""
    text = event.get("eventTime")
    if isinstance(text, str) and is_date_time(text) and not is_utc_date_time(text):
        yield finding("OL-R057", "/eventTime", f"expected a zone of Z, found {shown(text)}")


def run(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield what is wrong with the state of a run (OL-R058, OL-R052)."""
    if kind != RUN_EVENT:
        return
    event_type = event.get("eventType")
    if event_type not in EVENT_TYPES:
        message = f"expected {' or '.join(EVENT_TYPES)}, found {kind_of_value(event_type)}"
        yield finding("OL-R058", "/eventType", message)
    error = walk.at(event, ("run", "facets", "errorMessage"))
    own = walk.is_object(error) and error.get("_producer") == PRODUCER
    if own and event_type != "FAIL":
        message = "only a FAIL event has an errorMessage"
        yield finding("OL-R052", "/run/facets/errorMessage", message)


def both_ways(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield the outputs that are inputs too (OL-R059)."""
    event = walk.of_kind(kind, event)

    def identities(name: str) -> Iterable[tuple[walk.Path, tuple[Any, Any]]]:
        for path, value in walk.listed(event, name):
            identity = (value.get("namespace"), value.get("name"))
            if all(isinstance(part, str) for part in identity):
                yield path, identity

    inputs = {identity for _, identity in identities("inputs")}
    for path, identity in identities("outputs"):
        if identity in inputs:
            message = f"the dataset {shown(identity[1])} is an input too"
            yield finding("OL-R059", pointer(*path), message)


# One row for each function.
RULES: tuple[Callable[[str, walk.Object], Iterable[Finding]], ...] = (
    members,
    urls,
    namespaces,
    job_name,
    command_inputs,
    time,
    run,
    both_ways,
)
