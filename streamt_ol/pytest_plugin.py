"""A pytest fixture for who writes producers: the events that code under test emits, checked.

The entry point ``pytest11`` names this module, so that pytest imports it at every start; all
that it needs is imported when the fixture is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

_SHOWN = 20


@pytest.fixture
def openlineage_events(tmp_path: Path) -> Iterator[EmittedEvents]:
    """Collect what the test emits to a file or a loopback server; at its end all must be valid."""
    emitted = EmittedEvents(tmp_path / "openlineage-events.jsonl")
    try:
        yield emitted
        emitted.assert_valid()
    finally:
        emitted.close()


class EmittedEvents:
    """The events that a test emits: lines of the file ``path``, and what is posted to ``url``.

    ``ignore`` are ids of rules that are switched off, and may be added to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ignore: set[str] = set()
        self._bodies: list[bytes] = []
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """The URL of a server on loopback, which is started now; it takes any path."""
        if self._server is None:
            self._server = _started(self._bodies)
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    @property
    def http_environment(self) -> dict[str, str]:
        """The variables that have a client of OpenLineage post its events here."""
        return {"OPENLINEAGE_URL": self.url}

    @property
    def file_environment(self) -> dict[str, str]:
        """The variables that have a client of OpenLineage append its events to the file."""
        return {
            "OPENLINEAGE__TRANSPORT__TYPE": "file",
            "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": str(self.path),
            "OPENLINEAGE__TRANSPORT__APPEND": "true",
        }

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events so far: those of the file, then those posted, each in their order."""
        import json

        documents = [json.loads(text) for text in self._texts()]
        return [
            event
            for document in documents
            for event in (document if isinstance(document, list) else [document])
        ]

    def assert_valid(self) -> list[dict[str, Any]]:
        """Return the events; fail unless ``streamt-ol validate`` finds no error in them."""
        from streamt_ol.api import validate

        found = validate(*([text] for text in self._texts()), ignore=self.ignore)
        errors = [f for f in found.findings if f.severity == "error"]
        if errors:
            listed = [f"  {f.rule} {f.location}: {f.message}" for f in errors[:_SHOWN]]
            more = [f"  ... and {len(errors) - _SHOWN} more"] if len(errors) > _SHOWN else []
            head = f"{found.events} events were emitted, and they have {len(errors)} errors:"
            pytest.fail("\n".join([head, *listed, *more]), pytrace=False)
        return self.events

    def close(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def _texts(self) -> list[bytes]:
        lines = self.path.read_bytes().splitlines() if self.path.exists() else []
        return [line for line in lines if line.strip()] + list(self._bodies)


def _started(bodies: list[bytes]) -> ThreadingHTTPServer:
    """Return a server on loopback that keeps the bodies of what is posted to it."""
    import gzip
    import threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            if "Content-Length" not in self.headers:
                self.send_error(411)
                return
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_gzip = self.headers.get("Content-Encoding") == "gzip"
            bodies.append(gzip.decompress(body) if is_gzip else body)
            self.send_response(201)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_request(self, code: object = "-", size: object = "-") -> None:
            """Log nothing of a request that is taken."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, name="openlineage", daemon=True).start()
    return server
