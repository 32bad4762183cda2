"""An object store of the tests: what a broker keeps outlives the broker.

    python objects.py

The part of S3's protocol that Tansu speaks: objects under keys, conditional puts, lists by prefix.
Prints its port; ends when its standard input does. Lines of the input hold a put back:

    stop before SUFFIX N    the Nth put from now of a key that ends with SUFFIX is not taken
    stop after SUFFIX N     it is taken, and not answered
    go on                   its connection is closed

The store prints `stopped` when that put has come.
"""

from __future__ import annotations

import sys
import threading
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape


class Stop:
    """Holds back one put that is to come: a broker is killed when it has got just so far."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moment, self._suffix, self._left = "", "", 0
        self._over = threading.Event()

    def obey(self, line: str) -> None:
        """Take one line of the input."""
        match line.split():
            case "stop", moment, suffix, number:
                with self._lock:
                    self._moment, self._suffix, self._left = moment, suffix, int(number)
                    self._over.clear()
            case _:
                self._over.set()

    def comes(self, key: str, moment: str) -> bool:
        """Return whether this is the moment; it is then held until it is over."""
        with self._lock:
            if moment != self._moment or not key.endswith(self._suffix):
                return False
            self._left -= 1
            if self._left != 0:
                return False
        print("stopped", flush=True)
        self._over.wait()
        return True


OBJECTS: dict[str, bytes] = {}
LOCK = threading.Lock()
STOP = Stop()
NOT_FOUND = b"<Error><Code>NoSuchKey</Code></Error>"
CONFLICT = b"<Error><Code>PreconditionFailed</Code></Error>"


def tag(data: bytes) -> str:
    return f'"{md5(data, usedforsecurity=False).hexdigest()}"'


class Store(BaseHTTPRequestHandler):
    """``/BUCKET/KEY``: PUT with If-Match and If-None-Match, GET, DELETE; ``/BUCKET?prefix=``."""

    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        data = self.rfile.read(length)
        key = urlsplit(self.path).path
        # A broker that is killed while it writes an object has not written it.
        if len(data) < length or STOP.comes(key, "before"):
            self.close_connection = True
            return
        with LOCK:
            held = OBJECTS.get(key)
            wanted = self.headers.get("If-Match")
            is_taken = self.headers.get("If-None-Match") == "*" and held is not None
            if is_taken or (wanted is not None and (held is None or tag(held) != wanted)):
                self.answer(412, CONFLICT)
                return
            OBJECTS[key] = data
        if STOP.comes(key, "after"):
            self.close_connection = True
            return
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
    for line in sys.stdin:
        STOP.obey(line)
