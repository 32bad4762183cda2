"""An object store of the tests: what a broker keeps outlives the broker.

    python objects.py

The part of S3's protocol that Tansu speaks: objects under keys, conditional puts, lists by prefix.
Prints its port; ends when its standard input does.
"""

from __future__ import annotations

import sys
import threading
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

OBJECTS: dict[str, bytes] = {}
LOCK = threading.Lock()
NOT_FOUND = b"<Error><Code>NoSuchKey</Code></Error>"
CONFLICT = b"<Error><Code>PreconditionFailed</Code></Error>"


def tag(data: bytes) -> str:
    return f'"{md5(data, usedforsecurity=False).hexdigest()}"'


class Store(BaseHTTPRequestHandler):
    """``/BUCKET/KEY``: PUT with If-Match and If-None-Match, GET, DELETE; ``/BUCKET?prefix=``."""

    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        key = urlsplit(self.path).path
        with LOCK:
            held = OBJECTS.get(key)
            wanted = self.headers.get("If-Match")
            is_taken = self.headers.get("If-None-Match") == "*" and held is not None
            if is_taken or (wanted is not None and (held is None or tag(held) != wanted)):
                self.answer(412, CONFLICT)
                return
            OBJECTS[key] = data
        self.answer(200, b"", data)

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.query:
            self.answer(200, listing(url.path.strip("/"), parse_qs(url.query)))
            return
        data = OBJECTS.get(url.path)
        self.answer(404, NOT_FOUND) if data is None else self.answer(200, data, data)

    def do_DELETE(self) -> None:
        OBJECTS.pop(urlsplit(self.path).path, None)
        self.answer(204, b"")

    def answer(self, status: int, body: bytes, data: bytes | None = None) -> None:
        self.send_response(status)
        if data is not None:
            self.send_header("ETag", tag(data))
            self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Be silent."""


def listing(bucket: str, query: dict[str, list[str]]) -> bytes:
    start = f"/{bucket}/"
    prefix = start + query.get("prefix", [""])[0]
    with LOCK:
        found = sorted((key, data) for key, data in OBJECTS.items() if key.startswith(prefix))
    contents = "".join(
        f"<Contents><Key>{escape(key.removeprefix(start))}</Key><Size>{len(data)}</Size>"
        f"<ETag>{escape(tag(data))}</ETag><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
        "</Contents>"
        for key, data in found
    )
    return (
        f"<ListBucketResult><Name>{bucket}</Name><KeyCount>{len(found)}</KeyCount>"
        f"<IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"
    ).encode()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Store)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
