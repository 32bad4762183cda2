"""What to say when a template cannot be rendered, without quoting it."""

from __future__ import annotations

import re
from collections.abc import Callable
from traceback import walk_tb
from typing import Any

from jinja2 import TemplateNotFound
from jinja2.exceptions import SecurityError, TemplateSyntaxError, UndefinedError

from streamt_ol.redaction import shown
from streamt_ol.templates.budget import BudgetSpentError

_OWN = "<template>"  # the file name that Jinja gives to a template without one


class BadCallError(Exception):
    """``source()`` or ``ref()`` was called with something other than one name."""


def fault_message(error: Exception) -> str:
    """Return what went wrong, in words that quote a name of the template at most."""
    problem = next((says(error) for kind, says in _PROBLEMS if isinstance(error, kind)), None)
    if problem is None:
        problem = f"it fails with {type(error).__name__}"
    return f"the template cannot be rendered: {problem}{_line(error)}"


def _undefined(error: Any) -> str:
    found = re.search(r"'([A-Za-z_]\w{0,63})' is undefined", str(error.message))
    return f"{shown(found[1])} is not defined" if found else "it uses something undefined"


_TOO_DEEP = "it is nested too deeply, or calls itself without end"
_PROBLEMS: tuple[tuple[type[Exception], Callable[[Any], str]], ...] = (
    (BudgetSpentError, str),
    (BadCallError, lambda _: "source() and ref() take one name, a text that is not blank"),
    (UndefinedError, _undefined),
    (SecurityError, lambda _: "it uses what the sandbox does not allow"),
    (TemplateNotFound, lambda e: f"there is no template {shown(e.name)} in macros/"),
    (TemplateSyntaxError, lambda e: f"its Jinja has a syntax error at line {e.lineno}"),
    (RecursionError, lambda _: _TOO_DEEP),
    (SyntaxError, lambda _: _TOO_DEEP),
    (MemoryError, lambda _: _TOO_DEEP),
)


def _line(error: Exception) -> str:
    """Return the template's line that failed, as Jinja's rewritten traceback tells it."""
    lines = [n for frame, n in walk_tb(error.__traceback__) if frame.f_code.co_filename == _OWN]
    return f" (line {lines[-1]})" if lines else ""
