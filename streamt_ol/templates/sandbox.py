"""Rendering of templates that nobody has reviewed: strict, sandboxed, bounded.

Jinja's own sandbox keeps a template away from Python; it bounds neither time nor memory. Here
every loop iteration, macro call and included template spends steps of a budget, and every
operation spends the weight of its operands (and of its result, where that may be longer) before
it is carried out. The budget counts work and not seconds, so that a template gives the same
result on every machine.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from functools import update_wrapper
from json import JSONEncoder
from types import BuiltinMethodType, CodeType
from typing import TYPE_CHECKING, Any

from jinja2 import (
    BytecodeCache,
    FunctionLoader,
    StrictUndefined,
    Template,
    Undefined,
    nodes,
)
from jinja2.bccache import Bucket
from jinja2.ext import Extension
from jinja2.filters import make_attrgetter
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import htmlsafe_json_dumps

from streamt_ol.problems import INVALID, StreamtOlError
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
from streamt_ol.templates.faults import BadCallError, fault_message
from streamt_ol.templates.plain import Call, CallKind, table_word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jinja2.lexer import Token, TokenStream
    from jinja2.runtime import Context

MAX_TEMPLATE = 1_000_000  # characters of one template
MAX_TOKENS = 20_000  # of Jinja's words and marks in one template; compiling takes 0.1 ms each
MAX_OUTPUT = 5_000_000  # characters rendered
MAX_INDENT = 100  # of JSON, for each level
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
# What may be long and is not weighed: it is gone through, and paid for, at once.
_UNWEIGHED = (range, KeysView, ValuesView, ItemsView)
_KINDS: tuple[CallKind, ...] = ("source", "ref")


Loaded = tuple[str, str, None] | None  # the text, the file's name, no test of its age


def _with_file_names(load: Callable[[str], str | None]) -> Callable[[str], Loaded]:
    """Return ``load`` as Jinja's loader wants it, so that a fault tells the file it is in."""

    def loaded(name: str) -> Loaded:
        text = load(name)
        return None if text is None else (text, f"macros/{name}", None)

    return loaded


