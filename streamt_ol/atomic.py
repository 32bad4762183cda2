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


def write(path: Path, chunks: Iterable[bytes]) -> None:
    """Replace ``path``, or what the symbolic link ``path`` points to, by the joined ``chunks``.

    Missing parent folders are created; the mode of an existing target is kept. Raises
    ``OSError``, and then the target is as it was.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with _synced_folder(target.parent):
        _replace(target, mode, chunks)


def _replace(target: Path, mode: int, chunks: Iterable[bytes]) -> None:
    # Named before it exists, so that an interrupt at any moment finds it.
    staging = target.with_name(f".streamt-ol-{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _STAGING_MODE)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        staging.replace(target)
    except BaseException:  # Ctrl-C too must leave nothing behind
        with suppress(OSError):
            staging.unlink()
        raise


def _mode(target: Path) -> int:
    """Return the mode that the new file gets. Raises ``OSError`` for what is no regular file."""
    try:
        status = target.stat()
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return _NEW_FILE_MODE & ~umask
    if not stat.S_ISREG(status.st_mode):
        raise OSError(22, "it is not a regular file")
    return stat.S_IMODE(status.st_mode)


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
