"""The row of a receiver, and how the answers of one that says nothing special are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from streamt_ol.delivery.outcome import Outcome
from streamt_ol.delivery.receivers.acceptance import Acceptance

if TYPE_CHECKING:
    from streamt_ol.delivery.items import Event
    from streamt_ol.transport.answer import Answer

Route = Literal["http", "kafka", "file", "config"]
TokenHeader = Literal["bearer", "x-token"]


def acknowledged(answer: Answer) -> Outcome:
    """Read a 2xx answer of a server that says nothing more."""
    return Outcome("sent", status=answer.status)


def unchanged(_answer: Answer, refusal: Outcome) -> Outcome:
    """Leave a refusal as it was read from the status alone."""
    return refusal


def body_of(answer: Answer) -> Mapping[str, Any]:
    """Return the JSON object of an answer's body, empty if it is not one."""
    try:
        said = json.loads(bytes(answer.body))
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


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

    - ``route``: what carries the events; ``endpoint``: the default path;
    - ``acceptance``: the rules that decide offline what becomes of an event;
    - ``requires_core``: whether what breaks the core schema is not sent: it is a server of the
      standard, or nobody knows what reads it;
    - ``tokens``: how a token may be presented, the default first, empty if it takes none;
    - ``may_gzip``: whether it takes compressed bodies; ``max_body``: the largest body, as sent;
    - ``read_settings``: reads a file of the receiver's own settings, given by the option
      ``settings_option``, and returns the rules with these; None where there are no such settings.
    """

    name: str
    route: Route
    about: str
    acceptance: Acceptance
    endpoint: str = ""
    requires_core: bool = False
    tokens: tuple[TokenHeader, ...] = ()
    may_gzip: bool = False
    max_body: int | None = None
    batch: Batch | None = None
    read_success: Callable[[Answer], Outcome] = acknowledged
    read_refusal: Callable[[Answer, Outcome], Outcome] = unchanged
    read_settings: Callable[[Path], Acceptance] | None = None
    settings_option: str = ""

    def with_settings(self, path: Path | None) -> Self:
        """Return this receiver bound to the settings in a file, itself without a file.

        Raises ``StreamtOlError`` for a file that does not hold its settings.
        """
        if path is None or self.read_settings is None:
            return self
        return replace(self, acceptance=self.read_settings(path))
