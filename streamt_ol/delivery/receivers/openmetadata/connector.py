"""OpenMetadata's ingestion connector, which reads a Kafka topic and resolves topics.

After the connector's own code (2.0.7, run against a broker): it drops what is not a START, RUNNING
or COMPLETE RunEvent with both keys ``inputs`` and ``outputs``; `send` adds one that is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamt_ol.delivery.outcome import DEPENDS, IGNORED, REFUSED, Verdict
from streamt_ol.delivery.receivers.acceptance import Candidate, datasets
from streamt_ol.delivery.receivers.receiver import Receiver
from streamt_ol.delivery.receivers.run_rules import AS_RUNS, SIDES
from streamt_ol.delivery.receivers.standard import DEFAULT_LIMIT, message_rules, read_limit_for
from streamt_ol.openlineage.events import RUN_EVENT, at, identity_of, kind_of
from streamt_ol.redaction import shown

_STATES = ("START", "RUNNING", "COMPLETE")


def added_sides(event: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the empty lists that are added to an event on the wire."""
    if kind_of(event) != RUN_EVENT:
        return {}
    return {side: [] for side in SIDES if side not in event}


def accept(candidate: Candidate) -> Verdict:
    """Say what the connector makes of an event, with the lists that `send` adds."""
    event = candidate.event
    if kind_of(event) != RUN_EVENT:
        return Verdict(IGNORED, (f"the connector drops it: not a RunEvent ({AS_RUNS})",))
    state = event.get("eventType")
    if state not in _STATES:
        return Verdict(IGNORED, (f"the connector drops eventType {shown(state, 20)}",))
    if not all(identity_of(event.get("job"))):
        return Verdict(IGNORED, ("the connector drops it: its job has no namespace or name",))
    sides = [datasets(event, side) for side in SIDES]
    if not any(sides):
        return Verdict(IGNORED, ("the connector makes no edge without datasets",))
    reasons = tuple(dict.fromkeys(_resolution(one) for side in sides for one in side))
    usable = [[one for one in side if not _names_several_brokers(one)] for side in sides]
    if not any(usable):
        return Verdict(IGNORED, reasons)
    edges = max(1, len(usable[0])) * max(1, len(usable[1]))
    return Verdict(DEPENDS, reasons, tuple(_notes(event, sides)), edges)


def _names_several_brokers(dataset: Mapping[str, Any]) -> bool:
    namespace, _ = identity_of(dataset)
    return namespace.startswith("kafka://") and "," in namespace


def _resolution(dataset: Mapping[str, Any]) -> str:
    namespace, name = identity_of(dataset)
    if not namespace.startswith("kafka://"):
        return f"it looks for {shown(namespace)} {shown(name)} in its catalog, which is not a topic"
    if _names_several_brokers(dataset):
        return f"{shown(namespace)} fails: it names several brokers"
    # Its URL parser lower-cases the host; what bootstrapServers holds stays as it is.
    broker = namespace.removeprefix("kafka://").lower()
    return (
        f"it looks for the topic {shown(name)} of a messaging service whose bootstrapServers "
        f"holds {shown(broker)}"
    )


def _notes(event: Mapping[str, Any], sides: list[list[Mapping[str, Any]]]) -> Iterator[str]:
    if added := added_sides(event):
        yield f"send adds empty {' and '.join(added)}: without the key the connector drops it"
    if not all(sides):
        yield "with one side empty it makes edges between topics and the pipeline"
    parent = at(event, "run", "facets", "parent", "job", "name")
    if isinstance(parent, str):
        yield f"the pipeline is named after the parent, {shown(parent)}"
    else:
        yield "the pipeline is named after the job; older releases want run.facets.parent.job"


def _accept_or_too_large(limit: int, candidate: Candidate) -> Verdict:
    verdict = message_rules(limit, candidate)
    return verdict if verdict.status == REFUSED else accept(candidate)


OPENMETADATA_KAFKA = Receiver(
    "openmetadata-kafka",
    "kafka",
    "a topic that OpenMetadata's connector reads: runs between topics",
    lambda candidate: _accept_or_too_large(DEFAULT_LIMIT, candidate),
    read_settings=read_limit_for(_accept_or_too_large),
    settings_option="kafka_config",
    adds=added_sides,
    others="ignored: dropped as malformed",
)
