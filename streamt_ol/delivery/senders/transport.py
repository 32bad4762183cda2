"""Senders over a transport: the one of the configuration, or a local file."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from streamt_ol.delivery.outcome import Outcome
from streamt_ol.delivery.senders.sender import failed
from streamt_ol.transport.base import DeliveryError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamt_ol.delivery.items import Item
    from streamt_ol.transport.base import Transport
    from streamt_ol.transport.file import FileTransport


@final
class TransportSender:
    """Hands events to the transport of the configuration, with its own rule about retries."""

    batch_size = 1

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def deliver(self, items: Sequence[Item]) -> list[Outcome]:
        """Emit the events one by one."""
        return [self._emit(item) for item in items]

    def _emit(self, item: Item) -> Outcome:
        try:
            self._transport.emit(item.body)
        except DeliveryError as error:
            # The transport has made the one retry that the specification allows.
            return failed(error)._replace(may_retry=False)
        return Outcome("sent")

    def close(self) -> None:
        """Close the transport."""
        self._transport.close()


@final
class FileSender:
    """Appends events to a file, with one wait for the disk for several of them."""

    batch_size = 256

    def __init__(self, transport: FileTransport) -> None:
        self._transport = transport

    def deliver(self, items: Sequence[Item]) -> list[Outcome]:
        """Append them until one fails; what follows that one is not written."""
        written, error = self._transport.emit_all([item.body for item in items])
        outcomes = [Outcome("sent")] * written
        if error is not None:
            outcomes.append(failed(error))
        return outcomes + [Outcome("unsent")] * (len(items) - len(outcomes))

    def close(self) -> None:
        """Close the file."""
        self._transport.close()
