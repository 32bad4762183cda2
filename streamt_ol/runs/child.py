"""A child process that owns the terminal, its streams and its exit status.

The child is started in our process group with our descriptors; nothing of its input or output
passes through us, and the terminal treats it as if we were not there. While it runs, each
signal that would end or suspend us is noted, and passed on where it was sent to us alone (see
``streamt_ol.runs.witness``), so that it reaches the child once. ``docs/runs.md`` has the table.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from streamt_ol.runs.signals import ENDING, KILLED_BY, SUSPENDING
from streamt_ol.runs.witness import fork

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from streamt_ol.runs.signals import HeldSignals

NOT_FOUND = 127
NOT_EXECUTABLE = 126
# The exit status by which a program says that it was interrupted, as streamt does.
INTERRUPTED = KILLED_BY + signal.SIGINT
# Python ignores these two; a child must meet them as any program does.
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_SETTLING = 0.02  # seconds in which a sender has reached every process that it sends a signal to
_SHELL = "/bin/sh"


class Ended(NamedTuple):
    """The end of a child.

    - ``exit_status``: 0 to 255 as a shell gives it: the child's own, 128 + n when signal n
      killed it, 127 when it was not found and 126 when it could not be executed;
    - ``stopped_by``: the first signal that asked us to end while it ran;
    - ``not_started``: why it could not be started, else None;
    - ``killed_by``: the signal that killed it, else None.
    """

    exit_status: int
    stopped_by: signal.Signals | None = None
    not_started: str | None = None
    killed_by: int | None = None

    @property
    def interrupted(self) -> bool:
        """True where Ctrl-C, or a SIGINT to us, came while the child ran."""
        return self.stopped_by is signal.SIGINT


def run_child(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    signals: HeldSignals,
    started: Callable[[int], None] | None = None,
) -> Ended:
    """Run a program, found as a shell finds it, to its end, and tell how it ended.

    ``started`` is called with its process id. The child is always waited for.
    """
    signals.witness.ask()  # what it has had so far no child has had
    before = signals.arrived()
    try:
        child = _or_by_the_shell(partial(_start, environment, signals.witness.guard), arguments)
    except (OSError, ValueError) as error:  # ValueError: see _not_started
        return _not_started(error, arguments[0])
    if started is not None:
        started(child)
    attendance = _Attendance(child, signals)
    attendance.pass_on(before)
    return attendance.until_its_end()


class _Attendance:
    """Our part while the child runs: it gets the signals that are for it, we stop when it does."""

    def __init__(self, child: int, signals: HeldSignals) -> None:
        self._child = child
        self._signals = signals
        self._first: signal.Signals | None = None
        self._to_suspend = False
        self._suspended = False

    def until_its_end(self) -> Ended:
        while (status := self._status()) is None:
            if self._to_suspend and self._suspended:
                self._to_suspend = False
                os.kill(os.getpid(), signal.SIGSTOP)  # until a SIGCONT, which is noted
            self._signals.wait()
            arrived = self._signals.arrived()
            if set(arrived) - {signal.SIGCHLD}:
                time.sleep(_SETTLING)
                arrived += self._signals.arrived()
                self.pass_on(dict.fromkeys(arrived), self._signals.witness.ask())
        killed_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        exit_status = os.WEXITSTATUS(status) if killed_by is None else KILLED_BY + killed_by
        # The group got it, and the child was gone before we looked.
        if self._first is None and killed_by in ENDING and killed_by in self._signals.arrived():
            self._first = signal.Signals(killed_by)
        return Ended(exit_status, self._first, killed_by=killed_by)

    def pass_on(self, arrived: Iterable[int], shared: Collection[int] = ()) -> None:
        """Send the child the signals that it does not have already: all but those ``shared``."""
        for number in arrived:
            if number == signal.SIGCHLD:
                continue
            if number in ENDING and self._first is None:
                self._first = signal.Signals(number)
            if number in SUSPENDING:
                self._to_suspend = number == signal.SIGTSTP
            if number not in shared:
                os.kill(self._child, number)  # not yet waited for, so the id is still the child's

    def _status(self) -> int | None:
        """Return the status with which the child ended, or None; note whether it is suspended."""
        while True:
            found, status = os.waitpid(self._child, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            if not found:
                return None
            if not (os.WIFSTOPPED(status) or os.WIFCONTINUED(status)):
                return status
            self._suspended = os.WIFSTOPPED(status)


def replace_process(arguments: Sequence[str], environment: Mapping[str, str]) -> Ended:
    """Become the program. Returns only when it could not be started."""
    try:
        _or_by_the_shell(partial(_become, environment), arguments)
    except (OSError, ValueError) as error:
        return _not_started(error, arguments[0])
    raise AssertionError  # it was replaced


def _become(environment: Mapping[str, str], line: Sequence[str]) -> NoReturn:
    for number in _IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    os.execvpe(line[0], list(line), environment)  # noqa: S606 - on purpose


def _start(
    environment: Mapping[str, str], guard: Callable[[int], None], line: Sequence[str]
) -> int:
    """Start a program, and return its process id.

    The new process is guarded before it becomes the program, by its own word: whenever we are
    killed, the program does not outlive us. Raises ``OSError`` or ``ValueError``.
    """
    refused, refusal = os.pipe()
    with open(refused, "rb") as reason:  # noqa: PTH123 - a descriptor, not a path
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            child = fork()
            if child == 0:
                guard(os.getpid())
                _become_child(environment, line, mask, refusal)
        finally:
            os.close(refusal)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        said = reason.read()
    if said:
        os.waitpid(child, 0)
        number = int(said)
        raise OSError(number, os.strerror(number)) if number else ValueError
    return child


def _become_child(
    environment: Mapping[str, str], line: Sequence[str], mask: Iterable[int], refusal: int
) -> NoReturn:
    """Become the program; where that is refused, write the error's number, 0 for a ValueError."""
    try:
        for number in signal.valid_signals():
            if callable(signal.getsignal(number)):  # what arrives from now on is the program's
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _become(environment, line)
    except OSError as error:
        os.write(refusal, b"%d" % (error.errno or 0))
    except ValueError:
        os.write(refusal, b"0")
    finally:
        os._exit(NOT_FOUND)


def _or_by_the_shell(start: Callable[[Sequence[str]], int], line: Sequence[str]) -> int:
    """Start a program; a script without a ``#!`` line as a shell would, by the shell.

    Raises ``OSError`` or ``ValueError``.
    """
    try:
        return start(line)
    except OSError as error:
        script = _script(line[0]) if error.errno == errno.ENOEXEC else None
        if script is None:
            raise
    return start([_SHELL, script, *line[1:]])


def _script(name: str) -> str | None:
    """Return the path of the executable ``name``, or None where it is a binary of another kind."""
    from shutil import which

    path = which(name)
    if path is None:
        return None
    with open(path, "rb") as file:  # noqa: PTH123 - no need of pathlib
        return None if b"\0" in file.readline(256) else path


def _not_started(error: OSError | ValueError, program: str) -> Ended:
    from shutil import which

    found = not isinstance(error, FileNotFoundError)
    reason = "its name is empty, or an argument holds a NUL byte"
    if isinstance(error, OSError):
        reason = error.strerror or "unknown reason"
        if not found and which(program):
            reason = "it is there, and the interpreter that it names is not"
    return Ended(NOT_EXECUTABLE if found else NOT_FOUND, not_started=reason)
