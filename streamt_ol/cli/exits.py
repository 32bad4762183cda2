"""The exit statuses of this program, apart from those that a code has (``problems.ERRORS``)."""

from __future__ import annotations

import signal
from typing import Final

DONE: Final = 0
REFUSED: Final = 1  # refused, invalid, not current, or not delivered
_SIGNALLED = 128


def of_signal(number: int) -> int:
    """Return the status of a program that the signal ``number`` ended, as a shell gives it."""
    return _SIGNALLED + number


INTERRUPTED: Final = of_signal(signal.SIGINT)
TERMINATED: Final = of_signal(signal.SIGTERM)
