"""The options that `send` and `forward` share, and what is made of them."""

from __future__ import annotations

import math
import os
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from streamt_ol.cli.options import known_rules
from streamt_ol.cli.parameters import option
from streamt_ol.delivery.receivers import RECEIVERS
from streamt_ol.delivery.validity import Validity
from streamt_ol.problems import USAGE, Location, StreamtOlError

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Mapping

    from streamt_ol.delivery.source import LiveSource, Source

_HTTP = "HTTP receivers"
_KAFKA = "Kafka"
_DELIVERY = "Delivery"

To = Annotated[
    str,
    option(
        "--to",
        metavar="RECEIVER",
        autocompletion=lambda: list(RECEIVERS),
        help=f"One of: {', '.join(RECEIVERS)}.",
    ),
]
Url = Annotated[
    str | None,
    option(
        metavar="URL",
        rich_help_panel=_HTTP,
        help="The server: https://, or http:// without a token.",
    ),
]
Endpoint = Annotated[
    str | None,
    option(metavar="PATH", rich_help_panel=_HTTP, help="Instead of the receiver's path."),
]
Parameters = Annotated[
    list[str] | None,
    option(
        "--param",
        metavar="NAME=VALUE",
        rich_help_panel=_HTTP,
        help="A part of the receiver's address, e.g. project; may be repeated.",
    ),
]
TokenEnv = Annotated[
    str | None,
    option(
        metavar="NAME", rich_help_panel=_HTTP, help="The environment variable that holds the token."
    ),
]
TokenHeader = Annotated[
    str | None,
    option(
        metavar="FORM",
        rich_help_panel=_HTTP,
        help="bearer (default) or x-token, where it is taken.",
    ),
]
CaFile = Annotated[
    str | None,
    option(
        metavar="PATH",
        rich_help_panel=_HTTP,
        help="PEM certificates to trust instead of the system's.",
    ),
]
Gzip = Annotated[bool, option("--gzip", rich_help_panel=_HTTP, help="Compress bodies.")]
Batch = Annotated[
    bool,
    option("--batch", rich_help_panel=_HTTP, help="Use the receiver's batch form, if any."),
]
AllowPlainHttp = Annotated[
    bool,
    option(
        "--allow-plain-http",
        rich_help_panel=_HTTP,
        help="Let the token go to another machine over http://, readable on the way.",
    ),
]
Bootstrap = Annotated[
    str | None,
    option(metavar="BROKERS", rich_help_panel=_KAFKA, help="HOST:PORT of brokers, with commas."),
]
Topic = Annotated[str | None, option(metavar="TOPIC", rich_help_panel=_KAFKA, help="The topic.")]
KafkaConfig = Annotated[
    str | None,
    option(
        metavar="PATH", rich_help_panel=_KAFKA, help="YAML of more librdkafka settings (SASL, TLS)."
    ),
]
FilePath = Annotated[
    str | None, option("--path", metavar="PATH", help="The file to append to (--to file).")
]


def finite(seconds: float | None) -> float | None:
    """Refuse ``nan``, which no bound of an option keeps out, and ``inf``."""
    if seconds is not None and not math.isfinite(seconds):
        from typer import BadParameter  # which has called this

        raise BadParameter("the value must be a number of seconds")
    return seconds


Timeout = Annotated[
    float,
    option(
        metavar="SECONDS", min=0.1, max=300, callback=finite, rich_help_panel=_DELIVERY,
        help="Time for one request as a whole.",
    ),
]  # fmt: skip
Retries = Annotated[
    int,
    option(
        metavar="NUMBER",
        min=0,
        max=100,
        rich_help_panel=_DELIVERY,
        help="Attempts after the first, where a retry helps.",
    ),
]
RejectedFile = Annotated[
    Path | None,
    option(
        "--rejected", metavar="PATH", rich_help_panel=_DELIVERY, help="Append refused events to it."
    ),
]
RefuseInvalid = Annotated[
    bool,
    option("--refuse-invalid", help="Refuse every event that `validate` calls invalid."),
]
IgnoredRules = Annotated[
    list[str] | None,
    option("--ignore", metavar="RULE", help="Switch a rule off, e.g. OL-R012; may be repeated."),
]
NoValidate = Annotated[bool, option("--no-validate", help="Do not validate events first.")]
SkipUnsupported = Annotated[
    bool,
    option(
        "--skip-unsupported", help="Skip what the receiver does not take, instead of refusing it."
    ),
]
NamespaceMap = Annotated[
    Path | None,
    option(
        metavar="PATH",
        help="OpenMetadata's openLineageSettings (JSON): mappings and event types of the server.",
    ),
]
AsRunEvents = Annotated[
    bool,
    option(
        "--as-run-events",
        help="Turn each JobEvent, with its datasets' facets, into a START and a COMPLETE RunEvent "
        "of a fresh run id. A design is not a run: nothing ran, and the receiver will show that "
        "something did. Only for receivers that take nothing else.",
    ),
]
ProcessingEngine = Annotated[
    tuple[str, str] | None,
    option(
        metavar="NAME VERSION",
        help="Add a processing_engine facet to the runs of --as-run-events.",
    ),
]


def parameters_from(given: list[str] | None) -> dict[str, str]:
    """Return the values of ``--param NAME=VALUE``. Raises E500."""
    found: dict[str, str] = {}
    for text in given or []:
        name, mark, value = text.partition("=")
        if not mark or name in found:
            raise StreamtOlError(
                USAGE,
                "the value must be NAME=VALUE, each name once",
                location=Location(option="parameters"),
            )
        found[name] = value
    return found


def check_distinct(paths: Mapping[str, str | Path | None], flags: Mapping[str, str]) -> None:
    """Refuse two options (the keys) that name one file, by whatever path or link.

    A value is None where the option is not given; ``flags`` has the flag of each option. Raises
    ``StreamtOlError``.
    """
    given = [(name, str(path)) for name, path in paths.items() if path]
    for (first, one), (second, other) in combinations(given, 2):
        if _is_same(one, other):
            message = f"the file is the same as {flags.get(first, first)}"
            raise StreamtOlError(USAGE, message, location=Location(option=second))


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.realpath(one) == os.path.realpath(other) or Path(one).samefile(other)
    except (OSError, ValueError):  # one that does not exist yet, or is not a path
        return False


def open_source(path: str, stop: threading.Event | None = None) -> Source | LiveSource:
    """Return the input: a file, or standard input for ``-``. Raises ``StreamtOlError``.

    With ``stop`` it is read while it comes, until that is set.
    """
    from streamt_ol.delivery.source import LiveSource, Source

    return Source(path) if stop is None else LiveSource(path, stop)


def validity_from(*, no_validate: bool, refuse_invalid: bool, ignore: list[str] | None) -> Validity:
    """Return how far validation counts. Raises E500 for options that exclude each other."""
    if no_validate and refuse_invalid:
        raise StreamtOlError(
            USAGE, "the option excludes --no-validate", location=Location(option="refuse_invalid")
        )
    return Validity(known_rules(ignore or []), on=not no_validate, refuses_invalid=refuse_invalid)


def ways_out(rules: Iterable[str]) -> str:
    """Return the hint that names how to send what was refused because of ``rules``."""
    ignored = " ".join(f"--ignore {rule}" for rule in rules)
    return f"to send it all the same: {ignored}; or --no-validate" if ignored else ""
