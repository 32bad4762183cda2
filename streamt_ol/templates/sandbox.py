"""Rendering of templates that nobody has reviewed: strict, sandboxed, bounded.

Jinja's own sandbox keeps a template away from Python; it bounds neither time nor memory. Here
every loop iteration, macro call and included template spends steps of a budget, and every
operation spends the weight of its operands (and of its result, where that may be longer) before
it is carried out. The budget counts work and not seconds, so that a template gives the same
result on every machine.
"""

from __future__ import annotations

import re
from functools import update_wrapper
from traceback import walk_tb
from types import BuiltinMethodType
from typing import TYPE_CHECKING, Any

from jinja2 import FunctionLoader, StrictUndefined, TemplateNotFound, Undefined, nodes
from jinja2.exceptions import SecurityError, TemplateSyntaxError, UndefinedError
from jinja2.filters import make_attrgetter
from jinja2.sandbox import SandboxedEnvironment

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.templates.budget import (
    FILTER_SIZES,
    METHOD_SIZES,
    Budget,
    BudgetSpentError,
    CountedNodes,
    format_size,
    percent_size,
    size_of,
)
from streamt_ol.templates.plain import Call, table_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from jinja2.runtime import Context

    from streamt_ol.templates.plain import CallKind

MAX_TEMPLATE = 1_000_000  # characters of one template
MAX_OUTPUT = 5_000_000  # characters rendered
# fmt: off
_FILTERS = (
    "abs", "batch", "capitalize", "center", "count", "d", "default", "dictsort", "first", "float",
    "format", "groupby", "indent", "int", "items", "join", "last", "length", "list", "lower",
    "map", "max", "min", "reject", "rejectattr", "replace", "reverse", "round", "safe", "select",
    "selectattr", "slice", "sort", "string", "sum", "title", "trim", "truncate", "unique",
    "upper", "wordcount",
)
# fmt: on
_GLOBALS = ("range", "dict", "namespace", "joiner", "cycler")
_REFUSED_METHODS = frozenset({"encode", "translate", "maketrans", "format_map"})
_OWN = "<template>"


class _BadCallError(Exception):
    """``source()`` or ``ref()`` was called with something other than one name."""


