"""Emulators of Google's and Azure's object stores on loopback, each with a bucket."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote
from urllib.request import Request, urlopen

from support.s3 import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BUCKET = "lineage"
AZURITE = Path(sys.prefix, "browser", "node_modules", "azurite", "dist", "src", "blob", "main.js")
# The account that every copy of the emulator has; its documentation prints the key.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)


class Store(NamedTuple):
    """A bucket's URI, what a command needs in its environment, and what writes an object."""

    uri: str
    environment: dict[str, str]
    put: Callable[[str, bytes], object]


@contextmanager
def google(folder: Path) -> Iterator[Store]:
    """Start an emulator of Google Cloud Storage; it ends with the block."""
    port = _free_port()
    environment = {
        "STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}",
        "NO_GCE_CHECK": "true",
        "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
    }
    command = [
        str(Path(sys.executable).with_name("gcp-storage-emulator")), "start", "--in-memory",
        "--host=127.0.0.1", f"--port={port}", f"--default-bucket={BUCKET}",
    ]  # fmt: skip
    upload = f"http://127.0.0.1:{port}/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name="

    def put(name: str, data: bytes) -> None:
        urlopen(Request(upload + quote(name, safe=""), data, method="POST"), timeout=60).close()

    with _running(command, folder, port):
        yield Store(f"gs://{BUCKET}", environment, put)


@contextmanager
def azure(folder: Path) -> Iterator[Store]:
    """Start an emulator of Azure's blobs; it ends with the block."""
    port = _free_port()
    connection = (
        f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={ACCOUNT_KEY};"
        f"BlobEndpoint=http://127.0.0.1:{port}/{ACCOUNT};"
    )
    command = [
        "node", str(AZURITE), "--silent", "--disableTelemetry", "--skipApiVersionCheck",
        "--location", str(folder), "--blobHost", "127.0.0.1", "--blobPort", str(port),
    ]  # fmt: skip
    with _running(command, folder, port):
        import adlfs

        files = adlfs.AzureBlobFileSystem(connection_string=connection, skip_instance_cache=True)
        files.mkdir(BUCKET)
        uri = f"abfss://{BUCKET}@{ACCOUNT}.dfs.core.windows.net"

        def put(name: str, data: bytes) -> None:
            files.pipe_file(f"{BUCKET}/{name}", data, overwrite=True)

        yield Store(uri, {"AZURE_STORAGE_CONNECTION_STRING": connection}, put)


class Emulator(NamedTuple):
    """An emulator: what starts it, and what is missing for it, if anything."""

    start: Callable[[Path], Any]
    missing: str


def _missing(**needed: object) -> str:
    return " and ".join(name for name, there in needed.items() if not there)


EMULATORS = {
    "gs": Emulator(
        google,
        _missing(
            gcsfs=importlib.util.find_spec("gcsfs"),
            gcp_storage_emulator=importlib.util.find_spec("gcp_storage_emulator"),
        ),
    ),
    "abfss": Emulator(
        azure,
        _missing(
            adlfs=importlib.util.find_spec("adlfs"),
            node=shutil.which("node"),
            azurite=AZURITE.exists(),
        ),
    ),
}


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def _running(command: list[str], folder: Path, port: int) -> Iterator[None]:
    with (folder / "emulator.log").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=os.environ)
    try:
        wait_for(port)
        yield
    finally:
        process.kill()
        process.wait()
