"""The lock that streamt holds while it works on an environment, and whose process holds it.

streamt holds an exclusive ``flock`` on ``.streamt/state/.ENV.json.lock`` from before planning
until it ends; who waits for it has the file open too. On Linux ``/proc/locks`` tells them apart.
Elsewhere (macOS) `lsof` lists who has the file open: a single process is the holder, of several
it is not known.
"""

from __future__ import annotations

import fcntl
import os
from enum import Enum
from pathlib import Path

_PROC_LOCKS = Path("/proc/locks")
_SECONDS_TO_ASK = 2
MAX_ANCESTORS = 1000


class Holder(Enum):
    """The holder of the lock."""

    ABSENT = "there is no lock file, as with older releases of streamt"
    NOBODY = "nobody that can be seen"
    OURS = "a process of the child's tree"
    OTHER = "another process"
    UNKNOWN = "not known"


class StateLock:
    """The lock at ``path``, None where it is not known which file that is."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._child: int | None = None
        self._parents = _parent_by_proc if _PROC_LOCKS.exists() else _parent_by_ps
        self._holders = _by_proc_locks if _PROC_LOCKS.exists() else _by_lsof
        self._ours: dict[int, bool] = {}

    def start(self, child: int) -> None:
        """Take ``child`` and every process below it for ours."""
        self._child = child

    def is_free(self) -> bool:
        """Whether nobody holds the lock now. Asks for it for an instant; creates no file."""
        if self.path is None:
            return True
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True

    def holder(self) -> Holder:
        """Return who holds the lock now."""
        if self.path is None:
            return Holder.ABSENT
        try:
            status = os.stat(self.path)  # noqa: PTH116 - called hundreds of times a second
            found = self._holders(self.path, status)
        except FileNotFoundError:
            return Holder.ABSENT
        except OSError:
            return Holder.UNKNOWN
        if found is None:
            return Holder.UNKNOWN
        if not found:
            return Holder.NOBODY
        if self._child is None:
            # The child may run already, and its process id be told in a moment.
            below_us = any(self._descends(process, os.getpid()) for process in found)
            return Holder.UNKNOWN if below_us else Holder.OTHER
        ours = any(self._is_ours(process, self._child) for process in found)
        return Holder.OURS if ours else Holder.OTHER

    def _is_ours(self, process: int, child: int) -> bool:
        if process not in self._ours:
            self._ours[process] = self._descends(process, child)
        return self._ours[process]

    def _descends(self, process: int | None, ancestor: int) -> bool:
        for _ in range(MAX_ANCESTORS):
            if process == ancestor:
                return True
            if not process or process == 1:
                return False
            process = self._parents(process)
        return False


def holders_in(locks: str, status: os.stat_result) -> frozenset[int]:
    """Return the processes that hold an exclusive lock on the file of ``status``.

    ``locks`` is the text of ``/proc/locks``: ``1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0
    EOF``, with ``->`` before the kind for who waits. The device is that of the file system,
    which for an overlay or a subvolume is not that of ``stat``: where no entry has the device,
    the inode decides.
    """
    inode = f":{status.st_ino}"
    entries = [line.split() for line in locks.splitlines() if inode in line]
    held = [
        (device, int(process))
        for _, kind, _, access, process, device, *_ in entries
        if kind != "->" and access == "WRITE" and device.endswith(inode) and int(process) > 0
    ]
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}{inode}"
    return frozenset(
        [process for found, process in held if found == device] or [process for _, process in held]
    )


def _by_proc_locks(_path: Path, status: os.stat_result) -> frozenset[int] | None:
    return holders_in(_PROC_LOCKS.read_text(), status)


def _parent_by_proc(process: int) -> int | None:
    try:
        text = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:  # it has ended
        return None
    return int(text.rpartition(")")[2].split()[1])  # the name before it may hold anything


def _by_lsof(path: Path, _status: os.stat_result) -> frozenset[int] | None:
    """Return the one process that has the file open; None where several have."""
    text = _printed("lsof", "-w", "-F", "p", "--", str(path))
    if text is None:
        return None
    users = frozenset(int(line[1:]) for line in text.splitlines() if line.startswith("p"))
    return users if len(users) <= 1 else None


def _parent_by_ps(process: int) -> int | None:
    text = (_printed("ps", "-o", "ppid=", "-p", str(process)) or "").strip()
    return int(text) if text.isdigit() else None


def _printed(*line: str) -> str | None:
    import subprocess

    try:
        return subprocess.run(
            line, capture_output=True, text=True, timeout=_SECONDS_TO_ASK, check=False
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
