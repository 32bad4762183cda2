"""The stage runner: a loop, and one error that names what a stage may return.

A stage is a callable from a plain dict to a plain dict, ``Stage``. The built-in stages are
trusted to keep their contracts, which tests check; what stands in for one of them is checked at
every call, and everything that it does wrong is one E506 with the stage's name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from streamt_ol.contracts import State
from streamt_ol.manifest import check_against
from streamt_ol.problems import INVALID, USAGE, StreamtOlError
from streamt_ol.redaction import shown

Stage = Callable[[State], State]


class NamedStage(NamedTuple):
    """A stage, the contracts of what it takes and returns, and whether they are checked."""

    name: str
    call: Stage
    takes: dict[str, Any]
    returns: dict[str, Any]
    checked: bool = False


def run(stages: Iterable[NamedStage], state: State) -> State:
    """Pass ``state`` through ``stages`` in their order and return what the last one returns."""
    for stage in stages:
        state = _checked(stage, state) if stage.checked else stage.call(state)
    return state


def _checked(stage: NamedStage, state: State) -> State:
    check_against(stage.takes, state, INVALID, f"stage {stage.name} input ")
    try:
        result = stage.call(state)
    except StreamtOlError:
        raise
    except Exception as error:  # noqa: BLE001 - the stage is the user's own code
        message = f"the stage raised {type(error).__name__}: {shown(error, 200)}"
        raise StreamtOlError(INVALID, message, location=f"stage {stage.name}") from None
    check_against(stage.returns, result, INVALID, f"stage {stage.name} ")
    return result


def imported(reference: str) -> Stage:
    """Return the callable that ``package.module:function`` names.

    The working directory is searched first, as for ``python -m``. Raises E500 where the
    reference is malformed or nothing callable can be imported under it.
    """
    module, separator, function = reference.partition(":")
    if not (module and separator and function):
        raise StreamtOlError(USAGE, f"{shown(reference)} is not package.module:function")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(import_module(module), function)
    except Exception as error:  # noqa: BLE001 - importing runs the user's own code
        message = f"cannot import {shown(reference)}: {type(error).__name__}: {shown(error, 200)}"
        raise StreamtOlError(USAGE, message) from None
    if not callable(found):
        raise StreamtOlError(USAGE, f"{shown(reference)} is not callable")
    stage: Stage = found
    return stage
