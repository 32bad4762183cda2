"""The application: one command line, and the only place where exceptions become text."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import NamedTuple

from streamt_ol.cli import exits, plain
from streamt_ol.cli.commands import AROUND_A_CHILD, COMMANDS, load
from streamt_ol.cli.output import Output
from streamt_ol.cli.parameters import COMPLETION, OUTPUT, Context, declared, flags_of
from streamt_ol.problems import ENDED_BY_SIGNAL, INVALID, USAGE, StreamtOlError, Terminated

FORMATS = ("text", "json")


def run(arguments: Sequence[str]) -> int:
    """Run one command line (without the program's name) and return its exit status.

    0 done; 1 refused or invalid; 2 the command line itself was wrong; 130 interrupted; around a
    child its own, and -n where signal n is to end this process as it ended the child.
    """
    output = Output()
    line = before_the_command(arguments)
    output.json, output.command = line.json, line.command
    try:
        try:
            return _invoke(line, arguments, output)
        except StreamtOlError as error:
            output.error(_with_hint(error, output.command))
            return exits.of_code(error.code)
    except StreamtOlError as error:  # stdout failed while it was told of another error
        output.error(error)
        return exits.REFUSED


def interrupted(arguments: Sequence[str]) -> int:
    """Tell that a command line was interrupted before it ran, and return the exit status."""
    output = Output()
    output.json, output.command, _ = before_the_command(arguments)
    _tell_of_signal(output, signal.SIGINT)
    return exits.INTERRUPTED


def _invoke(line: Line, arguments: Sequence[str], output: Output) -> int:
    try:
        status = _called(line, arguments, output)
    except KeyboardInterrupt:
        status = exits.INTERRUPTED
    except Terminated as ended:
        _tell_of_signal(output, exits.signal_of(ended.code))
        raise
    except OSError as error:  # typer itself writes help and version
        message = f"cannot write to standard output: {error.strerror}"
        output.stdout_failed()
        raise StreamtOlError(INVALID, message, location="stdout") from None
    if status == exits.INTERRUPTED:  # typer makes this status of Ctrl-C
        _tell_of_signal(output, signal.SIGINT)
    return status if isinstance(status, int) else exits.DONE


def _called(line: Line, arguments: Sequence[str], output: Output) -> int | None:
    """Call the command of a line: of a plain one at once, of any other through typer."""
    if line.command in COMMANDS:
        command, parsing = load(line.command)
        parameters = declared(command)
        output.flags = flags_of(parameters)
        if line.words is not None and COMPLETION not in os.environ:
            values = plain.read(parameters, parsing, line.words)
            if values is not None:
                status: int | None = command(Context(output), **values)
                return status
    from streamt_ol.cli import typer_app

    return typer_app.invoke(arguments, output)


def _tell_of_signal(output: Output, number: int) -> None:
    """Write the envelope of a command that a signal ended before it wrote anything.

    The envelope of a command around a child is the child's own.
    """
    if output.json and not output.started and output.command not in AROUND_A_CHILD:
        name = signal.Signals(number).name
        output.error(StreamtOlError(ENDED_BY_SIGNAL, f"the command was ended by {name}"))


def _with_hint(error: StreamtOlError, command: str) -> StreamtOlError:
    """Return ``error``; one about the command line always has a hint."""
    if error.code == USAGE and error.suggestion is None:
        words = ("streamt-ol", *([command] if command in COMMANDS else ()), "--help")
        error.suggestion = f"see `{' '.join(words)}`"
    return error


class Line(NamedTuple):
    """A command line as far as it is known before it is parsed."""

    json: bool  # the envelope is asked for
    command: str  # the first word that may name a command, or ""
    words: list[str] | None  # what follows it; None where more than --output stands before it


def before_the_command(arguments: Sequence[str]) -> Line:
    """Return what is needed before the line is parsed.

    That is to import only its command, and to show a line that cannot be parsed in the form that
    was asked for.
    """
    json, is_plain = False, True
    words = iter(arguments)
    for word in words:
        option, mark, value = word.partition("=")
        if option == OUTPUT:
            form = value if mark else next(words, "")
            json, is_plain = form == "json", is_plain and form in FORMATS
        elif word.startswith("-"):
            is_plain = False
        else:
            return Line(json, word, list(words) if is_plain else None)
    return Line(json, "", None)
