"""Checking a run's events before anything happens: offline, against pins and local rules.

Implements "event construction, offline validation, namespace resolution ... are completed
before the command can mutate runtime infrastructure" of the specification's "Failure policy".
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from streamt_ol.openlineage import facets
from streamt_ol.openlineage.events import RUN_EVENT
from streamt_ol.openlineage.names import check_no_credentials, is_encodable
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.problems import INVALID, Location, StreamtOlError
from streamt_ol.validation.findings import NOTE, Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamt_ol.runs.spec import Identity, RunEvent, RunSpec

# A run id and a time that any spec must be able to carry, to try its shapes with.
_SOME_ID = "00000000-0000-4000-8000-000000000000"
_SOME_TIME = "2000-01-01T00:00:00Z"
# The rules beyond the schema that hold by construction: the schemaURL and eventType, the facets'
# own URLs, datasets that are not duplicated.
_BY_CONSTRUCTION = frozenset(
    {"OL-R016", "OL-R017", "OL-R018", "OL-R019", "OL-R024", "OL-R026", "OL-R027"}
)


def check_spec(spec: RunSpec, run_id: str = _SOME_ID, started_at: str = _SOME_TIME) -> None:
    """Raise E506 unless every event that a run of ``spec`` can emit would be valid."""
    for event in spec.shapes(run_id, started_at):
        check_event(event)


def check_event(event: RunEvent) -> None:
    """Raise E506 at the JSON pointer of the first thing that is wrong with ``event``.

    Under streamt's own producer the specification's rules for generated events hold as well.
    Warnings count as errors: whoever makes an event can make it without one.
    """
    for pointer, text in _texts(event):
        _check_text(text, pointer)
    found = _findings(event)
    if found:
        first = found[0]
        raise StreamtOlError(
            INVALID,
            f"the {event['eventType']} event would be invalid: {first.rule} {first.message}",
            location=Location(pointer=first.pointer),
        )


def _findings(event: RunEvent) -> list[Finding]:
    body = cast("dict[str, Any]", event)
    if event["producer"] == PRODUCER:
        from streamt_ol.validation.generated import check_generated

        return [
            one._replace(pointer=one.pointer.removeprefix("/0")) for one in check_generated([body])
        ]
    if _fast_path(has_parent="parent" in body["run"].get("facets", {}))(body):
        return []
    from streamt_ol.validation import events

    found = [one for one in events.check_event(body) if one.severity != NOTE]
    # What the facets repeat, as the producer, the event's own fields have above them.
    return sorted(found, key=lambda one: one.pointer.count("/"))


@cache
def _fast_path(*, has_parent: bool) -> Callable[[Any], bool]:
    """Return a function that accepts run events with the facets that runs have, where valid."""
    from streamt_ol.validation.accept.flatten import event_schema
    from streamt_ol.validation.accept.local import accepts_besides
    from streamt_ol.validation.accept.schema import compiled

    table = facets.by_place()
    of_run = ["errorMessage", *(["parent"] if has_parent else [])]
    used = (*(table[facets.RUN][key] for key in of_run), table[facets.JOB]["jobType"])
    meets_schema = compiled(event_schema(RUN_EVENT, used)).is_valid
    holds = accepts_besides(_BY_CONSTRUCTION)
    return lambda event: meets_schema(event) and holds(RUN_EVENT, event)


def _check_text(text: object, pointer: str) -> None:
    at = Location(pointer=pointer)
    if not isinstance(text, str):
        raise StreamtOlError(INVALID, "the value is not text", location=at)
    if not is_encodable(text):
        raise StreamtOlError(INVALID, "the text is not valid Unicode", location=at)
    what = "the namespace" if pointer.endswith("/namespace") else "the value"
    check_no_credentials(text, at, what)


def _texts(event: RunEvent) -> list[tuple[str, str]]:
    """Return every text of ``event`` that a caller chose, with its JSON pointer."""
    job = event["job"]
    identities: list[tuple[str, Identity]] = [("/job", job)]
    parent = event["run"].get("facets", {}).get("parent")
    if parent is not None:
        identities.append(("/run/facets/parent/job", parent["job"]))
    for index, dataset in enumerate(event.get("inputs", [])):
        identities.append((f"/inputs/{index}", dataset))
    for index, dataset in enumerate(event.get("outputs", [])):
        identities.append((f"/outputs/{index}", dataset))
    found = [
        (f"{pointer}/{field}", text)
        for pointer, identity in identities
        for field, text in (("namespace", identity["namespace"]), ("name", identity["name"]))
    ]
    found += [
        (f"/job/facets/jobType/{key}", text) for key, text in job["facets"]["jobType"].items()
    ]
    times = [("/run/runId", event["run"]["runId"]), ("/eventTime", event["eventTime"])]
    return [("/producer", event["producer"]), *found, *times]
