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

_FIRST_FAILURE = 300
_OF_CONNECTION = frozenset({401, 403, 404, 405, 407})
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
    # What is wrong with the body of an answer does not change what its status says.
    has_status = error.kind == "status" or (error.kind == "protocol" and _is_failure(error.status))
    is_of_connection = has_status and is_about_connection(error.status)
    is_refusal = error.kind == "too-large" or (has_status and not may_retry)
    state: State = "refused" if is_refusal and not is_of_connection else "failed"
    hint = "; that is about the address or the token, and so about every event"
    return Outcome(
        state,
        f"{error.message}{hint if is_of_connection else ''}",
        error.status,
        may_retry=may_retry,
        retry_after=error.retry_after,
        is_fatal=is_of_connection or error.kind in ("tls", "write", "page"),
    )


def is_about_connection(status: int | None) -> bool:
    """Return whether an answer is about the address or the token, and so about every event."""
    return status is not None and (status in range(300, 400) or status in _OF_CONNECTION)


def _is_failure(status: int | None) -> bool:
    return status is not None and status >= _FIRST_FAILURE
