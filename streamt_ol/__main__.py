"""The entry point: as little as possible before Ctrl-C is handled."""

from __future__ import annotations

import sys

# They are to add little to the child's own time, and collect only while it runs.
AROUND_A_CHILD = ("apply", "run", "test")


def _terminate(_signal: int, _frame: object) -> None:
    """Leave by an exception, so that files in the making are removed on the way out."""
    from streamt_ol.cli.exits import TERMINATED
    from streamt_ol.problems import Terminated

    raise Terminated(TERMINATED)


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        from streamt_ol import collector

        collector.pause()
        import signal
        from contextlib import suppress

        from streamt_ol.cli.app import before_the_command, run

        if before_the_command(sys.argv[1:])[1] not in AROUND_A_CHILD:
            collector.resume()
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            with suppress(ValueError):  # not in the main thread: signals are not ours
                signal.signal(signal.SIGTERM, _terminate)
        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        from streamt_ol.cli.exits import INTERRUPTED

        status = INTERRUPTED
    sys.exit(status)


if __name__ == "__main__":
    main()
