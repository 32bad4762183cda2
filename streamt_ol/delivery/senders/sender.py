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
_SERVER_ERRORS = 500
# RFC 9110, section 15.5, and RFC 6585: what is left (400, 409, 413, 422, unknown ones) is about
# the event.
_OF_ADDRESS = frozenset({401, 403, 404, 405, 407, 410, 421, 451})
_OF_REQUESTS = frozenset({406, 411, 414, 415, 428, 431})
_OF_SERVER = frozenset({402, 426})
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
    about = _about(error.status)
    hint = f"; that is about {about}, and so about every event"
    return Outcome(
        state,
        f"{error.message}{hint if is_of_connection else ''}",
        error.status,
        may_retry=may_retry,
        retry_after=error.retry_after,
        is_fatal=is_of_connection or error.kind in ("tls", "write", "page"),
    )


def is_about_connection(status: int | None) -> bool:
    """Return whether an answer is about something else than the event, and so about every one."""
    return bool(_about(status))


def _about(status: int | None) -> str:
    """Return what an answer is about, "" if that is the event, or may pass.

    A server error is never about the event (RFC 9110, section 15.6): one that is not tried again
    comes from a server or a network that lacks something, as 511 (a sign-in) and 520 to 530 (a
    delivery network without its server).
    """
    if status is None or status in RETRIED_STATUSES:
        return ""
    if status in range(300, 400) or status in _OF_ADDRESS:
        return "the address or the token"
    if status in _OF_REQUESTS:
        return "the form of the requests"
    return "the server or the network" if status in _OF_SERVER or status >= _SERVER_ERRORS else ""


def _is_failure(status: int | None) -> bool:
    return status is not None and status >= _FIRST_FAILURE
