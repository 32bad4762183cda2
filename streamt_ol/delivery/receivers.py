"""The receivers: one row each, from which the commands, their help and `check` are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from streamt_ol.delivery import openmetadata
from streamt_ol.delivery.judging import MIB, Judge, any_kind, at_most
from streamt_ol.delivery.outcome import Outcome

if TYPE_CHECKING:
    from streamt_ol.delivery.items import Event
    from streamt_ol.transport.answer import Answer

Route = Literal["http", "kafka", "file", "config"]
TokenHeader = Literal["bearer", "x-token"]
TRUEWATCH_FACETS = frozenset(
    {
        "inputs.schema", "outputs.schema", "dataset.schema", "inputs.columnLineage",
        "outputs.columnLineage", "dataset.columnLineage",
    }
)  # fmt: skip


def acknowledged(answer: Answer) -> Outcome:
    """Read a 2xx answer of a server that says nothing more."""
    return Outcome("sent", status=answer.status)


def read_datakit(answer: Answer) -> Outcome:
    """Read DataKit's 2xx answer: an event that DataWay has cached is done as well."""
    code = openmetadata.body_of(answer).get("error_code")
    is_cached = code == "dataway.cached"
    return Outcome("sent", "cached by DataWay" if is_cached else "", answer.status)


def as_it_is(answer: Answer, refusal: Outcome) -> Outcome:  # noqa: ARG001
    """Leave a refusal as it was read from the status alone."""
    return refusal


@dataclass(frozen=True)
class Batch:
    """A receiver's batch form: its endpoint, how a body is made of events, an answer read."""

    endpoint: str
    size: int
    body: Callable[[Sequence[bytes]], bytes]
    read: Callable[[Answer, Sequence[Event]], list[Outcome] | None]


@dataclass(frozen=True)
class Receiver:
    """One receiver. ``page`` is its file in ``docs/receivers``.

    ``route``: what carries the events; ``endpoint``: the default path; ``tokens``: how a token may
    be presented, the default first, none if it takes none; ``may_gzip``: whether it takes
    compressed bodies; ``max_body``: the largest body that it receives, as sent.
    """

    name: str
    route: Route
    about: str
    judge: Judge
    endpoint: str = ""
    tokens: tuple[TokenHeader, ...] = ()
    may_gzip: bool = False
    max_body: int | None = None
    batch: Batch | None = None
    read_success: Callable[[Answer], Outcome] = acknowledged
    read_refusal: Callable[[Answer, Outcome], Outcome] = as_it_is


def _events_object(bodies: Sequence[bytes]) -> bytes:
    return b'{"events":[%b]}' % b",".join(bodies)


RECEIVERS: dict[str, Receiver] = {
    receiver.name: receiver
    for receiver in (
        Receiver(
            "openlineage",
            "http",
            "any server of the standard; --endpoint, default /api/v1/lineage",
            any_kind,
            endpoint="/api/v1/lineage",
            tokens=("bearer",),
            may_gzip=True,
        ),
        Receiver(
            "marquez",
            "http",
            "all three kinds of event",
            any_kind,
            endpoint="/api/v1/lineage",
            tokens=("bearer",),
        ),
        Receiver(
            "openmetadata",
            "http",
            "RunEvents with inputs and outputs, by default COMPLETE ones only",
            openmetadata.judge,
            endpoint="/api/v1/openlineage/lineage",
            tokens=("bearer",),
            batch=Batch(
                "/api/v1/openlineage/lineage/batch", 50, _events_object, openmetadata.read_batch
            ),
            read_success=openmetadata.read_single,
            read_refusal=openmetadata.read_failure,
        ),
        Receiver(
            "truewatch",
            "http",
            "TrueWatch's DataWay: all kinds, each event at most 8 MiB",
            at_most(8 * MIB, TRUEWATCH_FACETS),
            endpoint="/v1/write/openlineage",
            tokens=("bearer", "x-token"),
            may_gzip=True,
        ),
        Receiver(
            "datakit",
            "http",
            "TrueWatch's DataKit: as truewatch, no token, a body of at most 64 MiB",
            at_most(8 * MIB, TRUEWATCH_FACETS),
            endpoint="/openlineage/api/v1/lineage",
            may_gzip=True,
            max_body=64 * MIB,
            read_success=read_datakit,
        ),
        Receiver("kafka", "kafka", "a topic, keyed as the official client keys it", any_kind),
        Receiver("file", "file", "a local file that is only appended to", any_kind),
        Receiver("config", "config", "the transport that OPENLINEAGE_CONFIG configures", any_kind),
    )
}
CHECKED = tuple(name for name, receiver in RECEIVERS.items() if receiver.route != "config")
