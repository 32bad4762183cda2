"""`streamt-ol run`: any finite command as one run, with its exit status."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

from streamt_ol.cli import child
from streamt_ol.cli.options import JOB_NAMESPACE
from streamt_ol.cli.parameters import Context, Parsing, argument, option
from streamt_ol.problems import USAGE, Location, StreamtOlError

if TYPE_CHECKING:
    from streamt_ol.cli.output import Output
    from streamt_ol.runs import Parent

# The rules for events of streamt's own producer hold only for streamt's jobs and datasets.
PRODUCER = "urn:streamt-ol:run"
INTEGRATION = "STREAMT_OL"
PARENT_VARIABLE = "OPENLINEAGE_PARENT_ID"
# The options that take several words.
_WORDS = {
    "--input": ("NAMESPACE", "NAME"),
    "--output": ("NAMESPACE", "NAME"),
    "--parent": ("NAMESPACE", "NAME", "RUNID"),
}
_COUNTS = {2: "two", 3: "three"}
_SEPARATOR = "\0"  # which no argument of a process can hold


def joined(words: list[str]) -> list[str]:
    """Return ``words`` with the values of each option in ``_WORDS`` joined into one.

    Every other option before the command takes one value or none. Raises E500 where a
    word is missing.
    """
    done: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "--":
        option = rest.pop(0)
        done.append(option)
        names = _WORDS.get(option)
        if names is not None:
            values = rest[: len(names)]
            if len(values) < len(names) or "--" in values:
                raise _words_missing(option, option)
            done.append(_SEPARATOR.join(values))
            del rest[: len(names)]
        elif rest and "=" not in option and option not in ("--help", "-h"):
            done.append(rest.pop(0))
    return done + rest


def _words_missing(option: str, subject: str) -> StreamtOlError:
    names = _WORDS[option]
    message = f"{subject} takes {_COUNTS[len(names)]} words: {' '.join(names)}"
    return StreamtOlError(USAGE, message, location=Location(option=option.removeprefix("--")))


PARSING = Parsing(interspersed=False, prepare=joined)


def run(
    context: Context,
    job_name: Annotated[str, option(metavar="NAME", help="Name of the job.")],
    job_namespace: Annotated[
        str | None,
        option(
            JOB_NAMESPACE,
            metavar="NAMESPACE",
            help="Namespace of the job; required here or as OPENLINEAGE_NAMESPACE.",
        ),
    ] = None,
    job_type: Annotated[
        str, option(metavar="TYPE", help="The jobType of the job's facet.")
    ] = "COMMAND",
    input: Annotated[
        list[str] | None,
        option(metavar="NAMESPACE NAME", help="A dataset that the command reads; may be repeated."),
    ] = None,
    output: Annotated[
        list[str] | None,
        option(
            metavar="NAMESPACE NAME", help="A dataset that the command writes; may be repeated."
        ),
    ] = None,
    parent: Annotated[
        str | None,
        option(
            metavar="NAMESPACE NAME RUNID",
            help="The run that this one is part of; else OPENLINEAGE_PARENT_ID.",
        ),
    ] = None,
    producer: Annotated[
        str, option(metavar="URI", help="The producer that the events name.")
    ] = PRODUCER,
    command: Annotated[
        list[str] | None,
        argument(metavar="-- COMMAND [ARGUMENT...]", help="The command to run."),
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

    config = emission.transport_config(allows_kafka=True)
    namespaces = Namespaces(with_environment({"job_namespace": job_namespace}, os.environ), None)
    spec = RunSpec(
        Job(namespaces.job, job_name, integration=INTEGRATION, job_type=job_type),
        inputs=tuple(Dataset(*_split(one, "--input")) for one in input or ()),
        outputs=tuple(Dataset(*_split(one, "--output")) for one in output or ()),
        parent=_parent(parent, os.environ.get(PARENT_VARIABLE)),
        producer=producer,
    )
    out: Output = context.obj
    ended = emission.report_child(spec, command, out, config)
    return child.status_of(ended, command[0], out)


def _parent(given: str | None, variable: str | None) -> Parent | None:
    """Return the parent of the option, else of the variable, which may be empty for none."""
    from streamt_ol.runs.spec import checked_parent, parent_of

    if given is not None:
        namespace, name, run_id = _split(given, "--parent")
        return checked_parent(namespace, name, run_id, Location(option="parent"))
    return parent_of(variable, PARENT_VARIABLE) if variable else None


def _split(words: str, option: str) -> list[str]:
    """Return the words of one option, where it was not given as ``--option=WORD``."""
    found = words.split(_SEPARATOR)
    if len(found) != len(_WORDS[option]):
        subject = "a parent" if option == "--parent" else "a dataset"
        raise _words_missing(option, subject)
    return found
