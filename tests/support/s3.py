"""A server of S3's protocol on loopback (moto's server mode), and its bucket."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "planted-secret-key-7Hq2"
BUCKET = "lineage"


class Store(NamedTuple):
    """The server's log, what a command needs in its environment, and a client for the test."""

    log: Path
    environment: dict[str, str]
    files: Any

    def put(self, name: str, data: bytes) -> None:
        """Write an object of the bucket."""
        self.files.pipe_file(f"{BUCKET}/{name}", data)

    def requests(self) -> list[str]:
        """Return the request lines that the server has logged."""
        return [line for line in self.log.read_text().splitlines() if '"' in line]


@contextmanager
def store(folder: Path) -> Iterator[Store]:
    """Start the server with an empty bucket; it ends with the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "s3.log"
    url = f"http://127.0.0.1:{port}"
    environment = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "planted-key-id",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    server = Path(sys.executable).with_name("moto_server")
    with log.open("wb") as out:
        process = subprocess.Popen(
            [server, "-H", "127.0.0.1", "-p", str(port)], stdout=out, stderr=out,
            env={**os.environ, **environment},
        )  # fmt: skip
    try:
        wait_for(port)
        yield Store(log, environment, _client(url))
    finally:
        process.kill()
        process.wait()


def _client(url: str) -> Any:
    import s3fs

    files = s3fs.S3FileSystem(
        key="planted-key-id", secret=SECRET, client_kwargs={"endpoint_url": url},
        skip_instance_cache=True,
    )  # fmt: skip
    files.mkdir(BUCKET)
    return files


def wait_for(port: int) -> None:
    """Wait until a server listens on ``port``."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    message = "the server did not start"
    raise TimeoutError(message)
