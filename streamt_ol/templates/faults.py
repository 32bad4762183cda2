"""What to say when a template cannot be rendered, without quoting it."""

from __future__ import annotations

import re
from collections.abc import Callable
from traceback import walk_tb
from typing import Any

from jinja2 import TemplateNotFound
from jinja2.exceptions import (
    SecurityError,
    TemplateRuntimeError,
    TemplateSyntaxError,
    UndefinedError,
)

from streamt_ol.redaction import place, shown
from streamt_ol.templates.budget import BudgetSpentError

# The file names that Jinja gives to a template without one.
_NAMELESS = frozenset(("<template>", "<unknown>"))


class BadCallError(Exception):
    """``source()`` or ``ref()`` was called with something other than one name."""


def fault_message(error: Exception) -> str:
    """Return what went wrong, in words that quote a name of the template at most."""
    problem = next((says(error) for kind, says in _PROBLEMS if isinstance(error, kind)), None)
    if problem is None:
        problem = f"it fails with {type(error).__name__}"
    return f"the template cannot be rendered: {problem}{_place(error)}"


def _undefined(error: Any) -> str:
    found = re.search(r"'([A-Za-z_]\w{0,63})' is undefined", str(error.message))
    return f"{shown(found[1])} is not defined" if found else "it uses something undefined"


def _not_available(error: Any) -> str | None:
    """Return words for a filter or a test that Jinja, or the sandbox, does not have."""
    found = re.match(r"No (filter|test) named '([\w.]+)'", str(error.message))
    return f"the {found[1]} {shown(found[2])} is not available" if found else None


def _syntax(error: Any) -> str:
    return _not_available(error) or "its Jinja has a syntax error"


def _at_run_time(error: Any) -> str:
    return _not_available(error) or f"it fails with {type(error).__name__}"


_TOO_DEEP = "it is nested too deeply, or calls itself without end"
_PROBLEMS: tuple[tuple[type[Exception], Callable[[Any], str]], ...] = (
    (BudgetSpentError, str),
    (BadCallError, lambda _: "source() and ref() take one name, a text that is not blank"),
    (UndefinedError, _undefined),
    (SecurityError, lambda _: "it uses what the sandbox does not allow"),
    (TemplateNotFound, lambda e: f"there is no template {shown(e.name)} in macros/"),
    (TemplateSyntaxError, _syntax),
    (TemplateRuntimeError, _at_run_time),
    (RecursionError, lambda _: _TOO_DEEP),
    (SyntaxError, lambda _: _TOO_DEEP),
    (MemoryError, lambda _: _TOO_DEEP),
)


def _place(error: Exception) -> str:
    """Return where it failed, as Jinja's rewritten traceback tells it: a file's line, or a line.

    Of templates that load each other it is the innermost.
    """
    found = [
        (frame.f_code.co_filename, line)
        for frame, line in walk_tb(error.__traceback__)
        if "__jinja_exception__" in frame.f_globals
    ]
    if not found:
        return ""
    file, line = found[-1]
    return f" (line {line})" if file in _NAMELESS else f" ({place(file)}:{line})"
