"""What carries accepted events to one receiver: over HTTP, to a file, or by the configuration."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final

from streamt_ol.delivery.outcome import Outcome
from streamt_ol.transport.base import RETRIED_STATUSES, DeliveryError
from streamt_ol.transport.connection import Connection
from streamt_ol.transport.deadline import Deadline
from streamt_ol.transport.http import gzipped, refused_answer, request, request_head

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Sequence

    from streamt_ol.delivery.items import Item
    from streamt_ol.delivery.outcome import State
    from streamt_ol.delivery.receivers import Batch, Receiver
    from streamt_ol.transport.address import Address
    from streamt_ol.transport.answer import Answer
    from streamt_ol.transport.base import Transport
    from streamt_ol.transport.file import FileTransport
    from streamt_ol.transport.secret import Secret

RETRIED_KINDS = frozenset({"connect", "timeout", "broken"})


class Sender(Protocol):
    """Takes events in order, at most ``batch_size`` at a time, in one thread."""

    batch_size: int

    def deliver(self, items: Sequence[Item]) -> list[Outcome]:
        """Try once to deliver ``items``; return one outcome each. Never raises for a failure."""

    def close(self) -> None:
        """Release what is held."""


@dataclass(frozen=True)
class HttpTarget:
    """Where and how events are posted: the addresses, headers, certificates, seconds a request.

    ``deadline`` is that of the whole delivery: no request lasts beyond it.
    """

    address: Address
    batch_address: Address | None = None
    headers: tuple[tuple[str, Secret], ...] = ()
    tls: ssl.SSLContext | None = None
    is_gzipped: bool = False
    timeout: float = 5.0
    deadline: Deadline | None = None


@final
class HttpSender:
    """Posts one event a request over one kept-alive connection, or several in batch form."""

    def __init__(
        self,
        receiver: Receiver,
        target: HttpTarget,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._receiver = receiver
        self._target = target
        self._secrets = tuple(value for _, value in target.headers)
        self._clock, self._now = clock, now
        self._connection = Connection(target.address, target.tls)
        self._head = self._head_for(target.address)
        self._batch = receiver.batch if target.batch_address else None
        self._batch_head = self._head_for(target.batch_address) if target.batch_address else b""
        self.batch_size = self._batch.size if self._batch else 1

    def deliver(self, items: Sequence[Item]) -> list[Outcome]:
        """Post the events; in batch form where the answer can tell the truth about each."""
        if self._batch and len(items) > 1:
            outcomes = self._deliver_batch(self._batch, items)
            if outcomes is not None:
                return outcomes
        return [self._deliver_one(item) for item in items]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _head_for(self, address: Address) -> bytes:
        return request_head(address, self._target.headers, is_gzipped=self._target.is_gzipped)

    def _deliver_batch(self, batch: Batch, items: Sequence[Item]) -> list[Outcome] | None:
        body = batch.body([item.body for item in items])
        try:
            answer = self._exchange(self._batch_head, body)
        except DeliveryError as error:
            return [failed(error)] * len(items)
        if answer.status in RETRIED_STATUSES:
            refusal = refused_answer(answer, self._secrets, self._now())
            return [failed(refusal)] * len(items)
        return batch.read(answer, [item.event for item in items])

    def _deliver_one(self, item: Item) -> Outcome:
        try:
            answer = self._exchange(self._head, item.body)
        except DeliveryError as error:
            return failed(error)
        if answer.status in range(200, 300):
            return self._receiver.read_success(answer)
        refusal = failed(refused_answer(answer, self._secrets, self._now()))
        return self._receiver.read_refusal(answer, refusal)

    def _exchange(self, head: bytes, body: bytes) -> Answer:
        sent = gzipped(body) if self._target.is_gzipped else body
        limit = self._receiver.max_body
        if limit is not None and len(sent) > limit:
            raise DeliveryError("too-large", f"a body of {len(sent):,} bytes is over the limit")
        deadline = Deadline(self._target.timeout, self._clock, self._target.deadline)
        return self._connection.exchange(request(head, sent), deadline)


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
        """Append all of them; if that fails none counts as delivered."""
        try:
            self._transport.emit_all([item.body for item in items])
        except DeliveryError as error:
            return [failed(error)] * len(items)
        return [Outcome("sent")] * len(items)

    def close(self) -> None:
        """Close the file."""
        self._transport.close()
