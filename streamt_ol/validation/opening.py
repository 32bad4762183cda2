"""Open what a user names: files, and ``-`` for standard input."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from streamt_ol.problems import PARSE, USAGE, StreamtOlError
from streamt_ol.redaction import place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STDIN = "-"


def openers(
    names: Sequence[str],
) -> list[tuple[str, Callable[[], AbstractContextManager[BinaryIO]]]]:
    """Return for each name what it is called in a report, and what opens it.

    Raises ``StreamtOlError``: E500 for standard input named twice, E501 for what cannot be
    read, before anything has been read.
    """
    if list(names).count(STDIN) > 1:
        raise StreamtOlError(USAGE, "standard input (-) is named twice", location=STDIN)
    return [("<stdin>", _stdin) if name == STDIN else (name, _file(name)) for name in names]


def size(names: Sequence[str]) -> int | None:
    """Return how many bytes there are to read, or None where that is not known."""
    if STDIN in names:
        return None
    return sum(Path(name).stat().st_size for name in names) or None


def _file(name: str) -> Callable[[], AbstractContextManager[BinaryIO]]:
    path = Path(name)
    _refuse_unreadable(path)

    def opened() -> AbstractContextManager[BinaryIO]:
        try:
            return path.open("rb")
        except OSError as error:
            raise unreadable(name, error) from None

    return opened


def _refuse_unreadable(path: Path) -> None:
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "Is a directory")
        if path.is_file():  # opening a pipe would end what writes to it
            with path.open("rb"):
                pass
        else:
            path.stat()
    except (OSError, ValueError) as error:
        raise unreadable(str(path), error) from None


def unreadable(name: str, error: OSError | ValueError) -> StreamtOlError:
    """Return the error for an input that cannot be read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else "no such name"
    return StreamtOlError(
        PARSE,
        f"cannot read the events: {reason}",
        location=place(name),
        suggestion="name a file of OpenLineage events, or - for standard input",
    )


def _stdin() -> AbstractContextManager[BinaryIO]:
    if sys.stdin is None:
        raise StreamtOlError(PARSE, "standard input is closed", location=STDIN)
    return nullcontext(sys.stdin.buffer)
