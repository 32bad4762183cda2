"""The file transport: one line for each event, appended and on the disk before success."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, final

from streamt_ol.reading.opening import is_regular
from streamt_ol.transport.base import Closing, DeliveryError, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence


@final
class FileTransport(Closing):
    """Appends to one regular file, created with mode 0600; a symbolic link is not followed.

    Several processes may append to the same file: each line is one write. A line that another
    process (or a full disk) left unfinished is ended first, so it never swallows a later event; at
    worst that leaves an empty line, when another process was just writing.
    """

    def __init__(
        self,
        path: str,
        field: str = "transport.log_file_path",
        *,
        create_folders: bool = False,
    ) -> None:
        self._descriptor: int | None = _open(path, field, create_folders=create_folders)
        self._is_torn = not _ends_a_line(self._descriptor)

    def emit(self, event_bytes: bytes) -> None:
        """Append one event and its line end in one write, and wait until it is on the disk.

        Raises ``DeliveryError``.
        """
        _, error = self.emit_all([event_bytes])
        if error is not None:
            raise error

    def emit_all(self, events: Sequence[bytes]) -> tuple[int, DeliveryError | None]:
        """Append several events with one wait for the disk.

        Returns how many of them, from the first on, are whole and on the disk, and what the next
        one failed for, None if there is none. What follows that one is not written.
        """
        if self._descriptor is None:
            return 0, DeliveryError("closed", "the transport is closed")
        written, failure = 0, None
        try:
            for event_bytes in events:
                _append(self._descriptor, event_bytes, starts_anew=self._is_torn)
                self._is_torn = False
                written += 1
        except OSError as error:
            self._is_torn = True
            failure = _failure(error)
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            self._is_torn = True
            return 0, _failure(error)
        return written, failure

    def close(self) -> None:
        """Close the file; ``emit`` fails from then on."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def _failure(error: OSError) -> DeliveryError:
    return DeliveryError("write", f"the file: {error.strerror}")


def _append(descriptor: int, event_bytes: bytes, *, starts_anew: bool) -> None:
    line = b"%b%b\n" % (b"\n" if starts_anew else b"", event_bytes)
    if os.write(descriptor, line) != len(line):
        raise OSError(0, "only a part of the event could be written")


def _ends_a_line(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"


def _open(path: str, field: str, *, create_folders: bool) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        if create_folders:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            descriptor = os.open(path, flags)
        else:
            _sync_folder(path)
    except OSError as error:
        is_link = error.errno == errno.ELOOP  # which is what O_NOFOLLOW gives
        reason = "it is a symbolic link" if is_link else f"it cannot be opened: {error.strerror}"
        refuse(field, f"the file is refused: {reason}")
    if not is_regular(descriptor):
        os.close(descriptor)
        refuse(field, "the file is refused: it is not a regular file")
    return descriptor


def _sync_folder(path: str) -> None:
    """Make a new file survive a crash of the machine: its folder must be on the disk too."""
    folder = os.open(Path(path).parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
