"""A server's answer: parsed by llhttp, bounded, never trusted."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, final
from urllib.parse import quote

from streamt_ol.redaction import MASK, shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from httptools import HttpResponseParser

    from streamt_ol.transport.credentials import Secret

MAX_HEADER_BYTES = 64 * 1024
MAX_BODY_BYTES = 1024 * 1024
MAX_EXCERPT = 200
# So much of a long key gives it away.
_TELLING = 8
_FINAL = range(200, 1000)  # a status of a final answer; below it are interim ones
_WITHOUT_BODY = (204, 304)  # RFC 9110, sections 15.3.5 and 15.4.5
_SIZE = re.compile("overflow|content-length|chunk size", re.IGNORECASE)


@cache
def _httptools() -> ModuleType:
    import httptools

    return httptools


class BadAnswerError(Exception):
    """The bytes received are not an HTTP answer, or are more of one than is read."""


@final
class Answer:
    """The final answer to one request, filled in by the parser's callbacks.

    ``status``, ``headers`` (names in lower case; of repeated ones the last), ``body``;
    ``is_complete`` when all of it has arrived, ``may_reuse`` when the connection may serve again.
    ``fault`` says why the rest of an answer is not understood, "" if it is: the status, which
    comes first, then stands alone (RFC 9112, section 4), and the connection ends.
    """

    __slots__ = (
        "_is_interim", "_parser", "_received", "body", "fault", "headers", "is_complete",
        "may_reuse", "status",
    )  # fmt: skip

    def __init__(self) -> None:
        self._parser: HttpResponseParser | None = _httptools().HttpResponseParser(self)
        self._received = 0
        self._is_interim = False
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self.is_complete = False
        self.may_reuse = False
        self.fault = ""

    def cut(self, fault: str) -> bool:
        """Take what has arrived for the answer, because of ``fault``; False if no status has."""
        if not self.is_complete:
            assert self._parser is not None, "only a complete answer has no parser"
            status = self.status or self._parser.get_status_code()
            if status not in _FINAL:
                return False
            self.status, self.fault = status, fault
            self.is_complete = True
            self._parser = None  # it refers back to this object
        self.may_reuse = False
        return True

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the connection; b"" is its end. Raises ``BadAnswerError``."""
        if data:
            self._parse(data)
            self._check_size(len(data))
        else:
            self._end()
        if self.is_complete:
            self._parser = None  # it refers back to this object

    def _parse(self, data: bytes) -> None:
        assert self._parser is not None, "a complete answer takes no more"
        try:
            self._parser.feed_data(data)
        except _httptools().HttpParserUpgrade:
            raise BadAnswerError("the server switched protocols") from None
        except _httptools().HttpParserError as error:
            if _SIZE.search(str(error)):
                # A length beyond any bound is not understood; what the status says is.
                self.cut("a length in it is not understood")
            # Bytes after a complete answer do not make it less complete; they end the reuse.
            self.may_reuse = False
            if not self.is_complete:
                raise BadAnswerError("the answer is not HTTP") from None

    def _end(self) -> None:
        is_framed = "content-length" in self.headers or "transfer-encoding" in self.headers
        if not self.status or is_framed:
            raise ConnectionError
        self.is_complete = True
        self.may_reuse = False

    def _check_size(self, size: int) -> None:
        self._received += size
        if self.is_complete:
            return
        fault = ""
        if not self.status and self._received > MAX_HEADER_BYTES:
            fault = f"its headers are larger than {MAX_HEADER_BYTES // 1024} KiB"
        # The framing of small chunks weighs more than the body, and trailers are not part of it.
        elif len(self.body) > MAX_BODY_BYTES or self._received > 8 * MAX_BODY_BYTES:
            fault = f"it is larger than {MAX_BODY_BYTES // 1024} KiB"
        if fault and not self.cut(fault):
            raise BadAnswerError(f"the answer is not understood: {fault}")

    def on_message_begin(self) -> None:
        """Part of the parser's interface: a second answer was not asked for."""
        if self.is_complete:
            self.may_reuse = False
        self._is_interim = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Part of the parser's interface."""
        if not self.is_complete:
            self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """Part of the parser's interface: an interim answer (1xx) is not the answer."""
        if self.is_complete:
            return
        assert self._parser is not None, "it is the parser that calls"
        status = self._parser.get_status_code()
        self._is_interim = status not in _FINAL
        if self._is_interim:
            self.headers.clear()
            return
        self.status = status
        self.may_reuse = self._parser.should_keep_alive() and not (
            status in _WITHOUT_BODY and self._announces_body()
        )

    def _announces_body(self) -> bool:
        """Tell whether a body follows an answer that has none, and would be read as the next."""
        length = self.headers.get("content-length", "0").strip("0")
        return bool(length) or "transfer-encoding" in self.headers

    def on_body(self, body: bytes) -> None:
        """Part of the parser's interface."""
        if not self.is_complete:
            self.body += body

    def on_message_complete(self) -> None:
        """Part of the parser's interface."""
        if not self._is_interim:
            self.is_complete = True


def excerpt_of(body: bytes | bytearray, secrets: Iterable[Secret]) -> str:
    """Return a bounded, redacted excerpt of an answer's body, "" for an empty one.

    A server that repeats a request in its answer must not make a key visible: each of
    ``secrets`` is masked, besides everything that looks like a credential.
    """
    text = bytes(body[: 64 * MAX_EXCERPT]).decode("utf-8", "replace")
    for secret in secrets:
        text = _masked(text, secret.reveal())
    text = " ".join(text.split())
    return shown(text, MAX_EXCERPT)[1:-1] if text else ""


def _masked(text: str, secret: str) -> str:
    """Mask a secret in every spelling that an answer may give it, cut short ones included."""
    bare = secret.rpartition(" ")[2]  # "Bearer KEY" may come back as the bare key
    for spelling in (secret, bare, quote(bare, safe=""), bare.replace("/", r"\/")):
        start = spelling[:_TELLING] if len(spelling) > 2 * _TELLING else spelling
        text = re.sub(rf"{re.escape(start)}[^\s\"'<>,;&]*", MASK, text)
    return text


def parse_retry_after(value: str | None, now: float) -> float | None:
    """Return how many seconds to wait from ``now`` (Unix time), None if the header says nothing.

    Any number of digits is a number: who waits has a bound, and waits that.
    """
    if value is None:
        return None
    if re.fullmatch(r"[0-9]+", value):
        return float(value)
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