class _BoundedTokens(Extension):
    """Refuses templates with so many tokens that compiling them takes long."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for number, token in enumerate(stream):
            if number >= MAX_TOKENS:
                raise BudgetSpentError("it is too long")
            yield token


class _BoundedEnvironment(SandboxedEnvironment):
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def __init__(self, load: Callable[[str], str | None]) -> None:
        self.budget = Budget()
        self.calls: list[Call] = []
        self.recorders: dict[str, object] = {kind: self._recorder(kind) for kind in _KINDS}
        super().__init__(
            loader=FunctionLoader(_with_file_names(load)),
            undefined=StrictUndefined,
            autoescape=False,
            finalize=self.weighed,
            auto_reload=False,
            bytecode_cache=_CodeInMemory(),
            extensions=[_BoundedTokens],
        )
        self.filters = {name: self._charged(name, self.filters[name]) for name in _FILTERS}
        self.filters |= {"join": self._join, "sum": self._sum, "tojson": self._tojson}
        self.tests = {name: self._charged(name, test) for name, test in self.tests.items()}
        self.globals = {name: self.globals[name] for name in _GLOBALS} | self.recorders

    def start(self) -> None:
        """Begin a rendering: a new budget, no calls, no module that an earlier one has run."""
        self.budget, self.calls = Budget(), []
        if self.cache is not None:
            self.cache.clear()

    def _recorder(self, kind: CallKind) -> Callable[..., str]:
        def record(*args: object, **kwargs: object) -> str:
            if args and isinstance(args[0], Undefined):
                str(args[0])  # which raises what names it
            if len(args) != 1 or kwargs or not isinstance(args[0], str) or not args[0].strip():
                raise BadCallError
            self.calls.append(Call(kind, args[0]))
            return table_word(args[0])

        return record

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
        args = tuple(map(__self._paid, args))
        kwargs = {key: __self._paid(value) for key, value in kwargs.items()}
        owner = getattr(__obj, "__self__", None)
        # Text that is marked as safe has methods written in Python.
        if not isinstance(__obj, BuiltinMethodType) and not isinstance(owner, str):
            return super().call(__context, __obj, *args, **kwargs)
        __self.weighed(owner)
        args = tuple(list(arg) if isinstance(arg, Iterator) else arg for arg in args)
        predict = METHOD_SIZES.get(__obj.__name__)
        if predict and isinstance(owner, str):
            __self.budget.spend(predict(owner, *args, **kwargs))
        return __self.weighed(super().call(__context, __obj, *args, **kwargs))

    def _charged(self, name: str, function: Any) -> Callable[..., Any]:
        """Return a filter or test that pays for its arguments and for a longer result."""
        given = 1 if hasattr(function, "jinja_pass_arg") else 0
        predict = FILTER_SIZES.get(name)

        def charged(*args: Any, **kwargs: Any) -> Any:
            values = [self._paid(value) for value in args[given:]]
            kwargs = {key: self._paid(value) for key, value in kwargs.items()}
            if predict:
                self.budget.spend(predict(*values, **kwargs))
            if name == "format":
                self.budget.spend(percent_size(str(values[0])) * self.budget.weigh([args, kwargs]))
            return function(*args[:given], *values, **kwargs)

        return update_wrapper(charged, function)

    def _paid(self, value: Any) -> Any:
        """Return an operand that is paid for: at once, or item by item while it is gone through."""
        if isinstance(value, Iterator):
            return self._counted(value)
        if isinstance(value, _UNWEIGHED):
            return list(self._counted(value))
        return self.weighed(value)

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

    def _tojson(self, value: Any, indent: int | str | None = None) -> str:
        if isinstance(value, Undefined):
            str(value)  # which raises what names it
        self.weighed(value)
        if size_of(indent) > MAX_INDENT:
            raise BudgetSpentError("it indents too far")
        pieces = []
        for piece in JSONEncoder(indent=indent, sort_keys=True).iterencode(value):
            self.budget.spend(len(piece))
            pieces.append(piece)
        return htmlsafe_json_dumps("".join(pieces), dumps=lambda text: text)


class Sandbox:
    """Renders templates that may load others through ``load``; compiles each text once."""

    def __init__(self, load: Callable[[str], str | None]) -> None:
        self._environment = _BoundedEnvironment(load)
        self._compiled: dict[tuple[str, str | None], CodeType] = {}

    def render(
        self,
        template: str,
        params: Mapping[str, object],
        location: str | None,
        file: str | None = None,
    ) -> tuple[str, list[Call]]:
        """Return what ``template`` gives and the calls made; see ``streamt_ol.templates``."""
        self._environment.start()
        # A param cannot replace a call.
        names: dict[str, object] = {**params, **self._environment.recorders}
        try:
            text = self._output(template, file, names)
        except StreamtOlError:  # of a file that cannot be loaded
            raise
        except Exception as error:  # noqa: BLE001 - a template's expressions can raise anything
            raise StreamtOlError(INVALID, fault_message(error), location=location) from None
        return text, self._environment.calls

    def _output(self, template: str, file: str | None, names: Mapping[str, object]) -> str:
        environment = self._environment
        code = self._compiled.get((template, file))
        if code is None:
            code = environment.compile(template, filename=file)
            self._compiled[template, file] = code
        pieces: list[str] = []
        length = 0
        made = Template.from_code(environment, code, environment.make_globals(None))
        for piece in made.generate(names):
            length += len(piece)
            if length > MAX_OUTPUT:
                raise BudgetSpentError("it makes too much text")
            pieces.append(piece)
        return "".join(pieces)


class _CodeInMemory(BytecodeCache):
    """The compiled code of loaded templates, for as long as the sandbox lives."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key, bucket.checksum] = bucket.code
