"""What of a server's answer a person may see: a little, on one line, without credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.redaction import MASK, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from streamt_ol.transport.secret import Secret

MAX_EXCERPT = 200


def excerpt_of(body: bytes | bytearray, secrets: Iterable[Secret]) -> str:
    """Return a bounded, redacted excerpt of an answer's body, "" for an empty one.

    A server that repeats a request in its answer must not make a key visible: each of
    ``secrets`` is masked literally, besides everything that looks like a credential.
    """
    text = bytes(body[: 64 * MAX_EXCERPT]).decode("utf-8", "replace")
    for secret in secrets:
        value = secret.reveal()
        text = text.replace(value, MASK)
        # "Bearer KEY" may come back as the bare key.
        text = text.replace(value.rpartition(" ")[2], MASK)
    text = " ".join(text.split())
    return shown(text, MAX_EXCERPT)[1:-1] if text else ""
