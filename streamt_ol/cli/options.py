"""The options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from streamt_ol.cli.parameters import option
from streamt_ol.problems import USAGE, Location, StreamtOlError
from streamt_ol.redaction import shown, shown_path

if TYPE_CHECKING:
    from collections.abc import Sequence

# The flags that several commands have, and that messages name.
JOB_NAMESPACE = "--job-namespace"
PROJECT_DIR = "--project-dir"
ENV = "--env"
OUTPUT_FILE = "--output-file"

JobNamespace = Annotated[
    str | None,
    option(
        JOB_NAMESPACE,
        metavar="NAMESPACE",
        help="Namespace of all jobs; required here or as OPENLINEAGE_NAMESPACE.",
    ),
]
KafkaNamespace = Annotated[
    str | None,
    option(
        metavar="KAFKA-URI",
        help="kafka://HOST:PORT of topics; else STREAMT_OPENLINEAGE_KAFKA_NAMESPACE.",
    ),
]
GatewayNamespace = Annotated[
    str | None,
    option(
        metavar="KAFKA-URI",
        help="kafka://HOST:PORT of virtual topics; else STREAMT_OPENLINEAGE_GATEWAY_NAMESPACE.",
    ),
]
EventTime = Annotated[
    str | None,
    option(
        metavar="TIME",
        help="UTC time of all events; else the manifest's compiled_at, or now for a project.",
    ),
]
ProjectDir = Annotated[
    str | None,
    option(PROJECT_DIR, metavar="FOLDER", help="Read the streamt project in this folder."),
]
Environment = Annotated[
    str | None,
    option(ENV, metavar="NAME", help="The project's environment; else STREAMT_ENV."),
]
Quiet = Annotated[bool, option("--quiet", "-q", help="Do not print warnings.")]


_UNITS = {"k": 10, "M": 20, "G": 30}


def size_of(text: str, option: str) -> int:
    """Return the bytes that ``64M`` means: k, M and G are powers of 1,024. Raises E500."""
    number, unit = (text[:-1], _UNITS[text[-1]]) if text[-1:] in _UNITS else (text, 0)
    if number.isascii() and number.isdecimal() and int(number) > 0:
        return int(number) << unit
    raise StreamtOlError(
        USAGE,
        f"{shown(text)} is not a size",
        location=Location(option=option),
        suggestion="a number of bytes, or one with k, M or G behind it, e.g. 64M",
    )


def known_rules(names: Sequence[str]) -> frozenset[str]:
    """Return the rules named by ``--ignore``. Raises E500 for a name that is not a rule's."""
    if not names:
        return frozenset()
    from streamt_ol.validation.rules import RULES

    for name in names:
        if name not in RULES:
            raise StreamtOlError(
                USAGE,
                f"there is no rule {shown(name)}",
                location=Location(option="ignore"),
                suggestion="streamt-ol validate --list-rules prints them",
            )
    return frozenset(names)


def refuse_target(names: Sequence[str], target: Path) -> None:
    """Raise E500 where ``target``, which is to be written, is read: an input, by whatever name.

    ``names`` are files, ``-``, and folders of projects.
    """
    from streamt_ol.reading.opening import replaced_input

    name = replaced_input(names, target)
    if name is None and any(_is_of_project(name, target) for name in names):
        name = str(target)
    if name is not None:
        raise StreamtOlError(
            USAGE,
            f"{shown_path(name)} is an input, and the output would replace it",
            location=Location(option="output_file"),
            suggestion="name another file for the output",
        )


def _is_of_project(name: str, target: Path) -> bool:
    """Tell whether ``target`` is there, and a file of the project in the folder ``name``."""
    from streamt_ol.project import PROJECT_FILES, is_project, may_be_read

    folder = Path(name)
    if folder.name in PROJECT_FILES:
        folder = folder.parent
    try:
        is_file = name != "" and is_project(folder) and target.is_file()
        return is_file and may_be_read(target) and target.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # not the name of a file, or links in a circle
        return False
