"""Marquez: the reference server of the standard, and what it makes of an event.

After its sources: the kind of an event is read from the end of its ``schemaURL``
(``EventTypeResolver``), required fields from the annotations of ``LineageEvent``, ``JobEvent``
and ``DatasetEvent``, names from ``NamespaceName`` and the schema of its database. Facets are
stored whatever they hold, apart from ``jobType``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from streamt_ol.delivery.outcome import ACCEPTED, REFUSED, Verdict
from streamt_ol.delivery.receivers.receiver import Receiver
from streamt_ol.openlineage.events import DATASET_EVENT, JOB_EVENT, RUN_EVENT, at, kind_of
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
    event = candidate.event
    kind = kind_of(event)
    if kind is None:
        return Verdict(REFUSED, ("the object is not one of the three kinds of event",))
    reasons = tuple(_reasons(kind, event))
    return Verdict(REFUSED if reasons else ACCEPTED, reasons, tuple(_notes(kind, event)))


def _reasons(kind: str, event: Mapping[str, Any]) -> Iterator[str]:
    url = event.get("schemaURL")
    end = url.rpartition("/")[2] if isinstance(url, str) else ""
    read_as = end if end in _REQUIRED else RUN_EVENT
    if read_as != kind:
        yield f"the end of its schemaURL makes it a {read_as}, which it is not (422)"
        return
    for path in _REQUIRED[kind]:
        if not isinstance(at(event, *path), str):
            yield f"{'.'.join(path)} is missing (422)"
    time = event.get("eventTime")
    if isinstance(time, str) and not is_date_time(time):
        yield "its eventTime is not a time with a zone (400)"
    namespace = at(event, "job", "namespace")
    if kind == RUN_EVENT and isinstance(namespace, str) and not _NAMESPACE.fullmatch(namespace):
        yield "the job's namespace holds a character, or a length, that its runs do not take (500)"
    facet = at(event, "job", "facets", "jobType")
    if isinstance(facet, Mapping):
        for name in _JOB_TYPE:
            if not isinstance(facet.get(name), str):
                yield f"job.facets.jobType.{name} is missing (422)"


def _notes(kind: str, event: Mapping[str, Any]) -> Iterator[str]:
    namespace = at(event, "job", "namespace")
    if not isinstance(namespace, str):
        return
    if kind == RUN_EVENT and not _OLDER_NAMESPACE.fullmatch(namespace):
        yield "older releases take no @ and + in the namespace of a run's job"
    if _CHANGED.search(namespace):
        yield "characters of the job's namespace become _ there"


MARQUEZ = Receiver(
    "marquez",
    "http",
    "all three kinds of event",
    accept,
    endpoint="/api/v1/lineage",
    tokens=("bearer",),
)
