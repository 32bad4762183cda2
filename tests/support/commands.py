"""The command line as a user runs it: a real process of the installed program."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = str(Path(sys.executable).with_name("streamt-ol"))
# Variables that change what the program does, and must not leak in from the tester's shell.
_OWN_VARIABLES = ("OPENLINEAGE", "STREAMT_")


def clean_environment(**more: str) -> dict[str, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(_OWN_VARIABLES)}
    return {**environment, **more}


def streamt_ol(
    *arguments: str | Path,
    stdin: bytes | None = None,
    environment: dict[str, str] | None = None,
    cwd: Path | None = None,
    seconds: float = 120,
) -> subprocess.CompletedProcess[bytes]:
    """Run ``streamt-ol`` to its end, within ``seconds``; return its status, stdout and stderr."""
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        input=b"" if stdin is None else stdin,
        capture_output=True,
        env=clean_environment(**(environment or {})),
        cwd=cwd,
        timeout=seconds,
        check=False,
    )


def without_override() -> None:
    """Make permissions count for root, too, in the program that is executed next."""
    drop_from_bounding_set, dac_override, dac_read_search = 24, 1, 2
    libc = ctypes.CDLL(None)
    for capability in (dac_override, dac_read_search):
        libc.prctl(drop_from_bounding_set, capability, 0, 0, 0)


def run_without_override(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run ``streamt-ol`` as somebody for whom permissions count."""
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        capture_output=True,
        env=clean_environment(),
        preexec_fn=without_override,
        timeout=120,
        check=False,
    )
