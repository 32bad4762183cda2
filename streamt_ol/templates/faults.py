"""The words for a template that cannot be rendered; they do not quote it."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable
from typing import NamedTuple

from streamt_ol.redaction import shown, shown_path
from streamt_ol.templates.limits import CPU_SECONDS, MEMORY

# Seconds of waiting for one template. Where the system bounds neither its processor time nor
# its memory, that is all there is.
DEADLINE = 15 if sys.platform == "win32" else 60


class Fault(NamedTuple):
    """A kind of fault (a key of the table below), its subject, and its file and line."""

    kind: str
    subject: str | None = None
    file: str | None = None
    line: int | None = None

    def message(self) -> str:
        """Return what went wrong, in words that quote a name of the template at most."""
        words = _WORDS.get(self.kind, _exception)(self.subject or "")
        return f"the template cannot be rendered: {words}{self._place()}"

    def _place(self) -> str:
        if self.line is None:
            return ""
        at = "line " if self.file is None else f"{shown_path(self.file)}:"
        return f" ({at}{self.line})"


def ended(status: int | None) -> Fault:
    """Return the fault of a template whose process ended, with ``status`` as ``Popen`` has it."""
    kind = next((k for name, k in _SIGNALS if status == -getattr(signal, name, 0)), "ended")
    return Fault(kind, f"status {status}")


# What the kernel ends a process with: too much time; the stack of C code; no memory left.
_SIGNALS = (("SIGXCPU", "time"), ("SIGSEGV", "depth"), ("SIGBUS", "depth"), ("SIGKILL", "killed"))


def _undefined(name: str) -> str:
    return f"{shown(name)} is not defined" if name else "it uses something undefined"


def _exception(name: str) -> str:
    return f"it fails with {name if re.fullmatch(r'[A-Za-z]{1,64}', name) else 'an exception'}"


_TOO_DEEP = "it is nested too deeply, or calls itself without end"
_TOO_MUCH = f"needs more than {MEMORY // 1024**2} MB of memory"
_WORDS: dict[str, Callable[[str], str]] = {
    "time": lambda _: (
        f"it takes more than {CPU_SECONDS} seconds of processor time (a loop without end?)"
    ),
    "deadline": lambda _: f"it takes longer than {DEADLINE} seconds",
    "memory": lambda _: f"it {_TOO_MUCH}",
    "size": lambda _: f"it is nested too deeply, or {_TOO_MUCH}",
    "output": lambda _: "it makes too much text",
    "depth": lambda _: _TOO_DEEP,
    "killed": lambda _: "the process that rendered it was killed (is the machine out of memory?)",
    "ended": lambda how: f"the process that rendered it ended ({shown(how)})",
    "start": lambda why: f"no process to render it can be started: {why}",
    "call": lambda _: "source() and ref() take one name, a text that is not blank",
    "undefined": _undefined,
    "security": lambda _: "it uses what the sandbox does not allow",
    "no template": lambda name: f"there is no template {shown(name)} in macros/",
    "no filter": lambda name: f"the filter {shown(name)} is not available",
    "no test": lambda name: f"the test {shown(name)} is not available",
    "syntax": lambda _: "its Jinja has a syntax error",
    "exception": _exception,
}
