"""The exit statuses of this program; the codes themselves are in ``streamt_ol.codes``."""

from __future__ import annotations

import signal
from typing import Final

from streamt_ol import problems

DONE: Final = 0
REFUSED: Final = 1  # refused, invalid, not current, or not delivered
USAGE: Final = 2  # the command line itself is wrong
_SIGNALLED = 128
_NOT_FOUND = 127  # as a shell says it


def of_signal(number: int) -> int:
    """Return the status of a program that the signal ``number`` ended, as a shell gives it."""
    return _SIGNALLED + number


def signal_of(status: object) -> int:
    """Return the signal behind a status that ``of_signal`` returned."""
    return status - _SIGNALLED if isinstance(status, int) else signal.SIGTERM


INTERRUPTED: Final = of_signal(signal.SIGINT)
_OF_CODES = {
    problems.USAGE: USAGE,
    problems.NOT_STARTED: _NOT_FOUND,
    problems.ENDED_BY_SIGNAL: INTERRUPTED,
}


def of_code(code: str) -> int:
    """Return the status of a command that ended in an error of ``code``; a warning ends none."""
    return DONE if code.startswith("W") else _OF_CODES.get(code, REFUSED)
