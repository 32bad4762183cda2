"""The exit statuses of this program, apart from those that a code has (``problems.ERRORS``)."""

from __future__ import annotations

import signal
from typing import Final

DONE: Final = 0
REFUSED: Final = 1  # refused, invalid, not current, or not delivered
USAGE: Final = 2  # the command line itself is wrong
_SIGNALLED = 128


def of_signal(number: int) -> int:
    """Return the status of a program that the signal ``number`` ended, as a shell gives it."""
    return _SIGNALLED + number


def signal_of(status: object) -> int:
    """Return the signal behind a status that ``of_signal`` returned."""
    return status - _SIGNALLED if isinstance(status, int) else signal.SIGTERM


INTERRUPTED: Final = of_signal(signal.SIGINT)
