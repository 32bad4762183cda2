"""The signals of this process while a command runs beside it, and while its run is reported."""

from __future__ import annotations

import os
import select
import signal
from contextlib import contextmanager, suppress
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
def signals_held(endings: Endings | None = None) -> Iterator[HeldSignals]:
    """Let signals that would end or suspend this process be noted instead, for the main thread.

    One that was ignored before (by `nohup`, or a shell for its job in the background) stays
    ignored. What arrives after the child's end is dropped, later too where ``endings`` are given.
    """
    wakes, woken = os.pipe()
    os.set_blocking(wakes, False)
    os.set_blocking(woken, False)
    before = signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    try:
        with _handled(_passed_on() | {signal.SIGCHLD}, _note), Witness() as witness:
            if endings is not None:
                endings.raising = False
            yield HeldSignals(wakes, witness)
    finally:
        signal.set_wakeup_fd(before)
        os.close(wakes)
        os.close(woken)


class Endings:
    """The signals that ask for the end of this very process, for a program that owns it.

    From ``install`` on they raise, SIGINT a ``KeyboardInterrupt`` as ever and the others a
    ``StoppedError``, until a child has them (``signals_held``); after that only while it is
    waited for something, so that they cost nobody the child's exit status.
    """

    def __init__(self) -> None:
        self.raising = True

    def install(self) -> None:
        """Handle them, and let no other signal end or suspend this process but SIGTSTP."""
        for number in _passed_on() - SUSPENDING:
            signal.signal(number, self._take if number in ENDING else _note)

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Let them interrupt the body."""
        before, self.raising = self.raising, True
        try:
            yield
        finally:
            self.raising = before

    def _take(self, number: int, _frame: object) -> None:
        if self.raising:
            raise KeyboardInterrupt if number == signal.SIGINT else StoppedError(number)


def ignore_signals() -> None:
    """Let no signal that can be ignored change how this process ends. For one that is about to."""
    for number in _passed_on():
        signal.signal(number, signal.SIG_IGN)


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
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        for number, one in earlier.items():
            signal.signal(number, signal.SIG_DFL if one is None else one)
        # What arrived meanwhile is dropped: the body has ended, and its result is not to be lost.
        with suppress(KeyboardInterrupt, SystemExit):
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
