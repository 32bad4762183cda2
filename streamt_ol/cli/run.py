"""`streamt-ol run`: any finite command as one run, with its exit status."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from streamt_ol.cli import child
from streamt_ol.problems import USAGE, StreamtOlError

if TYPE_CHECKING:
    from streamt_ol.cli.output import Output

# The rules for events of streamt's own producer hold only for streamt's jobs and datasets.
PRODUCER = "urn:streamt-ol:run"
INTEGRATION = "STREAMT_OL"
_PAIRED = ("--input", "--output")
_SEPARATOR = "\0"  # which no argument of a process can hold


class PairingCommand(TyperCommand):
    """Lets ``--input`` and ``--output`` take two words each, any number of times."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse ``args`` with the two words of a pair joined into one."""
        return super().parse_args(ctx, paired(args))


PARSING = {"cls": PairingCommand, "context_settings": {"allow_interspersed_args": False}}


def paired(words: list[str]) -> list[str]:
    """Return ``words`` with the values of ``--input`` and ``--output`` joined, two into one.

    Every option before the command takes one value or stands alone. Raises E500 where the
    second word of a pair is missing.
    """
    done: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "--":
        option = rest.pop(0)
        done.append(option)
        if option in _PAIRED:
            if len(rest) < 2 or "--" in rest[:2]:  # noqa: PLR2004 - a namespace and a name
                raise StreamtOlError(
                    USAGE, f"{option} takes two words: NAMESPACE NAME", location=option
                )
            done.append(_SEPARATOR.join(rest[:2]))
            del rest[:2]
        elif rest and "=" not in option and option != "--help":
            done.append(rest.pop(0))
    return done + rest


def run(
    context: typer.Context,
    job_name: Annotated[str, typer.Option(metavar="NAME", help="Name of the job.")],
    job_namespace: Annotated[
        str | None,
        typer.Option(
            metavar="NAMESPACE",
            help="Namespace of the job; required here or as OPENLINEAGE_NAMESPACE.",
        ),
    ] = None,
    job_type: Annotated[
        str, typer.Option(metavar="TYPE", help="The jobType of the job's facet.")
    ] = "COMMAND",
    input: Annotated[  # noqa: A002 - the option's name
        list[str] | None,
        typer.Option(
            metavar="NAMESPACE NAME", help="A dataset that the command reads. Repeatable."
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMESPACE NAME", help="A dataset that the command writes. Repeatable."
        ),
    ] = None,
    producer: Annotated[
        str, typer.Option(metavar="URI", help="The producer that the events name.")
    ] = PRODUCER,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND [ARGUMENT...]", help="The command to run."),
    ] = None,
) -> int:
    """Run a finite command and report it as one run.

    START goes out before the command starts, then COMPLETE, FAIL or ABORT. Its streams and its
    exit status are untouched; it runs also when no event can be delivered.
    """
    if not command:
        raise StreamtOlError(
            USAGE, "no command is given", suggestion="streamt-ol run OPTIONS... -- COMMAND"
        )
    from streamt_ol.cli import emission
    from streamt_ol.export.environment import with_environment
    from streamt_ol.resolution.settings import Namespaces
    from streamt_ol.runs import Dataset, Job, RunSpec

    emission.check_transport()
    namespaces = Namespaces(with_environment({"job_namespace": job_namespace}, os.environ), None)
    spec = RunSpec(
        Job(namespaces.job, job_name, integration=INTEGRATION, job_type=job_type),
        inputs=tuple(Dataset(*_pair(one)) for one in input or ()),
        outputs=tuple(Dataset(*_pair(one)) for one in output or ()),
        producer=producer,
    )
    out: Output = context.obj
    return child.status_of(emission.report_child(spec, command, out), command[0], out)


def _pair(joined: str) -> list[str]:
    words = joined.split(_SEPARATOR)
    if len(words) != 2:  # noqa: PLR2004 - given as --input=WORD
        raise StreamtOlError(USAGE, "a dataset takes two words: NAMESPACE NAME")
    return words
