"""The stage runner: a loop, and one error that names what a stage may return.

A stage is a callable from a plain dict to a plain dict, ``Stage``. The built-in stages are
trusted to keep their contracts, which tests check; what stands in for one of them is checked at
every call, and everything that it does wrong is one E506 with the stage's name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from streamt_ol.codes import ERRORS
from streamt_ol.contracts import State
from streamt_ol.manifest.shape import check_against
from streamt_ol.problems import INVALID, USAGE, Location, StreamtOlError, Terminated
from streamt_ol.redaction import one_line, shown

Stage = Callable[[State], State]
_MESSAGE_LIMIT = 1_000


class NamedStage(NamedTuple):
    """A stage, the contracts of what it takes and returns, and how far it is trusted.

    ``checked``: its contracts are checked. ``foreign``: it is a user's own code.
    """

    name: str
    call: Stage
    takes: dict[str, Any]
    returns: dict[str, Any]
    checked: bool = False
    foreign: bool = False


def run(stages: Iterable[NamedStage], state: State) -> State:
    """Pass ``state`` through ``stages`` in their order and return what the last one returns."""
    for stage in stages:
        state = _checked(stage, state) if stage.checked else stage.call(state)
    return state


def _checked(stage: NamedStage, state: State) -> State:
    check_against(stage.takes, state, INVALID, Location(stage=f"{stage.name} input"))
    result = _foreign(stage, state) if stage.foreign else stage.call(state)
    check_against(stage.returns, result, INVALID, Location(stage=stage.name))
    if stage.foreign and "warnings" in result:
        result["warnings"] = [
            {key: _bounded(value) for key, value in warning.items()}
            for warning in result["warnings"]
        ]
    return result


def _foreign(stage: NamedStage, state: State) -> Any:
    """Return what a user's stage returns, as JSON would carry it; its prints go to stderr."""
    try:
        with redirect_stdout(sys.stderr):
            return _as_json(stage.call(state))
    except (KeyboardInterrupt, Terminated):
        raise
    except StreamtOlError as error:
        code = error.code if error.code in ERRORS else INVALID
        message = f"the stage refused its input: {one_line(str(error.message), _MESSAGE_LIMIT)}"
        location = _bounded_location(error.location) or Location(stage=stage.name)
        raise StreamtOlError(code, message, location=location) from None
    except BaseException as error:  # noqa: BLE001 - the stage is the user's own code
        _raise_foreign(error, "the stage raised", Location(stage=stage.name), INVALID)


def _bounded(value: Any) -> Any:
    return one_line(value, _MESSAGE_LIMIT) if isinstance(value, str) else value


def _bounded_location(location: Location | None) -> Location | None:
    """Return the location that a user's stage gave, safe to show."""
    if not location:
        return None
    parts = {part: _bounded(value) for part, value in location.fields().items()}
    return Location(_bounded(str(location)), **parts)


def _as_json(result: object) -> Any:
    """Return ``result`` written as JSON and read again: nothing else may stand between stages."""
    text = json.dumps(result, allow_nan=False, ensure_ascii=False)
    return json.loads(text.encode())


def _raise_foreign(
    error: BaseException, what: str, location: Location | None, code: str
) -> NoReturn:
    try:
        words = shown(error, 200)
    except Exception:  # noqa: BLE001 - an exception of the user's own, whose text fails
        words = "without a message"
    raise StreamtOlError(
        code, f"{what} {type(error).__name__}: {words}", location=location
    ) from None


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
        with redirect_stdout(sys.stderr):
            found = getattr(import_module(module), function)
    except (KeyboardInterrupt, Terminated):
        raise
    except BaseException as error:  # noqa: BLE001 - importing runs the user's own code
        _raise_foreign(error, f"cannot import {shown(reference)}:", None, USAGE)
    if not callable(found):
        raise StreamtOlError(USAGE, f"{shown(reference)} is not callable")
    stage: Stage = found
    return stage
