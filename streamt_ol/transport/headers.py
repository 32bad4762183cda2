"""Which header names and values may be sent: nothing that could forge a second header."""

from __future__ import annotations

import re

from streamt_ol.transport.refusal import refuse

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
MAX_VALUE = 16 * 1024
# Set by the transport itself, or about the connection rather than the event.
_RESERVED = {
    "connection", "content-encoding", "content-length", "content-type", "expect", "host",
    "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding",
    "upgrade",
}  # fmt: skip


def check_header_name(name: str, location: str) -> None:
    """Raise ``StreamtOlError`` unless ``name`` is a token that may be set by a configuration."""
    if not _NAME.fullmatch(name) or name.lower() in _RESERVED:
        refuse(location, "this header cannot be set")


def check_header_value(value: str, location: str) -> None:
    """Raise ``StreamtOlError`` unless ``value`` is printable ASCII on one line, at most 16 KiB."""
    if not _VALUE.fullmatch(value) or len(value) > MAX_VALUE:
        refuse(location, "its value must be printable ASCII, on one line")
