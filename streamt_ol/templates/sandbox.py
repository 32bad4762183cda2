"""Jinja's own sandbox with the names that streamt gives to a template: the child's side.

The sandbox keeps a template away from Python and from files; time and memory are bounded by the
process (see ``streamt_ol.templates.limits``).
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any

from jinja2 import BytecodeCache, FunctionLoader, StrictUndefined, Template, Undefined
from jinja2.bccache import Bucket
from jinja2.sandbox import SandboxedEnvironment

from streamt_ol.templates.plain import Call, CallKind, table_word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import CodeType

MAX_OUTPUT = 5_000_000  # characters of one rendered text
_KINDS: tuple[CallKind, ...] = ("source", "ref")
# What differs from one rendering to the next has no place in SQL that is compiled.
_RANDOM_FILTER, _RANDOM_GLOBAL = "random", "lipsum"

Loaded = tuple[str, str, None] | None  # the text, the file's name, no test of its age


class BadCallError(Exception):
    """``source()`` or ``ref()`` was called with something other than one name."""


class TooLongError(Exception):
    """The rendered text is longer than ``MAX_OUTPUT``."""


class Marks:
    """The text that stands for each call while a template is rendered.

    It consists of digits, and so survives what a template does to the case of its output, and
    holds a number that no template can know. Only calls whose mark is in the output count.
    """

    def __init__(self) -> None:
        self._fence = f"{secrets.randbelow(10**18):018}"
        self._pattern = re.compile(rf"{self._fence}(\d{{9}}){self._fence}")
        self._numbers: dict[Call, int] = {}

    def function(self, kind: CallKind) -> Callable[..., str]:
        """Return what a template calls as ``source`` or ``ref``."""

        def mark(*args: object, **kwargs: object) -> str:
            if args and isinstance(args[0], Undefined):
                str(args[0])  # which raises what names it
            if len(args) != 1 or kwargs or not isinstance(args[0], str) or not args[0].strip():
                raise BadCallError
            call = Call(kind, str(args[0]))
            number = self._numbers.setdefault(call, len(self._numbers))
            return f"{self._fence}{number:09}{self._fence}"

        return mark

    def read(self, text: str) -> tuple[str, list[Call]]:
        """Return ``text`` with a word in the place of each mark, and the calls in their order."""
        known = list(self._numbers)
        found: list[Call] = []

        def word(match: re.Match[str]) -> str:
            found.append(known[int(match[1])])
            return table_word(found[-1].name)

        return self._pattern.sub(word, text), found

    def clear(self) -> None:
        """Forget the calls of the template before."""
        self._numbers.clear()


class Sandbox:
    """Renders templates that may load others through ``load``; compiles each file once."""

    def __init__(self, load: Callable[[str], str | None]) -> None:
        self._marks = Marks()
        self._functions: dict[str, object] = {kind: self._marks.function(kind) for kind in _KINDS}
        self._environment = _environment(load)
        self._environment.globals.pop(_RANDOM_GLOBAL)
        self._environment.globals.update(self._functions)
        self._compiled: dict[tuple[str, str], CodeType] = {}

    def compiled(self, template: str, file: str | None) -> CodeType:
        """Return the code of ``template``; that of a ``file`` is kept. Raises Jinja's errors."""
        if file is None:
            return self._environment.compile(template)
        code = self._compiled.get((template, file))
        if code is None:
            code = self._environment.compile(template, filename=file)
            self._compiled[template, file] = code
        return code

    def render(self, code: CodeType, params: Mapping[str, object]) -> tuple[str, list[Call]]:
        """Return what compiled ``code`` gives with ``params``, and the calls that are printed.

        Nothing stays from one rendering to the next. Raises whatever the template raises.
        """
        environment = self._environment
        if environment.cache is not None:
            environment.cache.clear()  # an imported module is run again
        self._marks.clear()
        made = Template.from_code(environment, code, environment.make_globals(None))
        pieces: list[str] = []
        length = 0
        for piece in made.generate({**params, **self._functions}):  # no param replaces a call
            length += len(piece)
            if length > MAX_OUTPUT:
                raise TooLongError
            pieces.append(piece)
        return self._marks.read("".join(pieces))


def _environment(load: Callable[[str], str | None]) -> SandboxedEnvironment:
    environment = SandboxedEnvironment(
        loader=FunctionLoader(_with_file_names(load)),
        undefined=StrictUndefined,
        autoescape=False,
        auto_reload=False,
        optimized=False,  # what an expression costs is paid where it can be told
        bytecode_cache=_CodeInMemory(),
    )
    to_json = environment.filters["tojson"]

    def checked_to_json(context: Any, value: Any, indent: int | None = None) -> Any:
        if isinstance(value, Undefined):
            str(value)  # which raises what names it
        return to_json(context, value, indent)

    checked_to_json.jinja_pass_arg = to_json.jinja_pass_arg  # type: ignore[attr-defined]
    environment.filters["tojson"] = checked_to_json
    del environment.filters[_RANDOM_FILTER]
    return environment


def _with_file_names(load: Callable[[str], str | None]) -> Callable[[str], Loaded]:
    """Return ``load`` as Jinja's loader wants it, so that a fault tells the file it is in."""

    def loaded(name: str) -> Loaded:
        text = load(name)
        return None if text is None else (text, f"macros/{name}", None)

    return loaded


class _CodeInMemory(BytecodeCache):
    """The compiled code of loaded templates, for as long as the sandbox lives."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key, bucket.checksum] = bucket.code
