"""The interface of a transport, how it fails, and the deadline that bounds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NoReturn, Protocol, Self, final

from streamt_ol.problems import INVALID, Location, StreamtOlError
from streamt_ol.redaction import shown_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

FailureKind = Literal[
    "closed",
    "connect",
    "timeout",
    "tls",
    "broken",
    "protocol",
    "status",
    "page",
    "write",
    "too-large",
]

# Answers that another attempt may change.
RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})


class DeliveryError(Exception):
    """One event was not acknowledged. ``str()`` of it is safe to show: redacted and bounded.

    - ``kind``: ``connect`` (no connection), ``timeout`` (the deadline passed), ``tls`` (the
      certificate or the handshake), ``broken`` (the connection broke before a whole answer),
      ``protocol`` (the answer is not HTTP, or is too large), ``status`` (an answer other than
      2xx), ``page`` (a 2xx answer that is a web page),
      ``write`` (a file), ``too-large`` (a limit of the receiver), ``closed`` (used after
      ``close``);
    - ``status`` and ``retry_after`` (seconds) where there was an answer; ``excerpt`` is a bounded,
      redacted part of its body.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        excerpt: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.excerpt = excerpt


class Closing:
    """A resource that is closed at the end of a ``with`` block."""

    def close(self) -> None:
        """Release what is held. May be repeated."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class Transport(Protocol):
    """Takes the bytes of one JSON event at a time; not to be shared between threads."""

    def emit(self, event_bytes: bytes) -> None:
        """Deliver one event, and return only when it is acknowledged.

        ``event_bytes`` is one JSON object, UTF-8, without a line end; it is sent as it is.
        Raises ``DeliveryError``.
        """

    def close(self) -> None:
        """Release the connection or descriptor; ``emit`` fails from then on. May be repeated."""

    def __enter__(self) -> Self:
        """Return the transport itself."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""


@final
class Deadline:
    """A point on ``clock`` (monotonic seconds), ``seconds`` from now, not later than ``limit``.

    ``limit`` is a deadline on the same clock, of a whole that this is a part of.
    """

    __slots__ = ("_clock", "_end")

    def __init__(
        self, seconds: float, clock: Callable[[], float], limit: Deadline | None = None
    ) -> None:
        self._clock = clock
        self._end = clock() + seconds
        if limit is not None:
            self._end = min(self._end, limit._end)

    def left(self) -> float:
        """Return the seconds left, more than 0. Raises ``TimeoutError`` when there are none."""
        seconds = self._end - self._clock()
        if seconds <= 0:
            raise TimeoutError
        return seconds

    def allows(self, seconds: float) -> bool:
        """Return whether ``seconds`` from now is still before the end."""
        return self._clock() + seconds < self._end


def refuse(location: str, message: str, suggestion: str | None = None) -> NoReturn:
    """Raise ``StreamtOlError`` at ``location``, which may hold a name that a user wrote."""
    where = location if isinstance(location, Location) else shown_path(location)
    raise StreamtOlError(INVALID, message, location=where, suggestion=suggestion)
