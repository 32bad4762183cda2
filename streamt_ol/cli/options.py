"""The options that commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from streamt_ol.cli.parameters import option
from streamt_ol.problems import USAGE, Location, StreamtOlError
from streamt_ol.redaction import place, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
    """Raise E500 where ``target``, a report, would replace one of the inputs ``names``."""
    from streamt_ol.reading.opening import replaced_input

    if (name := replaced_input(names, target)) is not None:
        raise StreamtOlError(
            USAGE,
            f"{place(name)} is an input, and the report would replace it",
            location=Location(option="output_file"),
            suggestion="name another file for the report",
        )
