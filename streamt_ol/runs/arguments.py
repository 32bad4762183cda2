"""The arguments of `streamt test` and `streamt apply`, read as streamt reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.problems import USAGE, StreamtOlError
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Sequence


_WITHOUT_A_RUN = ("--deploy", "--dry-run", "--help")


class StreamtArguments(NamedTuple):
    """The options that matter here; None: not given.

    ``runs`` is false where the command does nothing that is a run: ``--coverage`` and
    ``--deploy`` of a test, ``--dry-run`` of an apply, ``--help``.
    """

    project_dir: str
    environment: str | None
    model: str | None
    type: str | None
    runs: bool = True


def read_arguments(words: Sequence[str], **given: str | None) -> StreamtArguments:
    """Return the options among the words after the command's name; others are streamt's affair.

    ``given`` are those that were read before: ``project_dir``, ``env``, ``model``, ``type``. Of
    an option given twice the last counts. Raises E500 for an option without its value.
    """
    of_given = StreamtArguments(
        given.get("project_dir") or ".", given.get("env"), given.get("model"), given.get("type")
    )
    if not words:
        return of_given
    import argparse

    parser = argparse.ArgumentParser(
        add_help=False,
        allow_abbrev=False,
        exit_on_error=False,
        # Of a help that nobody asks for: it need not ask for the terminal's width.
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=80),
    )
    parser.add_argument("-p", "--project-dir", default=of_given.project_dir)
    parser.add_argument("-e", "--env", default=of_given.environment)
    parser.add_argument("-m", "--model", default=of_given.model)
    parser.add_argument("--type", default=of_given.type)
    for option in _WITHOUT_A_RUN:
        parser.add_argument(option, dest="idle", action="store_true")
    try:
        known, others = parser.parse_known_args(list(words))
    except argparse.ArgumentError as error:
        raise StreamtOlError(USAGE, shown(error, 200)[1:-1]) from None
    coverage = any(word.startswith("--coverage") for word in others)
    runs = not (known.idle or coverage)
    return StreamtArguments(known.project_dir, known.env, known.model, known.type, runs)
