"""The share of the machine that one template may take, where the system can bound it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

CPU_SECONDS = 5
MEMORY = 512 * 1024 * 1024  # bytes, beyond what the process holds when the template begins
# A long step of C code sees no signal handler: then the system ends the process.
_GRACE_SECONDS = 2
# Asked for again and again, since an expression of Jinja's may swallow an exception.
_REPEAT_SECONDS = 0.5
_STATISTICS = Path("/proc/self/statm")


class TimeSpentError(Exception):
    """The template has used up its processor time."""


if sys.platform == "win32":

    class Limits:
        """No limits: the system has none that a process could set. The deadline holds."""

        is_spent = False

        def start(self) -> None:
            """Begin to count for one template."""

        def stop(self) -> None:
            """End counting."""

else:
    import resource
    import signal
    from types import FrameType

    class Limits:
        """Limits on the processor time and the address space of each template by itself."""

        def __init__(self) -> None:
            self._is_counting = False
            self.is_spent = False  # whether the template has used up its processor time
            signal.signal(signal.SIGPROF, self._spent)
            for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):
                _set(kind, 0)

        def start(self) -> None:
            """Begin to count for one template."""
            held = _address_space()
            if held is not None:
                _set(resource.RLIMIT_AS, held + MEMORY)
            used = resource.getrusage(resource.RUSAGE_SELF)
            seconds = int(used.ru_utime + used.ru_stime) + CPU_SECONDS + _GRACE_SECONDS
            _set(resource.RLIMIT_CPU, seconds)
            self._is_counting, self.is_spent = True, False
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS, _REPEAT_SECONDS)

        def stop(self) -> None:
            """End counting, and give back what the report of a fault may need."""
            self._is_counting = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU):
                _set(kind, resource.RLIM_INFINITY)

        def _spent(self, _signal: int, _frame: FrameType | None) -> None:
            if self._is_counting:
                self.is_spent = True
                raise TimeSpentError

    def _set(kind: int, value: int) -> None:
        """Set the soft limit as near to ``value`` as the hard one allows."""
        _, hard = resource.getrlimit(kind)
        bounded = value
        if hard != resource.RLIM_INFINITY:
            bounded = hard if value == resource.RLIM_INFINITY else min(value, hard)
        with suppress(OSError, ValueError):  # a system that has no such limit
            resource.setrlimit(kind, (bounded, hard))

    def _address_space() -> int | None:
        """Return the bytes of address space in use, or None where the system does not say."""
        try:
            pages = int(_STATISTICS.read_text(encoding="ascii").split()[0])
        except (OSError, ValueError, IndexError):
            return None
        return pages * os.sysconf("SC_PAGE_SIZE")
