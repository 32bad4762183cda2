"""A fault of an input, as a value: neither a rule of `validate` nor a refusal of `send`."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class FaultKind(StrEnum):
    """The kinds of fault that an input or the text of one event can have."""

    ENCODING = "encoding"  # not UTF-8 (RFC 8259, section 8.1)
    SYNTAX = "syntax"  # not one JSON value (section 2), or a document cut off
    DUPLICATE_KEY = "duplicate-key"  # (section 4)
    DEPTH = "depth"  # nested deeper than DEEPEST (section 9)
    NUMBER = "number"  # beyond 64-bit integers or finite doubles (section 6)
    SURROGATE = "surrogate"  # a lone surrogate (section 8.2)
    LENGTH = "length"  # longer than the limit of one event
    DAMAGED = "damaged"  # compressed data that is broken or ends too early
    UNREADABLE = "unreadable"  # the input cannot be opened or read


class Fault(NamedTuple):
    """A fault and where it is.

    ``message`` is safe to show. ``pointer`` is an RFC 6901 JSON pointer into the event, ``line``
    the number of lines below the start of its text, ``column`` (from 1) that within the line,
    0 where it is not known.
    """

    kind: FaultKind
    message: str
    pointer: str = ""
    line: int = 0
    column: int = 0


_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def not_utf8(data: bytes) -> str:
    """Return what to call bytes that are not UTF-8: UTF-16 is known by its byte order mark."""
    return "not UTF-8 but UTF-16" if data[:2] in _UTF16_MARKS else "not UTF-8"
