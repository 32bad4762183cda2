"""Messages between a process and the one that renders for it: a length, then that many bytes."""

from __future__ import annotations

import struct
from typing import IO

_LENGTH = struct.Struct(">Q")
# The parent keeps no more of an answer than this: more than the longest text in JSON's escapes.
MAX_ANSWER = 100_000_000


def write_message(stream: IO[bytes], message: bytes) -> None:
    """Write one message. Raises ``OSError`` where the other side is gone."""
    stream.write(_LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def read_message(stream: IO[bytes], limit: int | None = None) -> bytes | None:
    """Return the next message, or None at the end, in the middle of one, or above ``limit``."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if limit is not None and length > limit:
        return None
    message = stream.read(length)
    return message if len(message) == length else None
