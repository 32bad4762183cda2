"""The checkpoint of a delivery: a file from which the same command again sends only the rest.

The file is JSON Lines. Its first line names what is delivered to, so that the checkpoint of another
delivery is not taken for this one's; each further line is one acknowledged event, by its
number among the events of the (decompressed) input and a digest of its content: a changed event
counts as a new one. It holds no event, no
address beyond the receiver's URL, and no token.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import orjson

from streamt_ol.problems import INVALID, Location, StreamtOlError
from streamt_ol.reading.opening import is_regular
from streamt_ol.redaction import shown_path
from streamt_ol.transport.base import Closing

if TYPE_CHECKING:
    from collections.abc import Callable

_VERSION = 1
_SYNC_EVERY = 0.1
_OPTION = Location(option="progress_file")


@final
class Checkpoint(Closing):
    """The checkpoint of one delivery to ``target``, read when it is opened, then appended to.

    Every record is written at once, so it outlives this process however it ends; it is on the
    disk within a tenth of a second, and at the latest when this is closed.
    """

    def __init__(
        self, path: Path, target: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._where = shown_path(str(path))
        self._clock = clock
        self._lock = threading.Lock()
        self._syncing = threading.Lock()
        self._synced = clock()
        # Small keys and values: a line costs about 150 bytes here.
        self._done: dict[int, bytes] = {}
        self._runs: dict[tuple[int, str], str] = {}
        try:
            self._descriptor: int | None = _open(path)
        except OSError as error:
            raise self._refused(f"it cannot be opened: {error.strerror}") from None
        try:
            self._read(target)
        except OSError as error:
            os.close(self._descriptor)
            raise self._refused(f"it cannot be read: {error.strerror}") from None
        except BaseException:  # an interrupt too: the lock goes with the descriptor
            os.close(self._descriptor)
            raise

    def has(self, number: int, part: int, digest: str) -> bool:
        """Return whether this event was acknowledged before this was opened."""
        return self._done.get(_key(number, part)) == bytes.fromhex(digest)

    def add(self, number: int, part: int, digest: str) -> None:
        """Record that this event was acknowledged. Raises ``StreamtOlError``."""
        with self._lock:
            self._write(_encoded({"event": number, "part": part, "digest": digest}))
        self._sync()

    def run_id(self, number: int, digest: str, fresh: Callable[[], str]) -> str:
        """Return the id of the run made of a static event, the same one at every call.

        It is recorded before anything is sent, so that START and COMPLETE have one id even when
        the process ends between them.
        """
        with self._lock:
            if (number, digest) not in self._runs:
                self._runs[number, digest] = fresh()
                run = self._runs[number, digest]
                self._write(_encoded({"event": number, "digest": digest, "run": run}))
        self._sync()
        return self._runs[number, digest]

    def close(self) -> None:
        """Wait until everything is on the disk, and close the file."""
        with self._lock, self._syncing:
            descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            try:
                os.fsync(descriptor)
            except OSError as error:
                raise self._unwritable(error) from None
            finally:
                os.close(descriptor)

    def _write(self, data: bytes) -> None:
        assert self._descriptor is not None, "closed"
        try:
            if os.write(self._descriptor, data) != len(data):
                raise OSError(28, "only a part could be written")
        except OSError as error:
            raise self._unwritable(error) from None

    def _sync(self) -> None:
        """Wait for the disk where it is time to: one thread does, while the others go on."""
        if self._clock() - self._synced < _SYNC_EVERY or not self._syncing.acquire(blocking=False):
            return
        try:
            if self._descriptor is not None:
                os.fsync(self._descriptor)
        except OSError as error:
            raise self._unwritable(error) from None
        finally:
            self._synced = self._clock()
            self._syncing.release()

    def _read(self, target: str) -> None:
        assert self._descriptor is not None, "closed"
        with os.fdopen(os.dup(self._descriptor), "rb") as file:
            first = file.readline()
            header = _encoded({"streamt_ol_progress": _VERSION, "target": target})
            # A new file, or one whose very first record was cut off by the end of a process.
            is_begun = header.startswith(first) and first != header
            # Nothing was acknowledged there, so nothing is lost: it may be for this delivery.
            if is_begun or self._is_for_nothing(first):
                os.ftruncate(self._descriptor, 0)
                self._write(header)
                return
            self._check_header(first, target)
            is_torn = False
            for line in file:
                is_torn = not line.endswith(b"\n")
                if not is_torn:
                    self._take(_parsed(line))
        if is_torn:
            self._write(b"\n")

    def _is_for_nothing(self, first: bytes) -> bool:
        """Return whether the file is a checkpoint of this version, with a header and no record."""
        assert self._descriptor is not None, "closed"
        is_ours = _parsed(first).get("streamt_ol_progress") == _VERSION
        return is_ours and os.fstat(self._descriptor).st_size == len(first)

    def _check_header(self, line: bytes, target: str) -> None:
        header = _parsed(line)
        if header.get("streamt_ol_progress") != _VERSION:
            raise self._refused("it is not a checkpoint of streamt-ol")
        if header.get("target") != target:
            raise self._refused("it belongs to a delivery to another receiver")

    def _take(self, record: dict[str, Any]) -> None:
        number = record.get("event", record.get("line"))  # "line" in files of older releases
        digest, part = record.get("digest"), record.get("part")
        if not isinstance(number, int) or not isinstance(digest, str):
            return
        if isinstance(part, int):
            with suppress(ValueError):  # no digest: not a record of ours
                self._done[_key(number, part)] = bytes.fromhex(digest)
        elif isinstance(run := record.get("run"), str):
            self._runs[number, digest] = run

    def _unwritable(self, error: OSError) -> StreamtOlError:
        return self._refused(f"it cannot be written: {error.strerror}")

    def _refused(self, reason: str) -> StreamtOlError:
        return StreamtOlError(
            INVALID, f"the progress file {self._where} is refused: {reason}", location=_OPTION
        )


def _key(number: int, part: int) -> int:
    return 2 * number + part


def _encoded(record: dict[str, Any]) -> bytes:
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, flags, 0o600)
    try:
        if not is_regular(descriptor):
            raise OSError(22, "it is not a regular file")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise OSError(11, "another delivery is using it") from None
    except BaseException:  # an interrupt too: no descriptor is left open
        os.close(descriptor)
        raise
    return descriptor
