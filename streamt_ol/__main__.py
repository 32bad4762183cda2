"""The entry point: as little as possible before Ctrl-C is handled."""

from __future__ import annotations

import signal
import sys
from types import FrameType

INTERRUPTED = 130
TERMINATED = 143


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    """Leave by an exception, so that files in the making are removed on the way out."""
    sys.exit(TERMINATED)


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        signal.signal(signal.SIGTERM, _terminate)
        from streamt_ol.cli.app import run  # noqa: PLC0415 - Ctrl-C may come while importing

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = INTERRUPTED
    sys.exit(status)


if __name__ == "__main__":
    main()
