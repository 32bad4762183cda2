"""The one process that renders templates: the parent's side.

It is a Python of its own, without the user's environment, working directory and packages; it is
started for the first template that needs it, bounds each (see ``streamt_ol.templates.limits``),
and ends with its parent, whose pipe it reads.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from threading import Lock, Thread
from typing import Any, NamedTuple

from streamt_ol.templates.faults import DEADLINE, Fault, ended
from streamt_ol.templates.plain import Call
from streamt_ol.templates.wire import MAX_ANSWER, read_message, write_message

_CODE = "import sys; sys.path += sys.argv[1:]; from streamt_ol.templates.child import main; main()"
_PACKAGES = ("streamt_ol", "jinja2", "markupsafe")
# What a Python may need to start at all; nothing else of the environment is handed on.
_VARIABLES = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class Request(NamedTuple):
    """A template to render: the number of its renderer, its text, its file, its params."""

    renderer: int
    template: str
    file: str | None
    params: Mapping[str, object]


class FaultError(Exception):
    """A template cannot be rendered, for the reason in ``fault``."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.kind)
        self.fault = fault


class RenderingProcess:
    """Starts its process when it is needed, and again after a template that ended it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: Popen[bytes] | None = None
        self._answers: SimpleQueue[bytes | None] = SimpleQueue()

    def render(self, request: Request, load: Callable[[str], str | None]) -> tuple[str, list[Call]]:
        """Return the text of a template and the calls that it prints.

        ``load`` gives the other templates that it asks for. Raises ``FaultError``, and whatever
        ``load`` raises.
        """
        with self._lock:
            try:
                process = self._process or self._start()
                return self._rendered(process, request, load)
            except FaultError as error:
                if error.fault.kind in ("time", "memory"):  # the next one gets a fresh process
                    self._stop()
                raise
            except BaseException:  # in the middle of a conversation, e.g. Ctrl-C
                self._stop()
                raise

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._stop()

    def _start(self) -> Popen[bytes]:
        command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _CODE, *_module_folders()]
        variables = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
        try:
            self._process = Popen(
                command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=variables, cwd=os.sep
            )
        except OSError as error:
            raise FaultError(Fault("start", error.strerror or type(error).__name__)) from None
        self._answers = SimpleQueue()
        Thread(target=_read, args=(self._process, self._answers), daemon=True).start()
        return self._process

    def _stop(self) -> int | None:
        """End the process; return the exit status that it had by itself, if it had ended."""
        process, self._process = self._process, None
        if process is None:
            return None
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.close()
        try:
            return process.wait(timeout=0.2)
        except TimeoutExpired:
            process.kill()
            process.wait()
            return None

    def _rendered(
        self, process: Popen[bytes], request: Request, load: Callable[[str], str | None]
    ) -> tuple[str, list[Call]]:
        self._send(process, request._asdict())
        seconds = iter(range(DEADLINE))
        while True:
            answer = self._answer(seconds)
            if "load" in answer:
                self._send(process, load(answer["load"]))
            elif "fault" in answer:
                raise FaultError(Fault(*(answer[k] for k in ("fault", "subject", "file", "line"))))
            else:
                return answer["text"], [Call(*call) for call in answer["calls"]]

    def _send(self, process: Popen[bytes], value: object) -> None:
        assert process.stdin is not None
        try:
            write_message(process.stdin, pickle.dumps(value))
        except OSError:
            raise FaultError(ended(self._stop())) from None

    def _answer(self, seconds: Iterator[int]) -> dict[str, Any]:
        """Return the next answer within the ``seconds`` that are left.

        They are counted, not measured: the time in which both processes are suspended is none.
        """
        for _ in seconds:
            with suppress(Empty):
                message = self._answers.get(timeout=1)
                if message is None:
                    raise FaultError(ended(self._stop()))
                answer: dict[str, Any] = json.loads(message)
                return answer
        self._stop()
        raise FaultError(Fault("deadline"))


def _read(process: Popen[bytes], answers: SimpleQueue[bytes | None]) -> None:
    """Put the answers of ``process`` into ``answers``, and None behind the last."""
    assert process.stdout is not None
    with process.stdout as stream:
        while (message := read_message(stream, MAX_ANSWER)) is not None:
            answers.put(message)
        answers.put(None)


def _module_folders() -> list[str]:
    """Return the folders that the packages which render stand in, wherever they were installed."""
    found = (find_spec(name) for name in _PACKAGES)
    origins = [spec.origin for spec in found if spec is not None and spec.origin is not None]
    return list(dict.fromkeys(str(Path(origin).absolute().parent.parent) for origin in origins))
