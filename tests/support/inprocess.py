"""The command line in this process: for the many runs that a property takes."""

from __future__ import annotations

import gc
import io
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

from streamt_ol.cli.app import run


class Ran(NamedTuple):
    """The end of a command line, and what it printed."""

    status: int
    stdout: bytes
    stderr: bytes


def streamt_ol_here(*arguments: str) -> Ran:
    """Run ``streamt-ol``; an exception that gets out of here is a traceback to a user."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = run(arguments)
        finally:
            gc.enable()  # the export turns it off for its own process
    return Ran(status, *(stream.detach().getvalue() for stream in (out, err)))
