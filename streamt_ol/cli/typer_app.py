"""The command line as typer reads it: help, completion, usage errors, and lines that are unusual.

Imported only where one of those is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from operator import getitem
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from streamt_ol import __version__
from streamt_ol.cli import exits
from streamt_ol.cli.commands import COMMANDS, load
from streamt_ol.cli.output import Output
from streamt_ol.cli.parameters import COMPLETION, HELP, OUTPUT, declared
from streamt_ol.problems import USAGE, StreamtOlError
from streamt_ol.redaction import one_line

if TYPE_CHECKING:
    from streamt_ol.cli.parameters import Command

MESSAGE_LIMIT = 500


class OutputFormat(StrEnum):
    """The choices of the global option ``--output``."""

    TEXT = "text"
    JSON = "json"


def invoke(arguments: Sequence[str], output: Output) -> int | None:
    """Run one command line and return its status. Raises E500 for one that is wrong."""
    if COMPLETION in os.environ:
        os.environ["COLUMNS"] = "10000"  # typer folds descriptions, and fish takes lines for words
    try:
        command = typer.main.get_command(build(output.command))
        status: int | None = command.main(
            args=list(arguments), prog_name="streamt-ol", standalone_mode=False, obj=output
        )
    except typer.Abort:
        return exits.INTERRUPTED
    except typer.TyperException as error:
        if error.format_message() or output.json:
            raise _usage_error(error) from None
        return exits.USAGE  # typer has printed the help of a line without a command
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # the reader of typer's help has gone
            return exits.DONE
        raise
    return status


def _usage_error(error: typer.TyperException) -> StreamtOlError:
    """Return the error about a command line that cannot be parsed."""
    of_command = getattr(getattr(error, "ctx", None), "parent", None) is not None
    if of_command and getattr(error, "option_name", None) == OUTPUT:
        return StreamtOlError(
            USAGE,
            f"the option {OUTPUT} stands before the command",
            suggestion=f"streamt-ol {OUTPUT} json COMMAND",
        )
    message = one_line(error.format_message(), MESSAGE_LIMIT)
    return StreamtOlError(USAGE, message or "no command is given")


def build(only: str = "") -> typer.Typer:
    """Build the application with the one command ``only``, or with all for any other name."""
    app = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,  # whose tables cut names of options on a terminal of 80 columns
        # Its two options stand beside --help; a command's own line needs neither.
        add_completion=only not in COMMANDS,
        pretty_exceptions_enable=False,
        callback=_globals,
        context_settings={"help_option_names": list(HELP)},
    )
    for name in [only] if only in COMMANDS else COMMANDS:
        command, parsing = load(name)
        settings = {
            "help_option_names": list(HELP),
            "allow_interspersed_args": parsing.interspersed,
            "ignore_unknown_options": parsing.passes_on,
        }
        with_words = type("Command", (_Command,), {"prepare": staticmethod(parsing.prepare)})
        summary = (command.__doc__ or "").partition("\n")[0]
        app.command(name, cls=with_words, short_help=summary, context_settings=settings)(
            _typed(command)
        )
    return app


class _Command(TyperCommand):
    """A command whose words are prepared before they are parsed, and whose help is plain text."""

    prepare: Callable[[list[str]], list[str]]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self.prepare(args))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by their groups."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                kind = f"{parameter.param_type_name}s".capitalize()
                group = getattr(parameter, "rich_help_panel", None) or kind
                groups.setdefault(group, []).append(record)
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)


def _typed(command: Command) -> Command:
    """Return ``command`` with typer's own declarations in the place of ours."""
    copied = FunctionType(
        command.__code__, command.__globals__, command.__name__, command.__defaults__
    )
    hints = {**get_type_hints(command), "context": typer.Context}
    for name, one in declared(command).items():
        settings = {**one.settings, **(_choice(one.choices) if one.choices else {})}
        if one.kind in (Path, Path | None):
            settings["callback"] = _file_name
        info = (typer.Option if one.flags else typer.Argument)(*one.flags, **settings)
        hints[name] = getitem(Annotated, (one.kind, info))
    copied.__annotations__ = hints
    copied.__doc__ = command.__doc__
    return copied


def _file_name(path: Path | None) -> Path | None:
    """Return the value of an option that names a file; an empty one would be this folder."""
    if path == Path():
        raise typer.BadParameter("the value is empty or '.', which is not the name of a file")
    return path


def _choice(names: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings of an option whose value is one of ``names``."""

    def parsed(text: str) -> str:
        if text in names:
            return text
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, names))}.")

    return {
        "parser": parsed,
        "metavar": f"<{'|'.join(names)}>",
        "autocompletion": lambda: list(names),
    }


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"streamt-ol {__version__}")
        raise typer.Exit


def _globals(
    context: typer.Context,
    output: Annotated[
        OutputFormat,
        typer.Option(OUTPUT, help="How results are printed: text, or one JSON envelope on stdout."),
    ] = OutputFormat.TEXT,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Trustworthy OpenLineage for streamt projects."""
    context.obj.json = output is OutputFormat.JSON
