"""The process that renders: requests on its standard input, answers on its standard output.

A request is a pickled dict (of the parent, which is trusted): ``renderer`` (its number),
``template``, ``file``, ``params``. An answer is JSON, since what a template made is not trusted:
``{"load": NAME}``, which the parent answers with the pickled text or None; ``{"text", "calls"}``;
or ``{"fault", "subject", "file", "line"}``, see ``streamt_ol.templates.faults``.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import sys
import time
from collections.abc import Callable
from threading import Thread
from traceback import walk_tb
from typing import Any, BinaryIO

from jinja2 import TemplateNotFound
from jinja2.exceptions import (
    SecurityError,
    TemplateRuntimeError,
    TemplateSyntaxError,
    UndefinedError,
)

from streamt_ol.templates.limits import Limits, TimeSpentError
from streamt_ol.templates.sandbox import BadCallError, Sandbox, TooLongError
from streamt_ol.templates.wire import read_message, write_message

# The file names that Jinja gives to a template without one.
_NAMELESS = frozenset(("<template>", "<unknown>"))
_SECONDS_BETWEEN_LOOKS = 0.5
_MAX_NAME = 1_000  # characters of the name of a template
Answer = dict[str, Any]


class _Gone(BaseException):
    """The parent has ended."""


class Child:
    """Answers requests with the sandboxes of the parent's renderers."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests = requests
        self._answers = answers
        self._sandboxes: dict[int, Sandbox] = {}
        self._limits = Limits()

    def serve(self) -> None:
        """Answer one request after the other, until the parent closes the pipe."""
        while (message := read_message(self._requests)) is not None:
            try:
                answer = self._answer(pickle.loads(message))  # noqa: S301 - made by the parent
            except _Gone:
                return
            self._say(answer)

    def _answer(self, request: dict[str, Any]) -> Answer:
        sandbox = self._sandboxes.get(request["renderer"])
        if sandbox is None:
            sandbox = self._sandboxes[request["renderer"]] = Sandbox(self._loader())
        is_compiled = False
        self._limits.start()
        try:
            code = sandbox.compiled(request["template"], request["file"])
            is_compiled = True
            text, calls = sandbox.render(code, request["params"])
        except Exception as error:  # noqa: BLE001 - a template's expressions can raise anything
            self._limits.stop()
            # Jinja may have made another error of the one that was raised in its midst.
            spent = TimeSpentError() if self._limits.is_spent else error
            return _fault(spent.with_traceback(error.__traceback__), is_compiled=is_compiled)
        self._limits.stop()
        return {"text": text, "calls": calls}

    def _loader(self) -> Callable[[str], str | None]:
        """Return what loads the templates of one renderer through the parent, each once."""
        texts: dict[str, str | None] = {}

        def load(name: str) -> str | None:
            if len(name) > _MAX_NAME:
                return None
            if name not in texts:
                self._say({"load": name})
                message = read_message(self._requests)
                if message is None:
                    raise _Gone
                texts[name] = pickle.loads(message)  # noqa: S301 - made by the parent
            return texts[name]

        return load

    def _say(self, answer: Answer) -> None:
        write_message(self._answers, json.dumps(answer).encode("ascii"))


def _fault(error: Exception, *, is_compiled: bool) -> Answer:
    """Return the kind of fault that ``error`` is, what it is about, and where it happened."""
    kind, subject = _kind(error, is_compiled=is_compiled)
    file, line = _location(error)
    return {"fault": kind, "subject": subject, "file": file, "line": line}


def _kind(error: Exception, *, is_compiled: bool) -> tuple[str, str | None]:
    if isinstance(error, MemoryError):  # Python's parser raises it for nesting, too
        return "memory" if is_compiled else "size", None
    for kinds, name in _FAULTS:
        if isinstance(error, kinds):
            return name, None
    if isinstance(error, UndefinedError):
        found = re.search(r"'([A-Za-z_]\w{0,63})' is undefined", str(error.message))
        return "undefined", found and found[1]
    if isinstance(error, TemplateNotFound):
        return "no template", str(error.name)[:_MAX_NAME]
    if isinstance(error, TemplateSyntaxError | TemplateRuntimeError):
        found = re.match(r"No (filter|test) named '([\w.]+)'", str(error.message))
        if found:
            return f"no {found[1]}", found[2]
        if isinstance(error, TemplateSyntaxError):
            return "syntax", None
    return "exception", type(error).__name__


_FAULTS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...] = (
    (TimeSpentError, "time"),
    (TooLongError, "output"),
    (BadCallError, "call"),
    (SecurityError, "security"),
    ((RecursionError, SyntaxError), "depth"),
)


def _location(error: Exception) -> tuple[str | None, int | None]:
    """Return file and line, as Jinja's rewritten traceback tells them, of the innermost template.

    The file is None where the template has none; the line is None where nothing is known.
    """
    found = [
        (frame.f_code.co_filename, line)
        for frame, line in walk_tb(error.__traceback__)
        if "__jinja_exception__" in frame.f_globals
    ]
    if not found:
        return None, None
    file, line = found[-1]
    return None if file in _NAMELESS else file, line


def _end_with(parent: int) -> None:
    """End this process, whatever it is doing, when ``parent`` has ended."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def main() -> None:
    """Serve the parent. Ctrl-C is for the parent, which then closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    try:
        Child(sys.stdin.buffer, sys.stdout.buffer).serve()
    except BrokenPipeError:
        sys.stderr.close()
