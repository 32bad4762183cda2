"""The dead letter file: it keeps refused lines as they were, to be corrected and sent again."""

from __future__ import annotations

import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING, final

from streamt_ol.problems import INVALID, Location, StreamtOlError
from streamt_ol.redaction import shown_path
from streamt_ol.transport.base import Closing, DeliveryError
from streamt_ol.transport.file import FileTransport

if TYPE_CHECKING:
    from streamt_ol.delivery.items import Item
    from streamt_ol.delivery.source import LiveSource, Source

_OPTION = Location(option="rejected")


@final
class DeadLetters(Closing):
    """Appends refused lines to a file, each on the disk before ``add`` returns."""

    def __init__(self, path: Path, source: Source | LiveSource | None = None) -> None:
        self._path = path
        if source is not None and _id_of(path) == source.file_id is not None:
            raise StreamtOlError(INVALID, "the file is the input itself", location=_OPTION)
        self._file = FileTransport(str(path), _OPTION, create_folders=True)
        self._lock = threading.Lock()
        self._kept: set[int] = set()  # the numbers of events that runs were made of

    def add(self, item: Item) -> None:
        """Keep an event of the input, once, however many of the runs made of it are refused.

        Raises ``StreamtOlError`` when it cannot be written.
        """
        with self._lock:
            if item.is_made and item.number in self._kept:
                return
            if item.is_made:
                self._kept.add(item.number)
            self.append(item.source)

    def append(self, content: bytes) -> None:
        """Keep one line. Raises ``StreamtOlError`` when it cannot be written."""
        try:
            self._file.emit(content)
        except DeliveryError as error:
            message = f"{shown_path(str(self._path))} cannot be written: {error.message}"
            raise StreamtOlError(INVALID, message, location=_OPTION) from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _id_of(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
