"""The declaration of a command's options and arguments: without typer, which takes long to import.

A command is a function whose parameters are annotated with `option` or `argument`, their settings
being those of typer. Two readers work from that one declaration: ``plain`` reads the usual line,
``typer_app`` gives help and errors, and reads everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FunctionType

    from streamt_ol.cli.output import Output

    Command = FunctionType

HELP = ("-h", "--help")
OUTPUT = "--output"  # the global option
COMPLETION = "_STREAMT_OL_COMPLETE"  # the variable by which a shell asks for completions


class Context:
    """The first argument of every command: the output, as ``obj``."""

    def __init__(self, obj: Output) -> None:
        self.obj = obj


class Parameter:
    """An option or an argument as it is declared: its flags, and the settings for typer."""

    def __init__(
        self, flags: tuple[str, ...] | None, settings: dict[str, Any], choices: Iterable[str] = ()
    ) -> None:
        self.flags = flags  # None for an argument; empty for an option called as its parameter is
        self.settings = settings
        self.choices = tuple(choices)


def option(*flags: str, choices: Iterable[str] = (), **settings: Any) -> Parameter:
    """Return an option of a command; its value is one of ``choices``, where there are some."""
    return Parameter(flags, settings, choices)


def argument(**settings: Any) -> Parameter:
    """Return an argument of a command."""
    return Parameter(None, settings)


class Declaration(NamedTuple):
    """A parameter of a command: its type, its flags (an argument has none), its settings."""

    kind: Any
    flags: tuple[str, ...]
    settings: dict[str, Any]
    choices: tuple[str, ...]
    required: bool


def declared(command: Command) -> dict[str, Declaration]:
    """Return the declaration of each parameter of ``command`` but the first, by its name."""
    defaults = len(command.__defaults__ or ())
    names = command.__code__.co_varnames[1 : command.__code__.co_argcount]
    hints = get_type_hints(command, include_extras=True)
    found = {}
    for at, name in enumerate(names):
        kind, one = hints[name].__origin__, hints[name].__metadata__[0]
        flags = (f"--{name.replace('_', '-')}",) if one.flags == () else one.flags or ()
        required = at < len(names) - defaults
        found[name] = Declaration(kind, flags, one.settings, one.choices, required)
    return found


def flags_of(parameters: dict[str, Declaration]) -> dict[str, str]:
    """Return the long flag of each option by the name of its parameter, e.g. ``--url`` of url."""
    return {
        name: next(flag for flag in one.flags if flag.startswith("--"))
        for name, one in parameters.items()
        if one.flags
    }


class Parsing(NamedTuple):
    """The way in which the words of a command are read."""

    interspersed: bool = True  # options may stand behind arguments
    passes_on: bool = False  # options that are unknown are arguments
    prepare: Callable[[list[str]], list[str]] = list  # what is done to the words first
