"""A command whose stderr is a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import termios
from typing import TYPE_CHECKING

from support.commands import clean_environment

if TYPE_CHECKING:
    from collections.abc import Sequence


def stderr_on_a_terminal(command: Sequence[str], columns: int = 80) -> tuple[bytes, int]:
    """Return what ``command`` writes to a terminal on its stderr, and its exit status."""
    terminal, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env=clean_environment()
    )
    os.close(theirs)
    shown = b""
    try:
        while more := os.read(terminal, 65536):
            shown += more
    except OSError:  # the other end was closed
        pass
    os.close(terminal)
    child.communicate(timeout=60)
    return shown, child.returncode
