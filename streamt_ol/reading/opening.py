"""Open what a user names: files, and ``-`` for standard input."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from os import fstat
from os.path import samestat
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

    Raises ``StreamtOlError`` (E500) for standard input named twice. What opens an input raises
    E501 where it cannot be read.
    """
    if list(names).count(STDIN) > 1:
        raise StreamtOlError(USAGE, "standard input (-) is named twice", location=STDIN)
    return [("<stdin>", _stdin) if name == STDIN else (name, _file(name)) for name in names]


def size(names: Sequence[str]) -> int | None:
    """Return how many bytes there are to read, or None where that is not known."""
    if STDIN in names:
        return None
    try:
        return sum(Path(name).stat().st_size for name in names) or None
    except (OSError, ValueError):
        return None


def refuse_target(names: Sequence[str], target: Path) -> None:
    """Raise E500 where ``target``, which is to be written, is one of the inputs, however named."""
    for name in names:
        if _is_same(name, target):
            raise StreamtOlError(
                USAGE,
                f"{place(name)} is an input, and the report would replace it",
                location="--output-file",
                suggestion="name another file for the report",
            )


def _is_same(name: str, target: Path) -> bool:
    try:
        given = fstat(_stdin_number()) if name == STDIN else Path(name).stat()
        return samestat(given, target.stat())
    except (OSError, ValueError):
        return False  # what does not exist is nothing to lose


def _stdin_number() -> int:
    return sys.stdin.fileno() if sys.stdin is not None else -1


def _file(name: str) -> Callable[[], AbstractContextManager[BinaryIO]]:
    def opened() -> AbstractContextManager[BinaryIO]:
        try:
            return Path(name).open("rb")
        except (OSError, ValueError) as error:
            raise unreadable(name, error) from None

    return opened


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
