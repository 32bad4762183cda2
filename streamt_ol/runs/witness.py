"""A process beside us that tells which signals were sent to all of us, not to us alone.

A signal from the terminal, by ``kill -- -PGID``, ``timeout`` or a supervisor of a whole control
group reaches the child as well; one by ``kill PID`` does not, and nothing in the signal tells
the two apart. So a second process is in our process group, to which nobody sends a signal
of its own: it blocks them all, and on being asked answers which have arrived.

It also keeps the child from outliving us: when we are killed (SIGKILL, which nobody can pass
on), it kills the child, as the same signal would have done without us.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Self

if TYPE_CHECKING:
    from collections.abc import Callable

_ASK, _RELEASE = 0, -1
_MESSAGE = struct.Struct("=q")  # a question, a release, or the process id of the child
_ANSWER = 65  # bytes: the signals that have arrived, and zeros
_PATIENCE = 5000  # milliseconds; longer only where the witness itself was suspended
_FOLDERS = (Path("/dev/fd"), Path("/proc/self/fd"))


class Witness:
    """Start the process; use as a context manager, in which no signal kills either process.

    Where no process can be started, every signal counts as sent to us alone.
    """

    def __init__(self) -> None:
        questions, self._questions = os.pipe()
        self._answers, answers = os.pipe()
        self._owed = 0
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            between = _start(questions, answers)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.close(questions)
            os.close(answers)
        if between is not None:
            os.waitpid(between, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """End the process and wait until it has closed what it inherited."""
        self._send(_RELEASE)
        os.close(self._questions)
        while self._answer():
            pass
        os.close(self._answers)

    def guard(self, child: int) -> None:
        """Have ``child``, which calls this itself, killed when we are killed."""
        self._send(child)

    def ask(self) -> frozenset[int]:
        """Return the signals that have reached the witness since it answered last."""
        self._send(_ASK)
        self._owed += 1
        arrived: set[int] = set()
        while self._owed and (answer := self._answer()):
            self._owed -= 1  # an answer that came too late for its question counts now
            arrived.update(answer)
        return frozenset(arrived - {0})

    def _send(self, message: int) -> None:
        with suppress(OSError):  # it is gone
            os.write(self._questions, _MESSAGE.pack(message))

    def _answer(self) -> bytes:
        """Return one answer; nothing where the witness is gone or silent."""
        waiting = select.poll()
        waiting.register(self._answers, select.POLLIN)
        return os.read(self._answers, _ANSWER) if waiting.poll(_PATIENCE) else b""


def _start(questions: int, answers: int) -> int | None:
    """Start the process as a grandchild, so that whoever lists our children finds the child.

    Return the process between, which ends at once; None where none could be started.
    """
    try:
        between = fork()
    except OSError:
        return None
    if between == 0:
        _become_witness(questions, answers)
    return between


def fork() -> int:
    """Return the id of a new process, 0 in itself, which needs none of the locks of our threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a host may have threads
        return os.fork()


def _become_witness(questions: int, answers: int) -> NoReturn:
    try:
        if os.fork() == 0:
            _close_all_but(questions, answers)
            _testify(questions, answers)
    finally:
        os._exit(0)


def _testify(questions: int, answers: int) -> None:
    """Answer until a release; where we end without one, kill the child."""
    kill = None
    while message := os.read(questions, _MESSAGE.size):
        (number,) = _MESSAGE.unpack(message)
        if number == _RELEASE:
            return
        if number == _ASK:
            os.write(answers, bytes(_taken()).ljust(_ANSWER, b"\0"))
        else:
            kill = _killer_of(number)
    if kill is not None:
        kill()


def _taken() -> list[int]:
    """Return the signals that have arrived, and have them arrived no longer."""
    taken = []
    while pending := signal.sigpending():
        taken.append(signal.sigwait(pending))
    return sorted(set(taken))


def _killer_of(child: int) -> Callable[[], None] | None:
    """Return what kills the process that has the id now, where the system can hold on to it.

    None: it has ended already, so that the id may soon be another's.
    """
    try:
        handle = os.pidfd_open(child)
    except ProcessLookupError:
        return None
    except (AttributeError, OSError):
        return lambda: os.kill(child, signal.SIGKILL)
    return lambda: signal.pidfd_send_signal(handle, signal.SIGKILL)


def _close_all_but(*kept: int) -> None:
    """Close what was inherited, so that whoever reads a pipe of ours sees its end with ours."""
    folder = next(filter(Path.is_dir, _FOLDERS), None)
    inherited = range(1024) if folder is None else [int(one.name) for one in folder.iterdir()]
    for descriptor in inherited:
        if descriptor not in kept:
            with suppress(OSError):
                os.close(descriptor)
