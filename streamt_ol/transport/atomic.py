"""Files written all or not at all.

Implements the rules of "Canonical event serialization" for ``--output-file``: a staging file in
the target's own folder, flushed and synced, then put in the target's place; no failure leaves a
partial target or a staging file behind.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NEW_FILE_MODE = 0o666
_STAGING_MODE = 0o600
_LINKS = 40  # as many as Linux follows


def write(path: Path, chunks: Iterable[bytes]) -> None:
    """Replace ``path``, or what the symbolic link ``path`` points to, by the joined ``chunks``.

    Missing parent folders are created; the mode of an existing target is kept. Raises
    ``OSError``, and then the target, and the folders, are as they were.
    """
    _refuse_devices(path)
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    with _parents(target.parent), _synced_folder(target.parent):
        _replace(target, mode, chunks)


def _refuse_devices(path: Path) -> None:
    """Raise ``OSError`` for ``/dev/stdout`` and its like: a stream cannot be replaced.

    What such a link points to must not be replaced either: it is somebody's open file.
    """
    link = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow the links
    for _ in range(_LINKS):
        if link.parts[1:2] in (("dev",), ("proc",)):
            raise OSError(22, "it is a device, not a file")
        if not link.is_symlink():
            return
        link = Path(os.path.abspath(link.parent / link.readlink()))  # noqa: PTH100


def _replace(target: Path, mode: int | None, chunks: Iterable[bytes]) -> None:
    # Named before it exists, so that an interrupt at any moment finds it.
    staging = target.with_name(f".streamt-ol-{secrets.token_hex(8)}.tmp")
    try:
        new = _NEW_FILE_MODE if mode is None else _STAGING_MODE
        descriptor = os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_EXCL, new)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(chunks)
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        staging.replace(target)
    except BaseException:  # Ctrl-C too must leave nothing behind
        with suppress(OSError):
            staging.unlink()
        raise


def _mode(target: Path) -> int | None:
    """Return the mode of an existing target. Raises ``OSError`` for what is no regular file."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise OSError(22, "it is not a regular file")
    return stat.S_IMODE(status.st_mode)


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
