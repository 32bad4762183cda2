"""Rules beyond the schemas that one event can be judged by, alone.

Implements, of the specification's "Offline validation boundary": the fragment of ``schemaURL``
matches the kind; field names and input and output identities are unique within their containers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from streamt_ol.openlineage.events import EVENT_SCHEMA_URLS, RUN_EVENT
from streamt_ol.openlineage.facets import by_place
from streamt_ol.openlineage.release import CORE_VERSION, core_version
from streamt_ol.problems import pointer
from streamt_ol.redaction import shown
from streamt_ol.validation import walk
from streamt_ol.validation.accept.local import is_borrowed
from streamt_ol.validation.caching import remembering
from streamt_ol.validation.rules import finding, registered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from streamt_ol.validation.findings import Finding

Words = Callable[[str, walk.Object], "Iterable[Finding]"]
# The function for each rule of ``accept.local``, in the order in which they speak.
RULES: dict[str, Words] = {}
_FRAGMENT = re.compile(r"/(?:\$defs|definitions)/(\w+)")


def kind_finding(event: walk.Object) -> Finding:
    """Return the finding for an event of no kind, or of two."""
    if "job" in event and "dataset" in event:
        message = "job with dataset but without run: both a JobEvent and a DatasetEvent"
    else:
        message = "expected run and job (a RunEvent), job (a JobEvent) or dataset (a DatasetEvent)"
    return finding("OL-R010", "", message)


def explain(
    kind: str, event: walk.Object, known: frozenset[str] = frozenset()
) -> Iterator[Finding]:
    """Yield what the rules that no schema expresses find in an event of ``kind``.

    The rules ``known`` to hold are not asked.
    """
    asked = dict.fromkeys(words for rule, words in RULES.items() if rule not in known)
    return (one for words in asked for one in words(kind, event))


@registered(RULES, "OL-R026")
def datasets_unique(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield the datasets that are duplicated among the inputs or among the outputs."""
    event = walk.of_kind(kind, event)
    for name in ("inputs", "outputs"):
        seen: set[tuple[str, str]] = set()
        for path, entry in walk.listed(event, name):
            identity = (entry.get("namespace"), entry.get("name"))
            if not (isinstance(identity[0], str) and isinstance(identity[1], str)):
                continue
            if identity in seen:
                message = f"the dataset {shown(identity[1])} is duplicated among the {name}"
                yield finding("OL-R026", pointer(*path), message)
            seen.add((identity[0], identity[1]))


@registered(RULES, "OL-R027")
def fields_unique(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield the names of schema fields that are duplicated in one container."""
    for path, fields in walk.field_lists(walk.of_kind(kind, event)):
        names: set[str] = set()
        for index, field in enumerate(fields):
            field_name = field.get("name") if walk.is_object(field) else None
            if not isinstance(field_name, str):
                continue
            if field_name in names:
                message = f"the field {shown(field_name)} is duplicated in this container"
                yield finding("OL-R027", pointer(*path, index, "name"), message)
            names.add(field_name)


@registered(RULES, "OL-R024")
def own_schemas(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield the standard facets that name the schema of another one."""
    for path, place, container in walk.outer_containers(walk.of_kind(kind, event)):
        for key, facet in container.items():
            url = facet.get("_schemaURL") if walk.is_object(facet) else None
            if not isinstance(url, str) or walk.withdrawn(place, facet):
                continue
            if is_borrowed(place, key, url):
                expected = by_place()[place][key].document
                message = f"expected the schema {expected}, found {shown(url, 160)}"
                yield finding("OL-R024", pointer(*path, key, "_schemaURL"), message)


@registered(RULES, "OL-R016", "OL-R017", "OL-R018")
def schema_url(kind: str, event: walk.Object) -> Iterable[Finding]:
    """Return what is to say about the ``schemaURL``."""
    url = event.get("schemaURL")
    return _url_findings(kind, url) if isinstance(url, str) else ()


@remembering(1024)
def _url_findings(kind: str, url: str) -> tuple[Finding, ...]:
    if url == EVENT_SCHEMA_URLS[kind]:
        return ()
    base, _, fragment = url.partition("#")
    version = core_version(base)
    if version is None:
        expected = EVENT_SCHEMA_URLS[kind]
        return (_url("OL-R016", f"expected {expected}, found {shown(url, 160)}"),)
    found = []
    if version != CORE_VERSION:
        found.append(_url("OL-R017", f"not the pinned core {CORE_VERSION}, but {shown(base, 160)}"))
    if not fragment:
        found.append(_url("OL-R018", f"expected the fragment #/$defs/{kind}, found none"))
    else:
        named = _FRAGMENT.fullmatch(fragment)
        if named is None or named[1] != kind:
            message = f"expected the fragment #/$defs/{kind}, found {shown('#' + fragment)}"
            found.append(_url("OL-R016", message))
    return tuple(found)


def _url(rule: str, message: str) -> Finding:
    return finding(rule, "/schemaURL", message)


@registered(RULES, "OL-R019")
def event_type(kind: str, event: walk.Object) -> Iterator[Finding]:
    """Yield a RunEvent without an ``eventType``."""
    if kind == RUN_EVENT and "eventType" not in event:
        yield finding("OL-R019", "/eventType", "a RunEvent without an eventType")
