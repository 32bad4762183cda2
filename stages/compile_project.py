"""The other first stage: a streamt project becomes the manifest, without streamt."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from streamt_ol import contracts
from streamt_ol.contracts import State
from streamt_ol.problems import StreamtOlError, Warned
from streamt_ol.project.compiler import compile_project
from streamt_ol.project.places import Places

TAKES = contracts.OPTIONS
RETURNS = contracts.LOADED


def _now() -> datetime:
    return datetime.now(UTC)


class CompileProject:
    """Takes ``{"options": {"project_dir": FOLDER, "env": NAME, ...}}``; adds ``manifest``.

    The manifest holds what the next stage reads and nothing else of the project; ``warnings``
    are added where there are any. Afterwards ``located`` tells where in the project's files that
    stands which a later stage found fault with.

    Raises E501, E502, E503 and E506 with ``file:line``.
    """

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self._environ = environ
        self._now = now
        self._places: Places | None = None

    def __call__(self, state: State) -> State:
        """Return the options for the next stage and the ``manifest``."""
        compiled = compile_project(state["options"], self._environ, self._now)
        self._places = compiled.places
        loaded: State = {"options": compiled.options, "manifest": compiled.manifest}
        if compiled.warnings:
            loaded["warnings"] = compiled.warnings
        return loaded

    def located(self, error: StreamtOlError) -> StreamtOlError:
        """Return an error of a later stage with the project's ``file:line`` before its pointer."""
        return error if self._places is None else self._places.error(error)

    def located_warning(self, warning: Warned) -> Warned:
        """Return a warning of a later stage in the same way."""
        return warning if self._places is None else self._places.warning(warning)
