"""A command on a pseudo-terminal of its own."""

from __future__ import annotations

import os
import pty
import select
from pathlib import Path


class Terminal:
    """A command on a terminal of its own, which controls its session."""

    def __init__(self, line: list[str], environment: dict[str, str], folder: Path) -> None:
        self.seen = b""
        self.child, self.master = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execve(line[0], line, environment)

    def read_until(self, text: bytes, seconds: float = 60) -> bytes:
        """Return what was written up to ``text``, or to the end; ``seen`` keeps all of it."""
        read = b""
        while text not in read:
            assert select.select([self.master], [], [], seconds)[0], f"no {text!r} in {self.seen!r}"
            try:
                more = os.read(self.master, 4096)
            except OSError:  # the terminal was closed by its last user
                break
            if not more:
                break
            read += more
            self.seen += more
        return read

    def type(self, text: bytes) -> None:
        os.write(self.master, text)

    def hang_up(self) -> None:
        """Close the terminal, and wait for the end of the command that leads its session."""
        os.close(self.master)
        os.waitpid(self.child, 0)

    def end(self) -> tuple[int, bytes]:
        rest = self.read_until(b"\x00never")
        _, status = os.waitpid(self.child, 0)
        os.close(self.master)
        return os.waitstatus_to_exitcode(status), rest
