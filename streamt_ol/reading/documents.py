"""Inputs that are not JSON Lines: an array of events, or pretty-printed events.

The splitter finds where each element begins and ends, without parsing it, in blocks: only the
element at hand is held.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from streamt_ol.problems import pointer
from streamt_ol.reading.faults import Fault, FaultKind
from streamt_ol.reading.json_scan import BLANKS
from streamt_ol.reading.raw import RawEvent

if TYPE_CHECKING:
    from collections.abc import Iterator


_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\],]', re.DOTALL)
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_QUOTE = ord('"')
_DEPTH = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}


def is_document(block: bytes) -> bool:
    """Tell by the first block of an input whether it is a document and not JSON Lines.

    It is when it starts with an array, or with an object that its first line does not end,
    while no further object starts on the next line: that would be a line cut off.
    """
    text = block.lstrip(BLANKS)
    if text.startswith(b"["):
        return True
    line, newline, rest = text.partition(b"\n")
    if not text.startswith(b"{") or not newline:
        return False
    depth = 0
    for match in _TOKEN.finditer(line):
        depth += _DEPTH.get(match[0], 0)
        if match[0] == b'"':
            return False  # a string does not span lines
    return depth > 0 and not rest.lstrip(BLANKS).startswith(b"{")


class Splitter:
    """Splits a document into its elements, block by block.

    ``_text`` is what is still held; ``_scanned`` how far its tokens are known; ``_start`` where
    the element at hand begins.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._text = b""
        self._before = 0  # bytes of the input before the text
        self._scanned = 0
        self._start = 0
        self._marked = (0, 1)  # an offset in the text, and the line there
        self._at_line_start = False
        self._depth = 0
        self._count = 0
        self._in_array: bool | None = None
        self._closed = False
        self._too_long: tuple[int, int] | None = (
            None  # line and offset of an element that is dropped
        )

    def feed(self, block: bytes) -> Iterator[RawEvent]:
        """Yield the elements that ``block`` completes."""
        self._text += block
        self._at_line_start = block.endswith(b"\n")
        if self._in_array is None and self._text.strip(BLANKS):
            self._in_array = self._text.lstrip(BLANKS).startswith(b"[")
        for match in _TOKEN.finditer(self._text, self._scanned):
            token = match[0]
            if self._closed:
                yield from self._reopened()
            if token == b'"':
                self._scanned = match.start()  # its end is still to come
                break
            step = self._array_token if self._in_array else self._object_token
            yield from step(token, match.start(), match.end())
        else:
            self._scanned = len(self._text)  # what holds no token is looked at once
        self._forget()

    def end(self) -> Iterator[RawEvent]:
        """Yield what is left when the input has ended."""
        rest = self._text[self._start :]
        if self._closed:
            if not rest.strip(BLANKS):
                return
            yield from self._reopened()
        if rest.strip(BLANKS) or self._too_long is not None:
            yield self._element(self._start, len(self._text))
        if self._in_array:
            line = self._line_at(len(self._text)) - self._at_line_start
            yield self._fault(len(self._text), line, "the array is cut off: its end is missing")

    def _reopened(self) -> Iterator[RawEvent]:
        """Yield the fault of what follows a closed array, and go on with it as with a document."""
        first = _BLANKS.match(self._text, self._start)
        at = first.end() if first else self._start
        yield self._fault(at, self._line_at(at), "something follows the end of the array")
        self._closed, self._depth, self._count = False, 0, 0
        self._in_array = self._text[at : at + 1] == b"["

    def _array_token(self, token: bytes, start: int, end: int) -> Iterator[RawEvent]:
        change = _DEPTH.get(token, 0)
        if self._depth == 0:
            self._depth, self._start = 1, end  # the array's own bracket
            return
        if self._depth > 1 or change > 0:
            self._depth += change
            return
        if token in b",]}":
            self._closed = token != b","
            blank = not self._text[self._start : start].strip(BLANKS) and self._too_long is None
            if not (self._closed and blank and self._count == 0):
                yield self._element(self._start, start)
            self._start = end

    def _object_token(self, token: bytes, _start: int, end: int) -> Iterator[RawEvent]:
        change = _DEPTH.get(token, 0)
        self._depth += change
        if self._depth <= 0 and change < 0:
            self._depth = 0
            yield self._element(self._start, end)
            self._start = end

    def _element(self, start: int, end: int) -> RawEvent:
        data = self._text[start:end]
        start += len(data) - len(data.lstrip(BLANKS))
        where = self._line_at(start), self._before + start
        place = pointer(self._count) if self._in_array else ""
        self._count += 1
        data = data.strip(BLANKS)
        if self._too_long is None and len(data) <= self._limit:
            fault = None if data else Fault(FaultKind.SYNTAX, "an element is missing here")
            return RawEvent(data, *where, place, fault)
        where, self._too_long = self._too_long or where, None
        return RawEvent(b"", *where, place, too_long(self._limit))

    def _fault(self, at: int, line: int, message: str) -> RawEvent:
        fault = Fault(FaultKind.SYNTAX, message)
        return RawEvent(b"", line, self._before + at, fault=fault)

    def _line_at(self, offset: int) -> int:
        before, line = self._marked
        line += self._text.count(b"\n", before, offset)
        self._marked = (offset, line)
        return line

    def _forget(self) -> None:
        """Drop the text before the element at hand, and that too where it is too long.

        Blanks before an element are not part of it: however many there are, none is held.
        """
        blanks = _BLANKS.match(self._text, self._start)
        keep, rest = blanks.end() if blanks else self._start, b""
        if len(self._text) - keep > self._limit:
            if self._too_long is None:
                data = self._text[self._start :]
                start = len(self._text) - len(data.lstrip(BLANKS))
                self._too_long = self._line_at(start), self._before + start
            keep = len(self._text)
            if self._scanned < keep and self._text[self._scanned] == _QUOTE:
                rest = _same_string(self._text)
        line = self._line_at(keep)
        self._before += keep - len(rest)
        self._text = rest + self._text[keep:]
        self._marked = (0, line)
        self._scanned = max(0, self._scanned - keep)
        self._start = 0


def _same_string(text: bytes) -> bytes:
    """Return the shortest text that leaves a reader where ``text``, an open string, does."""
    slashes = len(text) - len(text.rstrip(b"\\"))
    return b'"\\' if slashes % 2 else b'"'


def too_long(limit: int) -> Fault:
    """Return the fault of an event whose text is longer than ``limit`` bytes."""
    return Fault(FaultKind.LENGTH, f"longer than {limit} bytes")
