"""The interface of a sender, and the outcome that a failed attempt means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from streamt_ol.delivery.outcome import Outcome
from streamt_ol.transport.base import RETRIED_STATUSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamt_ol.delivery.items import Item
    from streamt_ol.delivery.outcome import State
    from streamt_ol.transport.base import DeliveryError

RETRIED_KINDS = frozenset({"connect", "timeout", "broken"})


class Sender(Protocol):
    """Takes events in order, at most ``batch_size`` at a time, in one thread."""

    batch_size: int

    def deliver(self, items: Sequence[Item]) -> list[Outcome]:
        """Try once to deliver ``items``; return one outcome each. Never raises for a failure."""

    def close(self) -> None:
        """Release what is held."""


def failed(error: DeliveryError) -> Outcome:
    """Return the outcome that a failed attempt means."""
    may_retry = error.kind in RETRIED_KINDS or error.status in RETRIED_STATUSES
    is_refusal = error.kind == "too-large" or (error.kind == "status" and not may_retry)
    state: State = "refused" if is_refusal else "failed"
    return Outcome(
        state,
        error.message,
        error.status,
        may_retry=may_retry,
        retry_after=error.retry_after,
        is_fatal=error.kind in ("tls", "write"),
    )
