"""The events of the input, which can be read more than once even when they come from a pipe."""

from __future__ import annotations

import os
import queue
import sys
import threading
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, cast, final

from streamt_ol.delivery.spool import EndlessError, spooled
from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.reading.blocks import blocks
from streamt_ol.reading.chunks import chunks, raw_events
from streamt_ol.reading.json_scan import compact
from streamt_ol.reading.opening import STDIN, STDIN_NAME, is_regular, open_input, unreadable
from streamt_ol.reading.raw import Chunk
from streamt_ol.redaction import shown_path
from streamt_ol.transport.base import Closing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from streamt_ol.reading.faults import Fault
    from streamt_ol.reading.raw import RawEvent

_AHEAD = 64  # events
_WAIT = 0.2


@final
class Source(Closing):
    """The events of a file, or of a pipe or object that is spooled first. ``name`` is safe to show.

    What is read: JSON Lines, an array of events, pretty-printed events; compressed or not.
    """

    def __init__(self, path: str) -> None:
        self.name = STDIN_NAME if path == STDIN else shown_path(path)
        self._path = path
        self.file_id: tuple[int, int] | None = None
        try:
            self._file = self._opened()
        except OSError as error:
            raise unreadable(self.name, error) from None
        except EndlessError as bound:
            raise StreamtOlError(
                PARSE,
                f"the input cannot be kept: {bound}",
                location=Location(file=self.name),
                suggestion="name a file instead of a pipe",
            ) from None

    def chunks(self) -> Iterator[Chunk]:
        """Yield the events of the input from its start, or faults in the place of them.

        Raises ``StreamtOlError`` (E501) when the input cannot be read.
        """
        try:
            self._file.seek(0)
            yield from chunks(blocks(cast("BinaryIO", self._file)))
        except OSError as error:
            raise unreadable(self.name, error) from None

    def events(self) -> Iterator[RawEvent]:
        """Yield the events of ``chunks`` one by one."""
        return raw_events(self.chunks())

    def again(self) -> Iterator[RawEvent]:
        """Yield the events as ``events`` does, without losing the place of a reading under way."""
        position = self._file.tell()
        yield from self.events()
        self._file.seek(position)

    def close(self) -> None:
        """Close the file, or remove what was spooled."""
        self._file.close()

    def _opened(self) -> IO[bytes]:
        with ExitStack() as stack:
            stream = stack.enter_context(open_input(self._path))
            if _is_object(self._path):
                return spooled(stream, longest_line=sys.maxsize)  # it ends, as a file does
            if self._path == STDIN or not is_regular(stream.fileno()):
                return spooled(stream)
            status = os.fstat(stream.fileno())
            self.file_id = (status.st_dev, status.st_ino)
            stack.pop_all()  # it stays open
            return stream


@final
class LiveSource(Closing):
    """The events of a pipe that may never end, as they come; they can be read once.

    A thread reads, a few events ahead; ``stop`` ends the reading, whatever the pipe does.
    """

    file_id = None

    def __init__(self, path: str, stop: threading.Event) -> None:
        self.name = STDIN_NAME if path == STDIN else shown_path(path)
        self._path = path
        self._stop = stop
        self._found: queue.Queue[RawEvent | BaseException | None] = queue.Queue(_AHEAD)

    def chunks(self) -> Iterator[Chunk]:
        """Yield every event when it is there. Raises ``StreamtOlError`` (E501)."""
        for event in self.events():
            yield Chunk(event.line, event.offset, events=(event,))

    def events(self) -> Iterator[RawEvent]:
        """Yield the events of ``chunks``."""
        threading.Thread(target=self._read, name="read", daemon=True).start()
        while not self._stop.is_set():
            try:
                event = self._found.get(timeout=_WAIT)
            except queue.Empty:
                continue
            if event is None:
                return
            if isinstance(event, OSError):
                raise unreadable(self.name, event)
            if isinstance(event, BaseException):
                raise event
            yield event

    def again(self) -> Iterator[RawEvent]:
        """Yield nothing: what has passed is not kept."""
        yield from ()

    def _read(self) -> None:
        try:
            with open_input(self._path) as stream:
                is_waited_for = not _is_object(self._path)
                available = cast("BinaryIO", _Available(stream)) if is_waited_for else stream
                for event in raw_events(chunks(blocks(available), looked_at=1)):
                    self._found.put(event)
            self._found.put(None)
        except BaseException as error:  # noqa: BLE001 - raised again where the events are taken
            self._found.put(error)


class _Available:
    """A stream whose ``read`` returns what is there, instead of waiting for all of it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        """Return at most ``size`` bytes, b"" at the end."""
        # Not by the stream: a thread that waits within it would hold its lock at the very end.
        return os.read(self._stream.fileno(), size)


def _is_object(path: str) -> bool:
    """Tell whether ``path`` is the URI of an object, which is not a file of the system."""
    from streamt_ol.reading.storage import scheme_of

    return "://" in path and scheme_of(path) is not None


def one_line(data: bytes) -> bytes:
    """Return the text of one event on one line: blanks between tokens go, all else stays.

    What is on one line already stays byte for byte.
    """
    if b"\n" not in data and b"\r" not in data:
        return data
    return compact(data)


def said(fault: Fault) -> str:
    """Return a fault of the input in one line."""
    return f"{shown_path(fault.pointer)}: {fault.message}" if fault.pointer else fault.message
