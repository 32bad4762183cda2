"""The signals of this process while a command runs beside it, and while its run is reported."""

from __future__ import annotations

import os
import select
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamt_ol.runs.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

KILLED_BY = 128  # what a shell adds to the number of a signal for the exit status
# Those that ask for the end of a command.
ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
SUSPENDING = frozenset({signal.SIGTSTP, signal.SIGCONT})
# Nobody can catch the first two; those of a fault come from the code that runs, which would fault
# again behind a handler (not so SIGABRT, which a watchdog sends); Python ignores the next two; the
# terminal suspends the whole group by the last two, as it would without us.
_LEFT_ALONE = frozenset({
    signal.SIGKILL, signal.SIGSTOP,
    signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,
    signal.SIGPIPE, signal.SIGXFSZ,
    signal.SIGTTIN, signal.SIGTTOU,
})  # fmt: skip
_PATIENCE = 1000  # milliseconds between two looks at the child, should its SIGCHLD be lost


class StoppedError(SystemExit):
    """A signal asks this process to end; the exit status is 128 + n."""

    def __init__(self, number: int) -> None:
        super().__init__(KILLED_BY + number)
        self.name = signal.Signals(number).name

    def __str__(self) -> str:
        return f"The command was stopped by {self.name}."


class HeldSignals:
    """The signals that arrive: each makes the descriptor ``wakes`` readable and is noted."""

    def __init__(self, wakes: int, witness: Witness) -> None:
        self.witness = witness
        self._wakes = wakes
        self._waiting = select.poll()
        self._waiting.register(wakes, select.POLLIN)

    def wait(self) -> None:
        """Wait until a signal has arrived, or for a while."""
        self._waiting.poll(_PATIENCE)

    def arrived(self) -> list[int]:
        """Return the signals that have arrived since the last call, each once, in their order."""
        try:
            return list(dict.fromkeys(os.read(self._wakes, 65536)))
        except BlockingIOError:
            return []


@contextmanager
def signals_held() -> Iterator[HeldSignals]:
    """Let signals that would end or suspend this process be noted instead, for the main thread.

    One that was ignored before (by `nohup`, or a shell for its job in the background) stays
    ignored. What arrives after the child's end is dropped.
    """
    wakes, woken = os.pipe()
    os.set_blocking(wakes, False)
    os.set_blocking(woken, False)
    before = signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    try:
        with _handled(_passed_on() | {signal.SIGCHLD}, _note), Witness() as witness:
            yield HeldSignals(wakes, witness)
    finally:
        signal.set_wakeup_fd(before)
        os.close(wakes)
        os.close(woken)


@contextmanager
def termination_as_exit() -> Iterator[None]:
    """Let SIGTERM, SIGHUP and SIGQUIT end the body by a ``StoppedError``; others leave it alone.

    Ctrl-C is a ``KeyboardInterrupt`` as ever.
    """

    def leave(number: int, _frame: object) -> None:
        raise StoppedError(number)

    ending = _passed_on() & (ENDING - {signal.SIGINT})
    with _handled(_passed_on() - ENDING - SUSPENDING, _note), _handled(ending, leave):
        yield


@contextmanager
def endings_ignored() -> Iterator[None]:
    """Let no signal end the body, which is short."""
    with _handled(_passed_on() & ENDING, _note):
        yield


def _note(_number: int, _frame: object) -> None:
    """Do nothing: that the signal arrived is noted by the interpreter's wake-up descriptor."""


def _passed_on() -> set[int]:
    """Return the signals that a child may be meant by, without those that are ignored."""
    found = signal.valid_signals() - _LEFT_ALONE - {signal.SIGCHLD}
    return {number for number in found if signal.getsignal(number) is not signal.SIG_IGN}


@contextmanager
def _handled(numbers: Iterable[int], handler: Callable[[int, object], None]) -> Iterator[None]:
    earlier = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, one in earlier.items():
            signal.signal(number, signal.SIG_DFL if one is None else one)
