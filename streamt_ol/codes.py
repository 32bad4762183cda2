"""The tables of every code of an error or a warning that a user can meet."""

from __future__ import annotations

from typing import NamedTuple

from streamt_ol.problems import (
    ENDED_BY_SIGNAL,
    ENV_VAR,
    ENVIRONMENT,
    INVALID,
    NOT_DELIVERED,
    NOT_STARTED,
    PARSE,
    USAGE,
)


class Code(NamedTuple):
    """A row of the table of codes: what it means, and what to do about it."""

    meaning: str
    remedy: str


ERRORS: dict[str, Code] = {
    USAGE: Code("the command line itself is wrong", "see `streamt-ol COMMAND --help`"),
    PARSE: Code(
        "a file cannot be read, is not JSON or YAML, or is not shaped like a manifest or project",
        "correct or name the right file, or compile the project again with `streamt compile`",
    ),
    ENV_VAR: Code(
        "a value of the project refers to an environment variable that is not set",
        "set the variable, in the environment or in `.env`, or give it a default",
    ),
    ENVIRONMENT: Code(
        "the project has no such environment, or several and none is chosen",
        "choose one of the environments listed with `--env`",
    ),
    INVALID: Code(
        "what the manifest declares has no valid, unambiguous OpenLineage form, or output failed",
        "correct the declaration at the location named, or give the missing option",
    ),
    NOT_DELIVERED: Code(
        "an event was refused, or was not acknowledged by its receiver",
        "correct the event or the receiver; with --progress-file the same command sends the rest",
    ),
    NOT_STARTED: Code(
        "the command to run was not found (exit status 127) or cannot be executed (126)",
        "name the program with its path, e.g. `--streamt /opt/streamt/bin/streamt`",
    ),
    ENDED_BY_SIGNAL: Code(
        "the command was ended by Ctrl-C (exit status 130), SIGTERM (143) or SIGHUP (129)",
        "run it again; a file that is written all or nothing was not written",
    ),
}

WARNINGS: dict[str, Code] = {}


def _warning(code: str, meaning: str, remedy: str) -> str:
    WARNINGS[code] = Code(meaning, remedy)
    return code


GENERIC_WARNING = _warning(
    "W000_WARNING",
    "a key of a project is not known, or a line of its `.env` is not a setting",
    "correct the spelling; what is ignored does not change the lineage",
)
SCHEMA_INCOMPLETE = _warning(
    "W110_OPENLINEAGE_SCHEMA_INCOMPLETE",
    "a dataset declares no columns, so its event has no schema facet",
    "declare `columns` (or a contract with columns) on the source or model",
)
SINK_OUTPUT_OMITTED = _warning(
    "W111_OPENLINEAGE_SINK_OUTPUT_OMITTED",
    "a sink's external destination is not a dataset, so its job has no outputs",
    "none needed: the omission is by design",
)
EMIT_FAILED = _warning(
    "W112_OPENLINEAGE_EMIT_FAILED",
    "an event of a run was not acknowledged; the command itself is not affected",
    "see what the message says of the server or file named in `transport`",
)
UNENCRYPTED = _warning(
    "W113_OPENLINEAGE_UNENCRYPTED",
    "events travel over plain http to another machine, readable on the way",
    "none inside a network that you trust; elsewhere give the receiver an https:// address",
)
SENT_INVALID = _warning(
    "W114_OPENLINEAGE_SENT_INVALID",
    "events were sent, or would be, in which `validate` finds errors: how many, by rule",
    "see `streamt-ol validate`; --refuse-invalid refuses them, --ignore RULE silences a rule",
)
