"""The table or container to which OpenMetadata resolves a dataset, as far as is known.

After the endpoint's Java code and "Match Datasets to Catalog Assets" of its documentation. What
can resolve in some release is left to the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.delivery.outcome import ACCEPTED, DEPENDS, REFUSED, Status
from streamt_ol.openlineage.events import at
from streamt_ol.openlineage.events import identity_of as identity
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from streamt_ol.delivery.receivers.openmetadata.settings import OpenMetadataSettings

# Storage, resolved to an existing container by its path; other namespaces are looked up as tables.
STORAGE = frozenset({"gs", "s3", "s3a", "abfs", "abfss", "wasbs", "adl"})
_WHOLE_NAME = 3  # database.schema.table
# What it looks for, by how the namespace of a qualified name is mapped.
_LOOKUPS = {
    "exact": "a table in its catalog: it cannot be created from this event",
    "several": "a table; older releases map the first prefix, newer the exact entry",
    "prefix": "a table; older releases map the first prefix, newer the longest",
    "no": "a table by its name alone: no entry in namespaceToServiceMapping fits",
    "unknown": "a table in the service that the namespace is mapped to, or by its name alone",
}


class Resolution(NamedTuple):
    """Whether a dataset resolves: certainly (accepted), never (refused), or if ``text`` holds."""

    status: Status
    text: str = ""


def resolution(dataset: Mapping[str, object], settings: OpenMetadataSettings) -> Resolution:
    """Return how a dataset resolves; its ``symlinks`` are tried first, then its own identity.

    Older releases read the first symlink only, so of a later one nothing is certain.
    """
    *links, own = [*_symlinks(dataset), identity(dataset)]
    found = [_lookup(*each, dataset, settings) for each in links]
    found[1:] = [
        Resolution(DEPENDS, f"{shown(name)}: older releases read the first symlink only")
        if one.status == ACCEPTED
        else one
        for one, (_, name) in zip(found[1:], links[1:], strict=True)
    ]
    found.append(_lookup(*own, dataset, settings))
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
    mapped = _mapped(namespace, settings)
    parts = name.split(".")
    if len(parts) == 1 or not all(parts) or "/" in name:
        return _lookup_bare(called, mapped, dataset, topic)
    how = _LOOKUPS[mapped]
    if mapped == "exact" and settings.creates_entities and _has_columns(dataset):
        if len(parts) == _WHOLE_NAME:
            return Resolution(ACCEPTED, f"{called}: it makes a table{topic}" if topic else "")
        if len(parts) < _WHOLE_NAME:
            how = "a table, which it creates if the mapped service has exactly one database"
    return Resolution(DEPENDS, f"{called}: it looks for {how}{topic}")


def _lookup_bare(called: str, mapped: str, dataset: Mapping[str, object], topic: str) -> Resolution:
    """Return how a name that is not ``[database.]schema.table`` resolves."""
    if mapped != "no":
        how = "a table of that bare name in the mapped service, in newest releases only"
    elif isinstance(at(dataset, "facets", "datasource"), Mapping):
        how = "a table by what its datasource facet says"
    else:
        why = "its name is not [database.]schema.table, and its namespace is not mapped"
        return Resolution(REFUSED, f"{called} cannot resolve: {why}{topic}")
    return Resolution(DEPENDS, f"{called}: it looks for {how}{topic}")


def _mapped(namespace: str, settings: OpenMetadataSettings) -> str:
    """Return how a namespace is mapped: "exact", "several", "prefix", "no" or "unknown".

    A prefix counts in either direction: a release may take it, in "several" before the exact entry.
    """
    known = settings.namespaces
    if known is None:
        return "unknown"
    if not namespace:
        return "no"
    fitting = [k for k in known if k and (namespace.startswith(k) or k.startswith(namespace))]
    if namespace in fitting:
        return "exact" if len(fitting) == 1 else "several"
    return "prefix" if fitting else "no"


def _has_columns(dataset: Mapping[str, object]) -> bool:
    facets = dataset.get("facets")
    schema = facets.get("schema") if isinstance(facets, Mapping) else None
    return isinstance(schema, Mapping) and bool(schema.get("fields"))
