"""The application: its table of commands, and the only place where exceptions become text.

Commands are imported when they are asked for, so that `export` does not pay for the others.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any

import typer

from streamt_ol import __version__
from streamt_ol.cli import exits
from streamt_ol.cli.output import Output, ReaderGoneError
from streamt_ol.problems import ENDED_BY_SIGNAL, INVALID, USAGE, StreamtOlError, Terminated
from streamt_ol.redaction import one_line

COMMANDS: dict[str, str] = {
    "apply": "streamt_ol.cli.apply:streamt_apply",
    "check": "streamt_ol.cli.check:check",
    "diff": "streamt_ol.cli.diff:diff",
    "export": "streamt_ol.cli.export:export",
    "forward": "streamt_ol.cli.forward:forward",
    "graph": "streamt_ol.cli.graph:graph",
    "run": "streamt_ol.cli.run:run",
    "schemas": "streamt_ol.cli.schemas:schemas",
    "send": "streamt_ol.cli.send:send",
    "stage": "streamt_ol.cli.stage:stage",
    "test": "streamt_ol.cli.test:streamt_test",
    "validate": "streamt_ol.cli.validate:validate",
}
# Commands around a child add little to its time, and collect garbage only while it runs.
AROUND_A_CHILD = ("apply", "run", "test")
HELP = {"help_option_names": ["-h", "--help"]}
EPIPE_STATUS = 1
MESSAGE_LIMIT = 500


class OutputFormat(StrEnum):
    """The choices of the global option ``--output``."""

    TEXT = "text"
    JSON = "json"


def run(arguments: Sequence[str]) -> int:
    """Run one command line (without the program's name) and return its exit status.

    0 done; 1 refused or invalid; 2 the command line itself was wrong; 130 interrupted.
    """
    output = Output()
    output.json, output.command = before_the_command(arguments)
    try:
        try:
            return _invoke(arguments, output)
        except StreamtOlError as error:
            output.error(_with_hint(error, output.command))
            return exits.of_code(error.code)
    except ReaderGoneError:
        return exits.DONE
    except StreamtOlError as error:  # stdout failed while it was told of another error
        output.error(error)
        return exits.REFUSED


def interrupted(arguments: Sequence[str]) -> int:
    """Tell that a command line was interrupted before it ran, and return the exit status."""
    output = Output()
    output.json, output.command = before_the_command(arguments)
    _tell_of_signal(output, signal.SIGINT)
    return exits.INTERRUPTED


def _invoke(arguments: Sequence[str], output: Output) -> int:
    try:
        command = typer.main.get_command(build(output.command))
        output.flags = flags_of(command, output.command)
        status = command.main(
            args=list(arguments), prog_name="streamt-ol", standalone_mode=False, obj=output
        )
    except (KeyboardInterrupt, typer.Abort):
        status = exits.INTERRUPTED
    except Terminated as ended:
        _tell_of_signal(output, exits.signal_of(ended.code))
        raise
    except typer.TyperException as error:
        if error.format_message() or output.json:
            raise _usage_error(error) from None
        return exits.USAGE  # typer has printed the help of a line without a command
    except OSError as error:  # typer itself writes help and version
        message = f"cannot write to standard output: {error.strerror}"
        output.stdout_failed()
        raise StreamtOlError(INVALID, message, location="stdout") from None
    except SystemExit as leaving:
        if leaving.code == EPIPE_STATUS:  # how typer ends when the reader of its help has gone
            raise ReaderGoneError from None
        raise
    if status == exits.INTERRUPTED:  # typer makes this status of Ctrl-C
        _tell_of_signal(output, signal.SIGINT)
    return status if isinstance(status, int) else exits.DONE


def _tell_of_signal(output: Output, number: int) -> None:
    """Write the envelope of a command that a signal ended before it wrote anything.

    The envelope of a command around a child is the child's own.
    """
    if output.json and not output.started and output.command not in AROUND_A_CHILD:
        name = signal.Signals(number).name
        output.error(StreamtOlError(ENDED_BY_SIGNAL, f"the command was ended by {name}"))


def _usage_error(error: typer.TyperException) -> StreamtOlError:
    """Return the error about a command line that cannot be parsed."""
    if getattr(error, "option_name", None) == "--output":
        return StreamtOlError(
            USAGE,
            "the option --output stands before the command",
            suggestion="streamt-ol --output json COMMAND",
        )
    message = one_line(error.format_message(), MESSAGE_LIMIT)
    return StreamtOlError(USAGE, message or "no command is given")


def _with_hint(error: StreamtOlError, command: str) -> StreamtOlError:
    """Return ``error``; one about the command line always has a hint."""
    if error.code == USAGE and error.suggestion is None:
        words = ("streamt-ol", *([command] if command in COMMANDS else ()), "--help")
        error.suggestion = f"see `{' '.join(words)}`"
    return error


def flags_of(application: Any, name: str) -> dict[str, str]:
    """Return the flag of each option of the command ``name``, e.g. ``url`` is ``--url``."""
    command = getattr(application, "commands", {}).get(name)
    flags = [flag for parameter in getattr(command, "params", ()) for flag in parameter.opts]
    return {flag.lstrip("-").replace("-", "_"): flag for flag in flags if flag.startswith("--")}


def before_the_command(arguments: Sequence[str]) -> tuple[bool, str]:
    """Return whether JSON is asked for, and the first word that names a command, or ``""``.

    Both are needed before the line is parsed: to import only that command, and to show a line
    that cannot be parsed in the form that was asked for.
    """
    json = False
    words = iter(arguments)
    for word in words:
        option, _, value = word.partition("=")
        if option == "--output":
            json = (value or next(words, "")) == OutputFormat.JSON
        elif not word.startswith("-"):
            return json, word
    return json, ""


def build(only: str = "") -> typer.Typer:
    """Build the application with the one command ``only``, or with all for any other name."""
    app = typer.Typer(
        no_args_is_help=True,
        # Its two options stand beside --help; a command's own line needs neither.
        add_completion=only not in COMMANDS,
        pretty_exceptions_enable=False,
        callback=_globals,
        context_settings=HELP,
    )
    for name in [only] if only in COMMANDS else COMMANDS:
        module, _, function = COMMANDS[name].partition(":")
        imported = import_module(module)
        # A command around another one parses its arguments in a way of its own.
        parsing = getattr(imported, "PARSING", {})
        settings = {**HELP, **parsing.get("context_settings", {})}
        app.command(name, **{**parsing, "context_settings": settings})(getattr(imported, function))
    return app


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"streamt-ol {__version__}")
        raise typer.Exit


def _globals(
    context: typer.Context,
    output: Annotated[
        OutputFormat,
        typer.Option(help="How results are printed: text, or one JSON envelope on stdout."),
    ] = OutputFormat.TEXT,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Trustworthy OpenLineage for streamt projects."""
    context.obj.json = output is OutputFormat.JSON
