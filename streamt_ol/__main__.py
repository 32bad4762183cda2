"""The entry point: as little as possible before Ctrl-C is handled."""

from __future__ import annotations

import sys

INTERRUPTED = 130
TERMINATED = 143


def _terminate(_signal: int, _frame: object) -> None:
    """Leave by an exception, so that files in the making are removed on the way out."""
    from streamt_ol.problems import Terminated  # noqa: PLC0415 - Ctrl-C may come while importing

    raise Terminated(TERMINATED)


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        import signal  # noqa: PLC0415 - Ctrl-C may come while importing
        from contextlib import suppress  # noqa: PLC0415 - likewise

        from streamt_ol.cli.app import run  # noqa: PLC0415 - likewise

        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            with suppress(ValueError):  # not in the main thread: signals are not ours
                signal.signal(signal.SIGTERM, _terminate)
        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = INTERRUPTED
    sys.exit(status)


if __name__ == "__main__":
    main()
