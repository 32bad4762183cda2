"""The exit statuses of this program; the codes themselves are in ``streamt_ol.codes``.

A negative status is that of a command that ends as its child did: by a signal.
"""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from typing import Final, NoReturn

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


def leave(status: int) -> NoReturn:
    """End the process with ``status``, or with -n by the signal n, as a shell's 128 + n.

    Who waits for a command tells the two apart: a shell ends its loop where Ctrl-C killed the
    command, and goes on where the command dealt with it and ended by itself.
    """
    if status < 0:
        _die_by(-status)
        status = of_signal(-status)  # the first process of a container lives on
    if status == INTERRUPTED:
        with suppress(ValueError):  # a second Ctrl-C would kill what ends already
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


def _die_by(number: int) -> None:
    import resource

    with suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)  # refused in a thread of another program
        # A core that is wanted is the command's, which has left it.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        signal.raise_signal(number)
