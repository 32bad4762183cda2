"""The one way to fail, and the tables of every code that a user can meet.

``StreamtOlError`` carries typed fields; only the command line turns them into text and into
an exit status. A warning is a plain dict in a stage's ``warnings`` list: a fact about the
result, never a reason to stop.
"""

from __future__ import annotations

from typing import NamedTuple, NotRequired, TypedDict


class Code(NamedTuple):
    """A row of the table of codes: what it means, the exit status, what to do about it."""

    meaning: str
    exit_status: int
    remedy: str


USAGE = "E500_USAGE_ERROR"
PARSE = "E501_PARSE_ERROR"
ENV_VAR = "E502_ENV_VAR_ERROR"
ENVIRONMENT = "E503_ENVIRONMENT_ERROR"
INVALID = "E506_OPENLINEAGE_INVALID"
NOT_DELIVERED = "E510_NOT_DELIVERED"
NOT_STARTED = "E507_COMMAND_NOT_STARTED"
GENERIC_WARNING = "W000_WARNING"
SCHEMA_INCOMPLETE = "W110_OPENLINEAGE_SCHEMA_INCOMPLETE"
SINK_OUTPUT_OMITTED = "W111_OPENLINEAGE_SINK_OUTPUT_OMITTED"
EMIT_FAILED = "W112_OPENLINEAGE_EMIT_FAILED"

ERRORS: dict[str, Code] = {
    USAGE: Code("the command line itself is wrong", 2, "see `streamt-ol COMMAND --help`"),
    PARSE: Code(
        "a file cannot be read, is not JSON or YAML, or is not shaped like a manifest or project",
        1,
        "correct or name the right file, or compile the project again with `streamt compile`",
    ),
    ENV_VAR: Code(
        "a value of the project refers to an environment variable that is not set",
        1,
        "set the variable, in the environment or in `.env`, or give it a default",
    ),
    ENVIRONMENT: Code(
        "the project has no such environment, or several and none is chosen",
        1,
        "choose one of the environments listed with `--env`",
    ),
    INVALID: Code(
        "what the manifest declares has no valid, unambiguous OpenLineage form, or output failed",
        1,
        "correct the declaration at the place named, or give the missing option",
    ),
    NOT_DELIVERED: Code(
        "an event was refused, or was not acknowledged by its receiver",
        1,
        "correct the event or the receiver; with --progress-file the same command sends the rest",
    ),
    NOT_STARTED: Code(
        "the command to run was not found (exit status 127) or cannot be executed (126)",
        127,
        "name the program with its path, e.g. `--streamt /opt/streamt/bin/streamt`",
    ),
}

WARNINGS: dict[str, Code] = {
    GENERIC_WARNING: Code(
        "a key of a project is not known, or a line of its `.env` is not a setting",
        0,
        "correct the spelling; what is ignored does not change the lineage",
    ),
    SCHEMA_INCOMPLETE: Code(
        "a dataset declares no columns, so its event has no schema facet",
        0,
        "declare `columns` (or a contract with columns) on the source or model",
    ),
    SINK_OUTPUT_OMITTED: Code(
        "a sink's external destination is not a dataset, so its job has no outputs",
        0,
        "none needed: the omission is by design",
    ),
    EMIT_FAILED: Code(
        "an event of a run was not acknowledged; the command itself is not affected",
        0,
        "see what the message says of the server or file named in `transport`",
    ),
}


class Warned(TypedDict):
    """A warning: ``code``, ``message``, and a ``location`` where there is one."""

    code: str
    message: str
    location: NotRequired[str]


class Terminated(SystemExit):
    """The process was asked to end (SIGTERM): leave by way of every ``finally``."""


class StreamtOlError(Exception):
    """Nothing more can be done: a code of ``ERRORS``, a message, a place, and a hint.

    ``location`` is a JSON pointer into the manifest, ``file:line``, or the name of the option
    or field at fault. ``message`` and ``location`` must already be safe to show (see
    ``streamt_ol.redaction``).
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        location: str | None = None,
        suggestion: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.location = location
        self.suggestion = suggestion

    def record(self) -> dict[str, str]:
        """Return the error as it stands among the ``errors`` of an envelope."""
        record = {
            "code": self.code,
            "message": self.message,
            "location": self.location,
            "suggestion": self.suggestion,
        }
        return {key: text for key, text in record.items() if text is not None}

    def __str__(self) -> str:
        place = f" {self.location}" if self.location else ""
        return f"{self.code}{place}: {self.message}"


def pointer(*parts: str | int) -> str:
    """Return the RFC 6901 JSON pointer made of ``parts``, e.g. ``/models/0/columns``."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
