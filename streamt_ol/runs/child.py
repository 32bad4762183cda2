"""A child process that owns the terminal, its streams and its exit status.

The child is started in our process group with our descriptors; nothing of its input or output
passes through us. While it runs, the signals that would end us are waited for instead, passed
on where the child does not get them anyway, and remembered.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NOT_FOUND = 127
NOT_EXECUTABLE = 126
KILLED_BY = 128
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# Python ignores these two; a child must meet them as any program does.
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
# ``si_code`` of a signal that the kernel sent, as the terminal driver does on Ctrl-C: to the
# whole foreground process group, so that the child has it already.
_SI_KERNEL = 0x80
_PATIENCE = 0.1  # seconds


class Ended(NamedTuple):
    """How a child ended.

    - ``exit_status``: 0 to 255 as a shell gives it: the child's own, 128 + n when signal n
      killed it, 127 when it was not found and 126 when it could not be executed;
    - ``stopped_by``: the first signal that we received while it ran;
    - ``not_started``: why it could not be started, else None.
    """

    exit_status: int
    stopped_by: signal.Signals | None = None
    not_started: str | None = None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C, or a SIGINT to us, came while the child ran."""
        return self.stopped_by is signal.SIGINT


class StoppedError(SystemExit):
    """A signal asks this process to end; the exit status is 128 + n."""

    def __init__(self, number: int) -> None:
        super().__init__(KILLED_BY + number)
        self.name = signal.Signals(number).name

    def __str__(self) -> str:
        return f"The command was stopped by {self.name}."


class HeldSignals(NamedTuple):
    """The signals that are blocked and waited for, and the mask that a child starts with.

    ``taken`` grows by those that another thread of the host took, which has them unblocked.
    """

    held: frozenset[signal.Signals]
    before: frozenset[signal.Signals]
    taken: list[signal.Signals]


@contextmanager
def signals_held() -> Iterator[HeldSignals]:
    """Block the signals that would end this process, in this thread and those it starts.

    For the main thread. A signal that was ignored before (a job in the background of a script)
    stays ignored. What is still pending in the end came after the child's end, and is dropped.
    """
    ending = {s for s in _ENDING if signal.getsignal(s) is not signal.SIG_IGN}
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # else the child's status is lost
    held = frozenset({*ending, signal.SIGCHLD})
    before = frozenset(map(signal.Signals, signal.pthread_sigmask(signal.SIG_BLOCK, held)))
    taken: list[signal.Signals] = []

    def take(number: int, _frame: object) -> None:
        taken.append(signal.Signals(number))

    handlers = {number: signal.signal(number, take) for number in ending}
    try:
        yield HeldSignals(held, before, taken)
    finally:
        _drop_pending(held)
        for number, handler in handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_child(
    arguments: Sequence[str], environment: Mapping[str, str], signals: HeldSignals
) -> Ended:
    """Run a program, found as a shell finds it, to its end, and tell how it ended.

    SIGINT and SIGQUIT from the terminal reach the child directly; every other signal is passed
    on (so one that somebody sends to the whole process group reaches it twice). The child is
    always waited for.
    """
    try:
        child = os.posix_spawnp(
            arguments[0],
            list(arguments),
            environment,
            setsigmask=signals.before,
            setsigdef=_IGNORED_BY_PYTHON,
        )
    except (OSError, ValueError) as error:  # ValueError: see _not_started
        return _not_started(error)
    first: signal.Signals | None = None
    while True:
        arrived, from_terminal = _next_signal(signals)
        if arrived is not None and arrived is not signal.SIGCHLD:
            first = first or arrived
            if not from_terminal:
                os.kill(child, arrived)  # not yet waited for, so the id is still the child's
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return Ended(_shell_status(status), first)


def replace_process(arguments: Sequence[str], environment: Mapping[str, str]) -> Ended:
    """Become the program. Returns only when it could not be started."""
    for number in _IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(arguments[0], list(arguments), environment)  # noqa: S606 - on purpose
    except (OSError, ValueError) as error:
        return _not_started(error)


@contextmanager
def termination_as_exit() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the body by a ``StoppedError`` instead of at once."""

    def leave(number: int, _frame: object) -> None:
        raise StoppedError(number)

    earlier = {
        number: handler
        for number in (signal.SIGTERM, signal.SIGHUP)
        if (handler := signal.getsignal(number)) is not signal.SIG_IGN
    }
    for number in earlier:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _next_signal(signals: HeldSignals) -> tuple[signal.Signals | None, bool]:
    """Return the next held signal, and whether the terminal sent it to the child as well.

    None after a while without one: another thread may have taken a SIGCHLD.
    """
    if signals.taken:
        return _of_unknown_sender(signals.taken.pop(0))
    if not hasattr(signal, "sigtimedwait"):
        return _of_unknown_sender(signal.Signals(signal.sigwait(signals.held)))
    information = signal.sigtimedwait(signals.held, _PATIENCE)
    if information is None:
        return None, False
    return signal.Signals(information.si_signo), information.si_code == _SI_KERNEL


def _drop_pending(held: frozenset[signal.Signals]) -> None:
    """Drop held signals that wait for us; another thread may take one of them meanwhile."""
    if hasattr(signal, "sigtimedwait"):
        while signal.sigtimedwait(held, 0) is not None:
            pass
        return
    while pending := signal.sigpending() & held:
        signal.sigwait(pending)


def _of_unknown_sender(number: signal.Signals) -> tuple[signal.Signals, bool]:
    """Take the terminal, where there is one, for the sender of its own two signals."""
    return number, number in (signal.SIGINT, signal.SIGQUIT) and os.isatty(0)


def _shell_status(status: int) -> int:
    if os.WIFSIGNALED(status):
        return KILLED_BY + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


def _not_started(error: OSError | ValueError) -> Ended:
    found = not isinstance(error, FileNotFoundError)
    reason = "its name is empty, or an argument holds a NUL byte"
    if isinstance(error, OSError):
        reason = error.strerror or "unknown reason"
    return Ended(NOT_EXECUTABLE if found else NOT_FOUND, not_started=reason)
