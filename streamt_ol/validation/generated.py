"""Check the events that streamt-ol makes: the specification's "Offline validation boundary".

The strict flattened schema is the fast path; what it refuses goes to the reference validator and
to the same rules in words (``streamt_ol.validation.explain.generated``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamt_ol.openlineage.events import JOB_EVENT, RUN_EVENT, kind_of
from streamt_ol.validation.accept.generated import accepts
from streamt_ol.validation.findings import ERROR, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable


def check_generated(events: Iterable[dict[str, Any]]) -> list[Finding]:
    """Return what is wrong with the events of one static export or one run; [] if all are valid.

    A pointer starts with the index of its event: ``/12/dataset/name``. Standard facets that
    the export does not emit may stand at their place, and custom ones anywhere: they are a
    user's addition, checked against their pinned schema or as base facets.
    """
    found: list[Finding] = []
    identities: set[tuple[str, str, str]] = set()
    for index, event in enumerate(events):
        kind = kind_of(event)
        if kind is not None and accepts(kind, event):
            if kind != RUN_EVENT and not _is_new(kind, event, identities):
                found.extend(_repeated(index, kind, event, identities))
            continue
        found += [one._replace(pointer=f"/{index}{one.pointer}") for one in _judged(kind, event)]
        if kind is not None and kind != RUN_EVENT:
            found.extend(_repeated(index, kind, event, identities))
    return found


def _is_new(kind: str, event: dict[str, Any], identities: set[tuple[str, str, str]]) -> bool:
    """Tell of a valid event whether no earlier one has its identity; remember it if so."""
    value = event["job"] if kind == JOB_EVENT else event["dataset"]
    identity = (kind, value["namespace"], value["name"])
    if identity in identities:
        return False
    identities.add(identity)
    return True


def _judged(kind: str | None, event: dict[str, Any]) -> list[Finding]:
    # Only an event that the fast path refused needs the reference validator and the words.
    from streamt_ol.validation.events import check_event
    from streamt_ol.validation.explain.generated import explain, joined

    errors = [one for one in check_event(event) if one.severity == ERROR]
    return errors if kind is None else joined(errors, explain(kind, event, closed=False))


def _repeated(
    index: int, kind: str, event: dict[str, Any], identities: set[tuple[str, str, str]]
) -> list[Finding]:
    """Return the finding for a job or dataset whose identity an earlier event has; remember it."""
    entity = "job" if "job" in event else "dataset"
    value = event[entity]
    names = (value.get("namespace"), value.get("name")) if isinstance(value, dict) else ()
    if len(names) < 2 or not all(isinstance(name, str) for name in names):  # noqa: PLR2004
        return []
    identity = (kind, str(names[0]), str(names[1]))
    if identity not in identities:
        identities.add(identity)
        return []
    from streamt_ol.redaction import shown
    from streamt_ol.validation.rules import finding

    message = f"the {entity} {shown(identity[2])} is described in an earlier event too"
    return [finding("OL-R039", f"/{index}/{entity}", message)]
