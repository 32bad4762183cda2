"""The other first stage: a streamt project becomes the manifest, without streamt."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from streamt_ol import contracts
from streamt_ol.contracts import State
from streamt_ol.project.compiler import compile_project

TAKES = contracts.OPTIONS
RETURNS = contracts.LOADED


def _now() -> datetime:
    return datetime.now(UTC)


class CompileProject:
    """Takes ``{"options": {"project_dir": FOLDER, "env": NAME, ...}}``; adds ``manifest``.

    The manifest holds what the next stage reads and nothing else of the project; ``locations``
    say where its parts stand in the project's files, and ``warnings`` are added where there are
    any. Raises E501, E502, E503 and E506 with the file and line.
    """

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self._environ = environ
        self._now = now

    def __call__(self, state: State) -> State:
        """Return the options for the next stage, the ``manifest`` and its ``locations``."""
        compiled = compile_project(state["options"], self._environ, self._now)
        loaded: State = {
            "options": compiled.options,
            "manifest": compiled.manifest,
            "locations": compiled.locations,
        }
        if compiled.warnings:
            loaded["warnings"] = compiled.warnings
        return loaded
