"""Marquez: the server whose path is the standard's, and what is known of what it refuses.

After its sources: a static event whose ``schemaURL`` has no fragment is read as a run, a
``jobType`` facet has required fields, namespaces have an alphabet. What becomes of an event that
lacks required fields was not found: that is left to the server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from streamt_ol.delivery.outcome import ACCEPTED, DEPENDS, REFUSED, Verdict
from streamt_ol.delivery.receivers.receiver import Receiver
from streamt_ol.openlineage.events import DATASET_EVENT, JOB_EVENT, RUN_EVENT, at
from streamt_ol.openlineage.formats import is_date_time

if TYPE_CHECKING:
    from streamt_ol.delivery.receivers.acceptance import Candidate

_NAMESPACE = re.compile(r"[a-zA-Z:;=/0-9_\-.@+]{1,1024}")
_OLDER_NAMESPACE = re.compile(r"[a-zA-Z:;=/0-9_\-.]{1,1024}")
_CHANGED = re.compile(r"[^a-z:/A-Z0-9\-_.@+]")
_JOB_TYPE = ("jobType", "processingType", "integration")
_REQUIRED = {
    RUN_EVENT: (("eventTime",), ("producer",), ("run", "runId"), ("job", "namespace"),
                ("job", "name")),
    JOB_EVENT: (("eventTime",), ("producer",), ("job", "namespace"), ("job", "name")),
    DATASET_EVENT: (("eventTime",), ("producer",), ("dataset", "namespace"), ("dataset", "name")),
}  # fmt: skip


def accept(candidate: Candidate) -> Verdict:
    """Say whether Marquez stores the event, and what it changes in it."""
    kind = candidate.kind
    if kind is None:
        return Verdict(REFUSED, ("the object is not one of the three kinds of event",))
    event = candidate.event
    namespace = at(event, "job", "namespace")
    notes = _notes(kind, namespace) if isinstance(namespace, str) else ()
    if reasons := tuple(_reasons(kind, event)):
        return Verdict(REFUSED, reasons, notes)
    unknown = tuple(_unknown(kind, event))
    return Verdict(DEPENDS if unknown else ACCEPTED, unknown, notes)


def _reasons(kind: str, event: Mapping[str, Any]) -> Iterator[str]:
    url = event.get("schemaURL")
    if kind != RUN_EVENT and isinstance(url, str) and "#" not in url:
        yield f"its schemaURL has no fragment: it is read as a run, but it is a {kind} (422)"
    namespace = at(event, "job", "namespace")
    is_run = kind == RUN_EVENT == _read_as(event)
    if is_run and isinstance(namespace, str) and not _NAMESPACE.fullmatch(namespace):
        yield "the job's namespace holds a character, or a length, that its runs do not take"
    facet = at(event, "job", "facets", "jobType")
    if isinstance(facet, Mapping):
        for name in _JOB_TYPE:
            if not isinstance(facet.get(name), str):
                yield f"job.facets.jobType.{name} is missing (422)"


def _read_as(event: Mapping[str, Any]) -> str:
    """Return the kind as which it is read: by the end of the ``schemaURL``, else a run."""
    url = event.get("schemaURL")
    end = url.rpartition("/")[2] if isinstance(url, str) else ""
    return end if end in _REQUIRED else RUN_EVENT


def _unknown(kind: str, event: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is asked of the server: what it answers to such an event was not found."""
    if _read_as(event) != kind:
        yield f"it looks for the kind of event in the schemaURL, which does not name a {kind}"
    for path in _REQUIRED[kind]:
        if not isinstance(at(event, *path), str):
            yield f"it looks for {'.'.join(path)}, which is missing"
    time = event.get("eventTime")
    if isinstance(time, str) and not is_date_time(time):
        yield "it reads eventTime, which is not a time with a zone"


@lru_cache(maxsize=1024)  # namespaces repeat
def _notes(kind: str, namespace: str) -> tuple[str, ...]:
    notes = []
    if kind == RUN_EVENT and not _OLDER_NAMESPACE.fullmatch(namespace):
        notes.append("older releases take no @ and + in the namespace of a run's job")
    if _CHANGED.search(namespace):
        notes.append("characters of the job's namespace become _ there")
    return tuple(notes)


MARQUEZ = Receiver(
    "marquez",
    "http",
    "all three kinds of event",
    accept,
    endpoint="/api/v1/lineage",
    tokens=("bearer",),
)
