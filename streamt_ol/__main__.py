"""The entry point: as little as possible before Ctrl-C is handled."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        from streamt_ol.cli.app import run  # noqa: PLC0415 - Ctrl-C may come while importing

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = INTERRUPTED
    sys.exit(status)


if __name__ == "__main__":
    main()
