"""The settings of the HTTP transport: values that have been checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.transport.base import RETRIED_STATUSES

if TYPE_CHECKING:
    from streamt_ol.transport.address import Address
    from streamt_ol.transport.credentials import Secret

MAX_TIMEOUT = 5.0
MAX_RETRIES = 1


class RetryConfig(NamedTuple):
    """The most times that an event is sent again: after no connection, no answer, a status."""

    connect: int = MAX_RETRIES
    read: int = MAX_RETRIES
    status: int = MAX_RETRIES
    backoff: float = 0.3
    statuses: frozenset[int] = RETRIED_STATUSES


class HttpSettings(NamedTuple):
    """Post each event to ``address``.

    ``timeout``, in seconds, bounds one event as a whole, its retry included. ``ca_file`` replaces
    the system's certificate authorities. ``headers`` are sent as they are, their values secret.
    """

    address: Address
    timeout: float = MAX_TIMEOUT
    ca_file: str | None = None
    gzip: bool = False
    headers: tuple[tuple[str, Secret], ...] = ()
    retry: RetryConfig = RetryConfig()

    @property
    def is_unencrypted(self) -> bool:
        """Whether what is sent can be read on its way to another machine."""
        return self.address.is_unencrypted

    @property
    def target(self) -> str:
        """The endpoint's URL, which holds no credential."""
        return self.address.url
