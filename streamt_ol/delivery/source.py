"""The lines of the input, which can be read more than once even when they come from a pipe."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from typing import IO, TYPE_CHECKING, final

from streamt_ol.problems import PARSE, StreamtOlError
from streamt_ol.reading.opening import open_file
from streamt_ol.redaction import place
from streamt_ol.transport.base import Closing

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE_BYTES = 64 * 1024 * 1024
_SPOOLED_IN_MEMORY = 16 * 1024 * 1024


@final
class Source(Closing):
    """JSON Lines of a file, or of a pipe that is spooled first. ``name`` is safe to show."""

    def __init__(self, path: str, stdin: IO[bytes] | None) -> None:
        self.name = "standard input" if path == "-" else place(path)
        self.file_id: tuple[int, int] | None = None
        self._file = self._open(path, stdin)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number (from 1) and the bytes of each line that is not blank, from the start.

        A line end, CRLF included, is not part of a line, nor is a byte order mark before the
        first. A line longer than 64 MiB comes out cut, and longer than that still.
        """
        try:
            self._file.seek(0)
            number = 0
            while line := self._file.readline(MAX_LINE_BYTES + 2):
                number += 1
                if not line.endswith(b"\n") and len(line) > MAX_LINE_BYTES:
                    self._skip_line()
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                line = line.rstrip(b"\r\n")
                if line.strip():
                    yield number, line
        except OSError as error:
            raise self._unreadable(error) from None

    def again(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines as ``lines`` does, without losing the place of a reading under way."""
        position = self._file.tell()
        yield from self.lines()
        self._file.seek(position)

    def close(self) -> None:
        """Close the file, or remove what was spooled."""
        self._file.close()

    def _skip_line(self) -> None:
        while (rest := self._file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
            pass

    def _open(self, path: str, stdin: IO[bytes] | None) -> IO[bytes]:
        try:
            if path == "-":
                if stdin is None:
                    raise OSError(9, "it is closed")
                return _spooled(stdin)
            file = open_file(path)
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode):
                self.file_id = (status.st_dev, status.st_ino)
                return file
            with file:
                return _spooled(file)
        except OSError as error:
            raise self._unreadable(error) from None
        except ValueError:
            raise self._unreadable(OSError(22, "not a path")) from None

    def _unreadable(self, error: OSError) -> StreamtOlError:
        return StreamtOlError(PARSE, f"cannot be read: {error.strerror}", location=self.name)


def _spooled(stream: IO[bytes]) -> IO[bytes]:
    spool = tempfile.SpooledTemporaryFile(_SPOOLED_IN_MEMORY)  # noqa: SIM115 - closed by close()
    try:
        shutil.copyfileobj(stream, spool, 1 << 20)
    except BaseException:
        spool.close()
        raise
    return spool
