"""The folder that makes sockets fail in child processes really does so."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.commands import clean_environment
from support.network import NO_NETWORK, REFUSED

WAYS_TO_A_SOCKET = [
    "import socket; socket.socket()",
    "import socket; socket.socketpair()",
    "import socket; socket.getaddrinfo('localhost', 80)",
    "import socket; socket.gethostbyname('localhost')",
    "import _socket; _socket.socket()",
    "import asyncio; asyncio.run(asyncio.sleep(0))",  # its loop wakes itself through a socket
]


def run(code: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=clean_environment(**more),
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("code", WAYS_TO_A_SOCKET)
def test_sockets_are_refused_and_the_attempt_is_told(code: str) -> None:
    refused = run(code, PYTHONPATH=NO_NETWORK)
    assert refused.returncode == 1
    assert REFUSED in refused.stderr
    assert run(code).returncode == 0  # without the folder there is nothing to refuse


def test_an_except_clause_cannot_hide_an_attempt() -> None:
    code = "import contextlib, socket\nwith contextlib.suppress(Exception): socket.socket()"
    hidden = run(code, PYTHONPATH=NO_NETWORK)
    assert hidden.returncode == 0
    assert hidden.stderr == b"no_network: socket.__new__ refused\n"
