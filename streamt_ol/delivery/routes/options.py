"""The options of a delivery, named; and the errors about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from streamt_ol.problems import USAGE, Location, StreamtOlError

if TYPE_CHECKING:
    from streamt_ol.delivery.receivers.receiver import Receiver
    from streamt_ol.transport.base import Deadline


@dataclass(frozen=True)
class DeliveryOptions:
    """The options of a delivery; None where one is not given.

    ``namespace_map`` is a file of OpenMetadata's settings. ``deadline``, running already, bounds
    every attempt.
    """

    to: str
    url: str | None = None
    endpoint: str | None = None
    token_env: str | None = None
    token_header: str | None = None
    ca_file: str | None = None
    gzip: bool = False
    batch: bool = False
    bootstrap: str | None = None
    topic: str | None = None
    kafka_config: str | None = None
    path: str | None = None
    namespace_map: Path | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    allow_plain_http: bool = False
    timeout: float = 10.0
    retries: int = 4
    concurrency: int = 4
    deadline: Deadline | None = None


def required(receiver: Receiver, options: DeliveryOptions, option: str) -> str:
    """Return the value of an option that ``receiver`` needs. Raises E500 without one."""
    value: str | None = getattr(options, option)
    if not value:
        raise usage_error(option, f"{receiver.name} needs it")
    return value


def usage_error(option: str, message: str, suggestion: str | None = None) -> StreamtOlError:
    """Return the error (E500) of an option, a field of ``DeliveryOptions``."""
    return StreamtOlError(USAGE, message, location=Location(option=option), suggestion=suggestion)
