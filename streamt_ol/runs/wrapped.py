"""A child process as one run: START before it starts, the terminal event after its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.runs.child import Ended, run_child, signals_held

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamt_ol.runs.run import Run


def run_wrapped(run: Run, arguments: Sequence[str], environment: Mapping[str, str]) -> Ended:
    """Run a program to its end as ``run``, and tell how it ended.

    COMPLETE on exit status 0; ABORT when a SIGINT came; FAIL for everything else, also when
    another signal was passed on or the program could not be started. Whatever happens to the
    delivery of an event, the child is run and its end is told.
    """
    with run:
        with signals_held() as signals:
            ended = run_child(arguments, environment, signals)
        try:
            _end(run, ended)
        except (KeyboardInterrupt, SystemExit):  # the user waits no longer for the delivery
            run.give_up()
    return ended


def _end(run: Run, ended: Ended) -> None:
    if ended.interrupted:
        run.abort()
    elif ended.exit_status == 0 and ended.stopped_by is None:
        run.complete()
    else:
        run.fail(failure_of(ended))


def failure_of(ended: Ended) -> str:
    """Return the failure message of a child: how it ended, nothing of what it printed."""
    if ended.not_started is not None:
        return f"The command could not be started: {ended.not_started}."
    if ended.stopped_by is not None:
        return f"The command was stopped by {ended.stopped_by.name}."
    return f"The command ended with exit status {ended.exit_status}."
