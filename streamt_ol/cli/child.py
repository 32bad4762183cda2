"""Parts that commands around a child share: its command line, its start, and its exit status."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from streamt_ol.cli import exits
from streamt_ol.cli.parameters import Parsing, argument, option
from streamt_ol.problems import NOT_STARTED, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.runs.child import Ended, replace_process
from streamt_ol.runs.signals import ENDING

if TYPE_CHECKING:
    from streamt_ol.cli.output import Output

STREAMT = "streamt"  # the program that is run where no other is named
# Options that are not ours are streamt's.
PASS_ON = Parsing(passes_on=True)

Emit = Annotated[
    bool,
    option(
        "--emit-openlineage",
        help="Report the run. Without it nothing of OpenLineage is read: streamt is simply run.",
    ),
]
JobNamespace = Annotated[
    str | None,
    option(
        "--openlineage-job-namespace",
        metavar="NAMESPACE",
        help="Namespace of the job; required here or as OPENLINEAGE_NAMESPACE.",
    ),
]
KafkaNamespace = Annotated[
    str | None,
    option(
        "--openlineage-kafka-namespace",
        metavar="KAFKA-URI",
        help="kafka://HOST:PORT of topics; else STREAMT_OPENLINEAGE_KAFKA_NAMESPACE.",
    ),
]
GatewayNamespace = Annotated[
    str | None,
    option(
        "--openlineage-gateway-namespace",
        metavar="KAFKA-URI",
        help="kafka://HOST:PORT of virtual topics; else STREAMT_OPENLINEAGE_GATEWAY_NAMESPACE.",
    ),
]
Streamt = Annotated[str, option(metavar="PATH", help="The streamt program to run.")]
Manifest = Annotated[
    Path | None,
    option(metavar="FILE", help="The compiled manifest.json, instead of the project."),
]
ProjectDir = Annotated[
    str | None,
    option("--project-dir", "-p", metavar="DIR", help="Handed to streamt: the project."),
]
Environment = Annotated[str | None, option("--env", "-e", metavar="ENV", help="Handed to streamt.")]
More = Annotated[
    list[str] | None,
    argument(metavar="-- ARGUMENT...", help="More arguments, handed to streamt as they are."),
]


def options(**given: str | None) -> list[str]:
    """Return ``--name value`` for every option that was given."""
    return [
        word
        for name, value in given.items()
        if value is not None
        for word in (f"--{name.replace('_', '-')}", value)
    ]


def streamt_line(
    streamt: str, output: Output, command: str, own: list[str], more: list[str] | None
) -> list[str]:
    """Return the command line of streamt; with ``--output json`` the envelope is streamt's."""
    mode = ["--output", "json"] if output.json else []
    return [streamt, *mode, command, *own, *(more or [])]


def _hint(flag: str | None) -> str | None:
    return None if flag is None else f"install streamt, or name its program with {flag} PATH"


def become(arguments: list[str], output: Output) -> int:
    """Become the child. Returns an exit status only when it could not be started."""
    return status_of(replace_process(arguments, os.environ), arguments[0], output)


def status_of(ended: Ended, program: str, output: Output, *, streamt: bool = False) -> int:
    """Return the exit status of a child; one that could not be started is an error (E507).

    Where a signal that asks for an end killed the child the status is -n: we die by it, too.
    Another signal is about the child alone: its crash is not ours. After Ctrl-C ``streamt`` ends
    with 130, whatever it made of it.
    """
    if streamt and ended.interrupted:
        return exits.INTERRUPTED
    if ended.killed_by is not None and ended.killed_by in ENDING:
        return -ended.killed_by
    if ended.not_started is not None:
        output.error(
            StreamtOlError(
                NOT_STARTED,
                f"cannot start {shown(program, 400)}: {ended.not_started}",
                suggestion=_hint(output.flags.get("streamt")) if program == STREAMT else None,
            )
        )
    return ended.exit_status
