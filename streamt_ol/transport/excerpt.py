"""What of a server's answer a person may see: a little, on one line, without credentials."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from streamt_ol.redaction import MASK, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streamt_ol.transport.secret import Secret

MAX_EXCERPT = 200
# So much of a long key gives it away.
_TELLING = 8


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
