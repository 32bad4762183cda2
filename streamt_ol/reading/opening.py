"""Open what a user names: files, pipes, and ``-`` for standard input; never a device."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from os.path import samestat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from streamt_ol.problems import PARSE, USAGE, Location, StreamtOlError
from streamt_ol.redaction import shown_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STDIN = "-"
STDIN_NAME = "<stdin>"
_waited_for: list[str] = []  # named pipes that nobody writes to yet
Opener = Callable[[], AbstractContextManager[BinaryIO]]


def open_input(name: str, start: int = 0) -> AbstractContextManager[BinaryIO]:
    """Return the bytes of a file, a pipe, an object of a store, or of standard input for ``-``.

    They are read from the byte ``start`` on, which a pipe cannot do.

    Raises ``OSError``, whose ``strerror`` is a reason: what cannot be opened, and any device but
    the null device, since it may never end. A named pipe is waited for.
    """
    if "://" in name:
        from streamt_ol.reading import storage

        if storage.scheme_of(name) is not None:
            return storage.opened(name, start)
    if name == STDIN:
        return nullcontext(_stdin())
    stream = open_file(name)
    if start:
        stream.seek(start)
    return stream


def open_file(name: str) -> BinaryIO:
    """Return the file or pipe ``name``, opened. Raises what ``open_input`` raises."""
    if not name:
        raise OSError(errno.ENOENT, "its name is empty")
    try:
        mode = os.stat(name).st_mode
        _refuse_device(name, mode)
        if not stat.S_ISFIFO(mode):
            return Path(name).open("rb")
        with _waiting(name):
            return Path(name).open("rb")
    except ValueError:
        raise OSError(errno.EINVAL, "it is not the name of a file") from None


def waited_for() -> str | None:
    """Return the named pipe that this process waits for a writer of, safe to show, or None."""
    return _waited_for[-1] if _waited_for else None


def is_regular(descriptor: int) -> bool:
    """Tell whether an open file is a regular one."""
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def openers(names: Sequence[str]) -> list[tuple[str, Opener]]:
    """Return for each name what it is called in a report, and what opens it.

    Raises ``StreamtOlError`` (E500) for standard input named twice. What opens an input raises
    E501 where it cannot be opened.
    """
    if list(names).count(STDIN) > 1:
        raise StreamtOlError(USAGE, "standard input (-) is named twice", location=STDIN)
    return [(STDIN_NAME if name == STDIN else name, _opener(name)) for name in names]


def replaced_input(names: Sequence[str], target: Path) -> str | None:
    """Return which of the inputs ``target``, which is to be written, is, however named, or None."""
    return next((name for name in names if _is_same(name, target)), None)


def unreadable(name: str, error: OSError | ValueError) -> StreamtOlError:
    """Return the error (E501) for an input that cannot be read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else "no such name"
    return StreamtOlError(
        PARSE,
        f"the input cannot be read: {reason}",
        location=Location(file=shown_path(name)),
        suggestion="name a file of OpenLineage events, or - for standard input",
    )


def _opener(name: str) -> Opener:
    def opened() -> AbstractContextManager[BinaryIO]:
        try:
            return open_input(name)
        except OSError as error:
            raise unreadable(name, error) from None

    return opened


def _stdin() -> BinaryIO:
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    number = _stdin_number()
    if number >= 0 and not os.isatty(number):
        _refuse_device("/dev/stdin", os.fstat(number).st_mode)
    return sys.stdin.buffer


def _stdin_number() -> int:
    try:
        return sys.stdin.fileno() if sys.stdin is not None else -1
    except (OSError, ValueError):  # a test's or a program's own stream
        return -1


def _refuse_device(name: str, mode: int) -> None:
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not _is_same(name, Path(os.devnull))):
        raise OSError(errno.EINVAL, "it is a device, not a file or a pipe")


def _is_same(name: str, target: Path) -> bool:
    try:
        given = os.fstat(_stdin_number()) if name == STDIN else Path(name).stat()
        return samestat(given, target.stat())
    except (OSError, ValueError):
        return False  # what does not exist is nothing to lose


@contextmanager
def _waiting(name: str) -> Iterator[None]:
    _waited_for.append(shown_path(name))
    try:
        yield
    finally:
        _waited_for.pop()
