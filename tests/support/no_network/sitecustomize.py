"""Put this folder on ``PYTHONPATH``, and every socket call of the process fails.

An audit hook sees each way to a socket, whichever module it goes through, and cannot be removed
again. What is refused is also said on stderr, so that no ``except`` can hide it from a test.
"""

from __future__ import annotations

import os
import sys

STDERR = 2


def _refuse(event: str, _arguments: tuple[object, ...]) -> None:
    if event.startswith("socket."):
        os.write(STDERR, f"no_network: {event} refused\n".encode())
        raise OSError(f"no network here: {event}")


sys.addaudithook(_refuse)
