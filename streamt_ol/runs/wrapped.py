"""A child process as one run: START before it starts, the terminal event after its end."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Literal

from streamt_ol.runs.child import INTERRUPTED, Ended, run_child
from streamt_ol.runs.signals import signals_held

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamt_ol.runs.run import Run
    from streamt_ol.runs.signals import Endings


def run_wrapped(
    run: Run,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    streamt: bool = False,
    endings: Endings | None = None,
) -> Ended:
    """Run a program to its end as ``run``, and tell how it ended.

    The terminal event is that of ``outcome``. Whatever happens to the delivery of an event, the
    child is run and its end is told.
    """
    with run:
        with signals_held(endings) as signals:
            ended = run_child(arguments, environment, signals)
        try:
            _end(run, ended, streamt=streamt)
        except (KeyboardInterrupt, SystemExit):  # the user waits no longer for the delivery
            run.give_up()
    return ended


def outcome(ended: Ended, *, streamt: bool) -> Literal["COMPLETE", "FAIL", "ABORT"]:
    """Return the terminal event that belongs to the end of a child.

    A command that ends with exit status 0 is complete, whatever signals it survived; of
    ``streamt`` the specification says that an interrupt is ABORT, and streamt tells of its own
    by exit status 130.
    """
    interrupted = ended.interrupted or ended.killed_by == signal.SIGINT
    if streamt and (interrupted or ended.exit_status == INTERRUPTED):
        return "ABORT"
    if ended.exit_status == 0:
        return "COMPLETE"
    return "ABORT" if interrupted else "FAIL"


def _end(run: Run, ended: Ended, *, streamt: bool) -> None:
    match outcome(ended, streamt=streamt):
        case "COMPLETE":
            run.complete()
        case "ABORT":
            run.abort()
        case "FAIL":
            run.fail(failure_of(ended))


def failure_of(ended: Ended) -> str:
    """Return the failure message of a child: how it ended, nothing of what it printed."""
    if ended.not_started is not None:
        return f"The command could not be started: {ended.not_started}."
    if ended.stopped_by is not None:
        return f"The command was stopped by {ended.stopped_by.name}."
    return f"The command ended with exit status {ended.exit_status}."
