"""Files written all or not at all, and the streams that a path may name instead.

Implements the rules of "Canonical event serialization" for ``--output-file``: a staging file in
the target's own folder, flushed and synced, then put in the target's place; no failure leaves a
partial target or a staging file behind. What only a kill -9 can leave, a staging file that
nobody holds locked any more, the next write into the folder removes.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_CAN_LOCK = os.name != "nt"
if _CAN_LOCK:
    import fcntl

_NEW_FILE_MODE = 0o666
_STAGING_MODE = 0o600
_STAGING = (".streamt-ol-", ".tmp")
_LINKS = 40  # as many as Linux follows
_DESCRIPTOR = re.compile(r"/(?:dev|proc/(?:self|thread-self|(?P<process>\d+)))/fd/(?P<number>\d+)")


def write(path: Path, chunks: Iterable[bytes]) -> None:
    """Replace ``path``, or what the symbolic link ``path`` points to, by the joined ``chunks``.

    Missing parent folders are created; the mode of an existing target is kept. A stream of this
    process (``/dev/stdout``) and a character device (``/dev/null``) are written to instead.
    Raises ``OSError``, and then a target that is a file, and the folders, are as they were.
    """
    if (number := descriptor_of(path)) is not None:
        _write_to(os.dup(number), chunks)
        return
    target = Path(os.path.realpath(path))
    status = _status(target)
    if status is not None and stat.S_ISCHR(status.st_mode):
        _write_to(os.open(target, os.O_WRONLY | os.O_NOCTTY), chunks)
        return
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise OSError(22, "it is not a regular file")
    mode = None if status is None else stat.S_IMODE(status.st_mode)
    with _parents(target.parent), _synced_folder(target.parent):
        _remove_left_behind(target.parent)
        _replace(target, mode, chunks)


def descriptor_of(path: Path) -> int | None:
    """Return the number of this process's own stream that ``path`` names, e.g. 1 for /dev/stdout.

    Raises ``OSError`` for the stream of another process: somebody's open file is not replaced.
    """
    link = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow the links
    for _ in range(_LINKS):
        if found := _DESCRIPTOR.fullmatch(link):
            if found["process"] in (None, str(os.getpid())):
                return int(found["number"])
            raise OSError(22, "it is a stream of another process")
        if not Path(link).is_symlink():
            return None
        link = os.path.abspath(Path(link).parent / Path(link).readlink())  # noqa: PTH100
    return None


def _write_to(descriptor: int, chunks: Iterable[bytes]) -> None:
    with os.fdopen(descriptor, "wb") as file:
        file.writelines(chunks)


def _replace(target: Path, mode: int | None, chunks: Iterable[bytes]) -> None:
    new = _NEW_FILE_MODE if mode is None else _STAGING_MODE
    # Named before it exists, so that an interrupt at any moment finds it.
    staging = _staging(target)
    try:
        while (descriptor := _create(staging, new)) is None:
            staging = _staging(target)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(chunks)
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
            if not _CAN_LOCK:
                file.close()  # Windows moves no open file
            staging.replace(target)  # still locked, so that nobody takes it for left behind
    except BaseException:  # Ctrl-C too must leave nothing behind
        with suppress(OSError):
            staging.unlink()
        raise


def _staging(target: Path) -> Path:
    """Return a name that no file had before: who removes one by name meets no other file."""
    return target.with_name(secrets.token_hex(8).join(_STAGING))


def _create(staging: Path, mode: int) -> int | None:
    """Return the descriptor of a new file, locked for as long as it is open.

    None where another process took it for left behind before it was locked, and removes it.
    """
    descriptor = os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    if _is_locked(descriptor) and os.fstat(descriptor).st_nlink:
        return descriptor
    os.close(descriptor)
    with suppress(FileNotFoundError):
        staging.unlink()
    return None


def _is_locked(descriptor: int) -> bool:
    """Lock the file; return whether that was possible, or is not a matter of this system."""
    if not _CAN_LOCK:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _remove_left_behind(folder: Path) -> None:
    """Remove staging files of processes that were killed; those of live ones are locked."""
    if not _CAN_LOCK:
        return
    with suppress(OSError):
        for staging in folder.glob("*".join(_STAGING)):
            _remove_unlocked(staging)


def _remove_unlocked(staging: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(staging, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            staging.unlink()
        finally:
            os.close(descriptor)


def _status(target: Path) -> os.stat_result | None:
    try:
        return target.stat()
    except FileNotFoundError:
        return None


@contextmanager
def _parents(folder: Path) -> Iterator[None]:
    """Create ``folder`` and its parents; remove again what was created if the body fails."""
    missing = [f for f in (folder, *folder.parents) if not f.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:  # whatever ended the body, Ctrl-C too
        for created in missing:
            with suppress(OSError):
                created.rmdir()
        raise


@contextmanager
def _synced_folder(folder: Path) -> Iterator[None]:
    """Sync ``folder`` after the body. It is opened before, so that a refusal changes nothing."""
    if os.name == "nt":  # a folder cannot be opened there
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
