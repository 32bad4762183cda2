"""The entry point: as little as possible before Ctrl-C is handled."""

from __future__ import annotations

import sys


def _end(number: int, _frame: object) -> None:
    """Leave by an exception, so that files in the making are removed on the way out."""
    from streamt_ol.cli.exits import of_signal
    from streamt_ol.problems import Terminated

    raise Terminated(of_signal(number))


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        from streamt_ol import collector

        collector.pause()
        import signal

        from streamt_ol.cli.app import before_the_command, run
        from streamt_ol.cli.commands import AROUND_A_CHILD

        if before_the_command(sys.argv[1:]).command not in AROUND_A_CHILD:
            collector.resume()
        for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
            _handle(getattr(signal, name, None))
        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = _interrupted()
    from streamt_ol.cli.exits import leave

    leave(status)


def _handle(number: int | None) -> None:
    """Let the signal end the program in order, unless somebody (nohup) has it ignored."""
    import signal
    from contextlib import suppress

    if number is not None and signal.getsignal(number) is signal.SIG_DFL:
        with suppress(ValueError):  # not in the main thread: signals are not ours
            signal.signal(number, _end)


def _interrupted() -> int:
    """Return the exit status of a program that was interrupted while it was loaded."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from streamt_ol.cli.app import interrupted

    return interrupted(sys.argv[1:])


if __name__ == "__main__":
    main()
