"""The row of a receiver, and how the answers of one that says nothing special are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self

from streamt_ol.delivery.outcome import Outcome
from streamt_ol.delivery.receivers.acceptance import Acceptance

if TYPE_CHECKING:
    from streamt_ol.delivery.items import Event, Item
    from streamt_ol.problems import WarningRecord
    from streamt_ol.transport.answer import Answer

Route = Literal["http", "kafka", "file", "config"]
TokenHeader = Literal["bearer", "x-token"]
_DIGITS = 40


def acknowledged(answer: Answer) -> Outcome:
    """Read a 2xx answer of a server that says nothing more."""
    return _sent(answer.status)


@cache
def _sent(status: int) -> Outcome:
    return Outcome("sent", status=status)


def unchanged(_answer: Answer, refusal: Outcome) -> Outcome:
    """Leave a refusal as it was read from the status alone."""
    return refusal


def _integer(text: str) -> int:
    """Return an integer, or one beyond any bound for one of thousands of digits."""
    return int(text[:_DIGITS])


def body_of(answer: Answer) -> Mapping[str, Any]:
    """Return the JSON object of an answer's body, empty if it is not one.

    One beyond the depth that is read is a ``fault`` of the answer from here on.
    """
    try:
        said = json.loads(bytes(answer.body), parse_int=_integer)
    except RecursionError:
        answer.fault = answer.fault or "it is nested too deeply"
        return {}
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


class Parameter(NamedTuple):
    """A part of a receiver's address or headers that is given by ``--param NAME=VALUE``."""

    name: str
    default: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """One request as it is made: where it goes, with what query, headers and body."""

    base: str
    body: bytes
    parameters: Mapping[str, str]
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def url(self) -> str:
        """The whole URL."""
        return f"{self.base}?{self.query}" if self.query else self.base

    @property
    def digest(self) -> str:
        """The same 32 characters for the same body, whenever it is sent."""
        return hashlib.blake2b(self.body, digest_size=16).hexdigest()

    def with_query(self, query: str) -> Self:
        """Return the request with a query."""
        return replace(self, query=query)

    def with_headers(self, *headers: tuple[str, str]) -> Self:
        """Return the request with more headers."""
        return replace(self, headers=(*self.headers, *headers))


@dataclass(frozen=True)
class Batch:
    """A receiver's batch form: its endpoint, how a body is made of events, an answer read."""

    endpoint: str
    size: int
    body: Callable[[Sequence[bytes]], bytes]
    read: Callable[[Answer, Sequence[Event]], list[Outcome] | None]


class Watch(Protocol):
    """An observer of one event after the other, with warnings in the end."""

    def add(self, event: Mapping[str, Any], /) -> None:
        """Look at one event."""

    def warnings(self) -> list[WarningRecord]:
        """Return what is to be known of all of them."""


@dataclass(frozen=True)
class Receiver:
    """One receiver. ``page`` is its file in ``docs/receivers``.

    - ``route``: what carries the events; ``url`` and ``endpoint``: the default server and path;
      these and ``headers`` hold ``{NAME}`` for each of ``parameters``;
    - ``dress`` changes each request before it is sent; ``adds`` returns the keys that are added to
      an event on the wire; ``engine``: the processing engine of ``--as-run-events`` by default;
    - ``watch`` makes what looks at all events that are sent, and warns of what they mean together;
    - ``needs_field_types``: whether it refuses an event for a schema field without a type;
    - ``acceptance``: the rules that decide offline what becomes of an event;
    - ``requires_core``: whether what breaks the core schema is not sent: it is a server of the
      standard, or nobody knows what reads it;
    - ``others``: what becomes of events of a kind or state that it does not take, and what is
      known of the answer; empty where it takes all kinds; ``reads``: the facets known to be read;
    - ``asks_for_core``: whether its documentation asks for the core schema, but does not say what
      it answers without;
    - ``tokens``: how a token may be presented, the default first, empty if it takes none;
    - ``may_gzip``: whether it takes compressed bodies; ``max_body``: the largest body, as sent;
    - ``read_settings``: reads a file of the receiver's own settings, given by the option
      ``settings_option``, and returns the rules with these; None where there are no such settings.
    """

    name: str
    route: Route
    about: str
    acceptance: Acceptance
    url: str = ""
    endpoint: str = ""
    parameters: tuple[Parameter, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    dress: Callable[[Request], Request] | None = None
    adds: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    engine: str = ""
    watch: Callable[[], Watch] | None = None
    needs_field_types: bool = False
    requires_core: bool = False
    asks_for_core: bool = False
    others: str = ""
    reads: frozenset[str] = frozenset()
    tokens: tuple[TokenHeader, ...] = ()
    may_gzip: bool = False
    max_body: int | None = None
    batch: Batch | None = None
    read_success: Callable[[Answer], Outcome] = acknowledged
    read_refusal: Callable[[Answer, Outcome], Outcome] = unchanged
    read_settings: Callable[[Path], Acceptance] | None = None
    settings_option: str = ""

    def adapted(self, item: Item) -> bytes:
        """Return the body that is sent of an event: its own, or with what ``adds`` adds."""
        body = item.body
        added = self.adds(item.event) if self.adds else {}
        if not added:
            return body
        text = json.dumps(added, separators=(",", ":")).encode()[1:-1]
        rest = body[body.index(b"{") + 1 :]
        return b"{%b,%b" % (text, rest)

    def with_settings(self, path: Path | None) -> Self:
        """Return this receiver bound to the settings in a file, itself without a file.

        Raises ``StreamtOlError`` for a file that does not hold its settings.
        """
        if path is None or self.read_settings is None:
            return self
        return replace(self, acceptance=self.read_settings(path))