class _BoundedEnvironment(SandboxedEnvironment):
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def __init__(self, load: Callable[[str], str | None], budget: Budget) -> None:
        self.budget = budget
        super().__init__(
            loader=FunctionLoader(load),
            undefined=StrictUndefined,
            autoescape=False,
            finalize=self.weighed,
            auto_reload=False,
        )
        self.filters = {name: self._charged(name, self.filters[name]) for name in _FILTERS}
        self.filters |= {"join": self._join, "sum": self._sum}
        self.tests = {name: self._charged(name, test) for name, test in self.tests.items()}
        self.globals = {name: self.globals[name] for name in _GLOBALS}

    # The next three are called through the nodes that CountedNodes puts into a template.
    def step(self, cost: int) -> bool:
        return self.budget.step(cost)

    def weighed(self, value: Any) -> Any:
        self.budget.spend(self.budget.weigh(value))
        return value

    def joined(self, *values: Any) -> str:
        return "".join(str(self.weighed(value)) for value in values)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        if len(source) > MAX_TEMPLATE:
            raise BudgetSpentError("it is too long")
        template = CountedNodes().visit(super()._parse(source, name, filename))
        assert isinstance(template, nodes.Template)
        return template

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return attr not in _REFUSED_METHODS and super().is_safe_attribute(obj, attr, value)

    def getitem(self, obj: Any, argument: Any) -> Any:
        return super().getitem(obj, self.weighed(argument))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        weights = [self.budget.weigh(left), self.budget.weigh(right)]
        if operator == "*":
            repeats = [size_of(side) for side in (left, right) if isinstance(side, int)]
            both_numbers = len(repeats) == len(weights)
            self.budget.spend(0 if both_numbers else sum(weights) * sum(repeats))
        elif operator == "**" and (size_of(right) > 64 or size_of(left) > 1_000_000):  # noqa: PLR2004
            raise BudgetSpentError("it computes with too large a number")
        elif operator == "%" and isinstance(left, str):
            self.budget.spend(percent_size(left) * weights[1])
        self.budget.spend(sum(weights))
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        wrapped = super().wrap_str_format(value)
        if wrapped is None:
            return None

        def formatted(*args: Any, **kwargs: Any) -> str:
            weight = self.budget.weigh([args, kwargs])
            self.budget.spend(format_size(value.__self__) * weight)
            return wrapped(*args, **kwargs)

        return update_wrapper(formatted, value)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 - as jinja2
        if getattr(__obj, "__self__", None) is __self:  # put in by CountedNodes
            return __obj(*args)
        __self.weighed(args)
        __self.weighed(kwargs)
        if not isinstance(__obj, BuiltinMethodType):
            return super().call(__context, __obj, *args, **kwargs)
        owner = __obj.__self__
        __self.weighed(owner)
        predict = METHOD_SIZES.get(__obj.__name__)
        if predict and isinstance(owner, str):
            __self.budget.spend(predict(owner, *args, **kwargs))
        return __self.weighed(super().call(__context, __obj, *args, **kwargs))

    def _charged(self, name: str, function: Any) -> Callable[..., Any]:
        """Return a filter or test that pays for its arguments and for a longer result."""
        given = 1 if hasattr(function, "jinja_pass_arg") else 0
        predict = FILTER_SIZES.get(name)

        def charged(*args: Any, **kwargs: Any) -> Any:
            values = [
                self._counted(value) if hasattr(value, "__next__") else self.weighed(value)
                for value in args[given:]
            ]
            self.weighed(kwargs)
            if predict:
                self.budget.spend(predict(*values, **kwargs))
            if name == "format":
                self.budget.spend(percent_size(str(values[0])) * self.budget.weigh([args, kwargs]))
            return function(*args[:given], *values, **kwargs)

        return update_wrapper(charged, function)

    def _counted(self, values: Any) -> Iterator[Any]:
        for value in values:
            self.budget.step(1)
            yield self.weighed(value)

    def _picked(self, value: Any, attribute: str | int | None) -> Iterator[Any]:
        picked = value if attribute is None else map(make_attrgetter(self, attribute), value)
        return self._counted(picked)

    def _join(self, value: Any, d: str = "", attribute: str | int | None = None) -> str:
        parts = [str(part) for part in self._picked(value, attribute)]
        self.budget.spend(len(parts) * len(str(d)))
        return str(d).join(parts)

    def _sum(self, value: Any, attribute: str | int | None = None, start: float = 0) -> float:
        numbers = list(self._picked(value, attribute))
        if not all(isinstance(number, int | float) for number in [start, *numbers]):
            raise TypeError("only numbers can be summed")
        return sum(numbers, start)


def render_bounded(
    template: str,
    params: Mapping[str, object],
    load: Callable[[str], str | None] | None,
    calls: list[Call],
    location: str | None,
) -> str:
    """Return what ``template`` gives, adding to ``calls``; see ``streamt_ol.templates.render``."""

    def recorder(kind: CallKind) -> Callable[..., str]:
        def record(*args: object, **kwargs: object) -> str:
            if args and isinstance(args[0], Undefined):
                str(args[0])  # which raises what names it
            if len(args) != 1 or kwargs or not isinstance(args[0], str) or not args[0].strip():
                raise _BadCallError
            calls.append(Call(kind, args[0]))
            return table_word(args[0])

        return record

    environment = _BoundedEnvironment(load or (lambda _: None), Budget())
    names = {**params, "source": recorder("source"), "ref": recorder("ref")}
    try:
        return _output(environment, template, names)
    except Exception as error:  # noqa: BLE001 - a template's expressions can raise anything
        raise StreamtOlError(INVALID, _message(error), location=location) from None


def _output(environment: _BoundedEnvironment, template: str, names: dict[str, object]) -> str:
    pieces: list[str] = []
    length = 0
    for piece in environment.from_string(template).generate(names):
        length += len(piece)
        if length > MAX_OUTPUT:
            raise BudgetSpentError("it makes too much text")
        pieces.append(piece)
    return "".join(pieces)


def _message(error: Exception) -> str:
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
    (_BadCallError, lambda _: "source() and ref() take one name, a text that is not blank"),
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
