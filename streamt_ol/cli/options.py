"""The options that commands share, and where a value comes from when no option gives it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated

import typer

from streamt_ol.openlineage.names import NAMESPACE_VARIABLES
from streamt_ol.problems import StreamtOlError

JobNamespace = Annotated[
    str | None,
    typer.Option(
        metavar="NAMESPACE",
        help="Namespace of all jobs; required here or as OPENLINEAGE_NAMESPACE.",
    ),
]
KafkaNamespace = Annotated[
    str | None,
    typer.Option(
        metavar="KAFKA-URI",
        help="kafka://HOST:PORT of topics; or STREAMT_OPENLINEAGE_KAFKA_NAMESPACE.",
    ),
]
GatewayNamespace = Annotated[
    str | None,
    typer.Option(
        metavar="KAFKA-URI",
        help="kafka://HOST:PORT of virtual topics; or STREAMT_OPENLINEAGE_GATEWAY_NAMESPACE.",
    ),
]
EventTime = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="UTC time of all events, instead of the manifest's compiled_at."
    ),
]
ProjectDir = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", help="Read the streamt project in this folder instead."),
]
Environment = Annotated[
    str | None,
    typer.Option("--env", metavar="NAME", help="The project's environment; or STREAMT_ENV."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not print warnings.")]


def chosen(
    given: Mapping[str, str | None], environ: Mapping[str, str], carried: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Return the options of a pipeline: ``given``, else ``carried`` along, else ``environ``.

    A variable that is set to nothing is a choice, too; it fails where it is used instead of
    falling through to a derived value.
    """
    options = {**carried, **{name: value for name, value in given.items() if value is not None}}
    for name, variable in NAMESPACE_VARIABLES.items():
        if options.get(name) is None and variable in environ:
            options[name] = environ[variable]
    return options


@contextmanager
def named_source(given: Mapping[str, str | None], environ: Mapping[str, str]) -> Iterator[None]:
    """Add to an error about a namespace that its value came from an environment variable."""
    try:
        yield
    except StreamtOlError as error:
        variable = NAMESPACE_VARIABLES.get(error.location or "")
        if variable is not None and variable in environ and given.get(error.location or "") is None:
            error.suggestion = f"the value came from the environment variable {variable}"
        raise
