"""Post accepted events to one receiver over HTTP."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from streamt_ol.delivery.receivers.receiver import Request
from streamt_ol.delivery.senders.sender import failed, is_about_connection
from streamt_ol.transport.base import RETRIED_STATUSES, Deadline, DeliveryError
from streamt_ol.transport.connection import Connection
from streamt_ol.transport.credentials import Secret
from streamt_ol.transport.http import (
    check_acknowledged,
    gzipped,
    refused_answer,
    request,
    request_head,
)

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping, Sequence

    from streamt_ol.delivery.items import Item
    from streamt_ol.delivery.outcome import Outcome
    from streamt_ol.delivery.receivers.receiver import Batch, Receiver
    from streamt_ol.transport.address import Address
    from streamt_ol.transport.answer import Answer


@dataclass(frozen=True)
class HttpTarget:
    """The settings of posting events: the addresses, headers, certificates, seconds a request.

    ``deadline`` is that of the whole delivery: no request lasts beyond it.
    """

    address: Address
    batch_address: Address | None = None
    headers: tuple[tuple[str, Secret], ...] = ()
    tls: ssl.SSLContext | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
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

    def _head_of(self, body: bytes) -> bytes:
        """Return the head for a body: made once, but for a receiver that dresses each request."""
        if self._receiver.dress is None:
            return self._head
        target = self._target
        bare = Request(target.address.url, body, target.parameters)
        dressed = self._receiver.dress(bare)
        path = f"{target.address.target}?{dressed.query}" if dressed.query else ""
        address = target.address._replace(target=path) if path else target.address
        headers = tuple((name, Secret(value)) for name, value in dressed.headers)
        return request_head(address, (*target.headers, *headers), is_gzipped=target.is_gzipped)

    def _deliver_batch(self, batch: Batch, items: Sequence[Item]) -> list[Outcome] | None:
        body = batch.body([item.body for item in items])
        try:
            answer = self._exchange(self._batch_head, body)
        except DeliveryError as error:
            return [failed(error)] * len(items)
        if answer.status in RETRIED_STATUSES or is_about_connection(answer.status):
            refusal = refused_answer(answer, self._secrets, self._now())
            return [failed(refusal)] * len(items)
        return batch.read(answer, [item.event for item in items])

    def _deliver_one(self, item: Item) -> Outcome:
        try:
            answer = self._exchange(self._head_of(item.body), item.body)
        except DeliveryError as error:
            return failed(error)
        try:
            check_acknowledged(answer, self._secrets, self._now())
        except DeliveryError as error:
            return self._receiver.read_refusal(answer, failed(error))
        return self._receiver.read_success(answer)

    def _exchange(self, head: bytes, body: bytes) -> Answer:
        sent = gzipped(body) if self._target.is_gzipped else body
        limit = self._receiver.max_body
        if limit is not None and len(sent) > limit:
            raise DeliveryError("too-large", f"a body of {len(sent):,} bytes is over the limit")
        deadline = Deadline(self._target.timeout, self._clock, self._target.deadline)
        return self._connection.exchange(request(head, sent), deadline)
