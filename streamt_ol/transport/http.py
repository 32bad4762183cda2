"""The synchronous HTTP transport: one POST for each event, acknowledged by a 2xx answer."""

from __future__ import annotations

import gzip
import re
import time
from typing import TYPE_CHECKING, final

from streamt_ol import __version__
from streamt_ol.reading.json_scan import BOM
from streamt_ol.transport.answer import excerpt_of, parse_retry_after
from streamt_ol.transport.base import Closing, Deadline, DeliveryError
from streamt_ol.transport.connection import Connection
from streamt_ol.transport.sockets import tls_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from streamt_ol.transport.address import Address
    from streamt_ol.transport.answer import Answer
    from streamt_ol.transport.credentials import Secret
    from streamt_ol.transport.http_settings import HttpSettings

GZIP_LEVEL = 6
_PAGE_STARTS = (b"<!doctype html", b"<html", b"<!--")
_SUCCESS = 2  # RFC 9110, section 15.3
_PAGES = ("text/html", "application/xhtml+xml")


def request_head(
    address: Address,
    headers: Iterable[tuple[str, Secret]] = (),
    *,
    content_type: str = "application/json",
    is_gzipped: bool = False,
) -> bytes:
    """Return a POST's head up to the number of bytes in its body, which ``request`` adds.

    It holds the revealed headers, so it is never to be shown.
    """
    lines = [
        f"POST {address.target} HTTP/1.1",
        f"Host: {address.authority}",
        f"User-Agent: streamt-ol/{__version__}",
        "Accept: application/json",
        f"Content-Type: {content_type}",
        *(["Content-Encoding: gzip"] if is_gzipped else []),
        *(f"{name}: {value.reveal()}" for name, value in headers),
        "Content-Length: ",
    ]
    return "\r\n".join(lines).encode("ascii")


def request(head: bytes, body: bytes) -> bytes:
    """Return a whole request of ``request_head`` and ``body``."""
    return b"%b%d\r\n\r\n%b" % (head, len(body), body)


def gzipped(body: bytes) -> bytes:
    """Return ``body`` compressed, the same bytes at any time."""
    return gzip.compress(body, GZIP_LEVEL, mtime=0)


def refused_answer(answer: Answer, secrets: Iterable[Secret], now: float) -> DeliveryError:
    """Return the error that an answer other than 2xx means; ``now`` is Unix time."""
    excerpt = excerpt_of(answer.body, secrets)
    said = f": {excerpt}" if excerpt else ""
    said += f"; the answer is not understood: {answer.fault}" if answer.fault else ""
    return DeliveryError(
        "status",
        f"the server answered {answer.status}{_redirection(answer, secrets)}{said}",
        status=answer.status,
        retry_after=parse_retry_after(answer.headers.get("retry-after"), now),
        excerpt=excerpt,
    )


def _redirection(answer: Answer, secrets: Iterable[Secret]) -> str:
    """Return what to say of a redirect: where to, without a query, which often holds keys."""
    if answer.status not in range(300, 400):
        return ""
    target = re.split("[?#]", answer.headers.get("location", ""), maxsplit=1)[0]
    where = excerpt_of(target.encode(), secrets)
    return f"; redirects are not followed (to {where})" if where else "; redirects are not followed"


def check_acknowledged(answer: Answer, secrets: Iterable[Secret], now: float) -> None:
    """Raise ``DeliveryError`` unless an answer acknowledges: 2xx, and not a web page.

    A page comes from a sign-in or a proxy, with 200 for whatever it is asked.
    """
    if answer.status // 100 != _SUCCESS:
        raise refused_answer(answer, secrets, now)
    if _is_page(answer):
        raise DeliveryError(
            "page",
            f"the server answered {answer.status} with a web page, which acknowledges nothing: "
            "a sign-in, or a proxy before the receiver",
            status=answer.status,
        )


def _is_page(answer: Answer) -> bool:
    kind = answer.headers.get("content-type", "")
    if kind and kind.partition(";")[0].strip().lower() in _PAGES:
        return True
    beginning = answer.body[:64].removeprefix(BOM).lstrip()
    return beginning.startswith(b"<") and beginning.lower().startswith(_PAGE_STARTS)


@final
class HttpTransport(Closing):
    """Posts to the endpoint of ``HttpSettings`` over one kept-alive connection."""

    def __init__(
        self,
        settings: HttpSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
        limit: Deadline | None = None,
    ) -> None:
        tls = None
        if settings.address.scheme == "https":
            tls = tls_context(settings.ca_file, "transport.verify")
        self._settings = settings
        self._clock, self._sleep, self._now = clock, sleep, now
        self._head = request_head(settings.address, settings.headers, is_gzipped=settings.gzip)
        self._secrets = tuple(value for _, value in settings.headers)
        self._connection = Connection(settings.address, tls)
        self._limit = limit
        self._is_closed = False

    def emit(self, event_bytes: bytes) -> None:
        """Post one event; at most one retry; all of it within the configured timeout.

        Raises ``DeliveryError``, the last one if there were two.
        """
        if self._is_closed:
            raise DeliveryError("closed", "the transport is closed")
        body = gzipped(event_bytes) if self._settings.gzip else event_bytes
        whole = request(self._head, body)
        deadline = Deadline(self._settings.timeout, self._clock, self._limit)
        try:
            self._post(whole, deadline)
        except DeliveryError as error:
            pause = self._settings.retry.backoff if error.retry_after is None else error.retry_after
            if not self._may_retry(error) or not deadline.allows(pause):
                raise
            self._sleep(pause)
            self._post(whole, deadline)

    def _post(self, whole: bytes, deadline: Deadline) -> None:
        answer = self._connection.exchange(whole, deadline)
        check_acknowledged(answer, self._secrets, self._now())

    def _may_retry(self, error: DeliveryError) -> bool:
        retry = self._settings.retry
        allowed = {"connect": retry.connect, "broken": retry.read, "timeout": retry.read}
        if error.kind == "status":
            return retry.status > 0 and error.status in retry.statuses
        return allowed.get(error.kind, 0) > 0

    def close(self) -> None:
        """Close the connection; ``emit`` fails from then on."""
        self._is_closed = True
        self._connection.close()
