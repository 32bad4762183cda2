"""A transport for tests, yours too: it keeps what it was given, or fails as it was told to."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from streamt_ol.transport.base import Closing, DeliveryError

if TYPE_CHECKING:
    from collections.abc import Iterable


@final
class MemoryTransport(Closing):
    """Collects events in ``events``; the n-th ``emit`` raises the n-th of ``outcomes`` unless None.

    >>> transport = MemoryTransport([None, DeliveryError("timeout", "no answer in time")])
    """

    def __init__(self, outcomes: Iterable[DeliveryError | None] = ()) -> None:
        self.events: list[bytes] = []
        self.is_closed = False
        self._outcomes = iter(outcomes)

    def emit(self, event_bytes: bytes) -> None:
        """Keep the event, or raise the ``DeliveryError`` that is due."""
        if self.is_closed:
            raise DeliveryError("closed", "the transport is closed")
        outcome = next(self._outcomes, None)
        if outcome is not None:
            raise outcome
        self.events.append(event_bytes)

    def close(self) -> None:
        """Remember that it was closed."""
        self.is_closed = True
