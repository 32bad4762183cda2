"""The options that commands share."""

from __future__ import annotations

from typing import Annotated

import typer

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
        help="kafka://HOST:PORT of topics; else STREAMT_OPENLINEAGE_KAFKA_NAMESPACE.",
    ),
]
GatewayNamespace = Annotated[
    str | None,
    typer.Option(
        metavar="KAFKA-URI",
        help="kafka://HOST:PORT of virtual topics; else STREAMT_OPENLINEAGE_GATEWAY_NAMESPACE.",
    ),
]
EventTime = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="UTC time of all events; else the manifest's compiled_at, or now for a project.",
    ),
]
ProjectDir = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", help="Read the streamt project in this folder."),
]
Environment = Annotated[
    str | None,
    typer.Option("--env", metavar="NAME", help="The project's environment; else STREAMT_ENV."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not print warnings.")]
