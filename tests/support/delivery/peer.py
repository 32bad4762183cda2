"""A lineage server of the tests, a process of its own, which misbehaves as it is told to.

    python peer.py PLAN.json LOG.jsonl [CERT.pem]

PLAN is a list of rules ``{"match": TEXT, "times": N, ...behaviour}``; the first rule whose text is
in the request's body (after gunzip) and that has times left decides. Without one: 201. The port is
printed; every request is one line of LOG, written before it is answered.
"""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

LOCK = threading.Lock()
Rule = dict[str, Any]


class Peer:
    """The plan, the log, and one thread for each connection."""

    def __init__(self, plan: list[Rule], log: Path, certificate: str | None) -> None:
        self.plan = plan
        self.log = log.open("ab", buffering=0)
        self.context: ssl.SSLContext | None = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)

    def serve(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        print(listener.getsockname()[1], flush=True)
        number = 0
        while True:
            connection, _ = listener.accept()
            number += 1
            threading.Thread(target=self.handle, args=(connection, number), daemon=True).start()

    def handle(self, connection: socket.socket, number: int) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            buffer = b""
            while True:
                head, buffer = read_until(connection, buffer, b"\r\n\r\n")
                lines = head.decode("latin-1").split("\r\n")
                headers = {k.lower(): v for k, v in (ln.split(": ", 1) for ln in lines[1:])}
                early = self.rule("EARLY")
                if early:
                    self.write({"connection": number, "line": lines[0], "rule": early})
                    answer(connection, early)
                    return
                size = int(headers.get("content-length", 0))
                while len(buffer) < size:
                    buffer += received(connection)
                body, buffer = buffer[:size], buffer[size:]
                if not self.respond(connection, number, lines[0], headers, body):
                    return
        except (OSError, EOFError):
            return
        finally:
            connection.close()

    def respond(
        self,
        connection: socket.socket,
        number: int,
        line: str,
        headers: dict[str, str],
        raw: bytes,
    ) -> bool:
        body = gzip.decompress(raw) if headers.get("content-encoding") == "gzip" else raw
        text = body.decode()
        rule = self.rule(text)
        self.write(
            {"connection": number, "line": line, "headers": headers, "body": text, "rule": rule,
             "raw_size": len(raw), "time": time.time()}
        )  # fmt: skip
        time.sleep(rule.get("delay", 0))
        return answer(connection, rule, text)

    def rule(self, text: str) -> Rule:
        with LOCK:
            for rule in self.plan:
                if rule.get("match", "") in text and rule.get("times", 1 << 40) > 0:
                    if text == "EARLY" and rule.get("match") != "EARLY":
                        continue
                    rule["times"] = rule.get("times", 1 << 40) - 1
                    return rule
        return {} if text == "EARLY" else {"status": 201}

    def write(self, entry: dict[str, Any]) -> None:
        with LOCK:
            self.log.write(json.dumps(entry).encode() + b"\n")


def received(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise EOFError
    return data


def read_until(connection: socket.socket, buffer: bytes, mark: bytes) -> tuple[bytes, bytes]:
    while mark not in buffer:
        buffer += received(connection)
    head, _, rest = buffer.partition(mark)
    return head, rest


def answer(connection: socket.socket, rule: Rule, request: str = "") -> bool:
    """Answer as the rule says; True when the connection stays open."""
    kind = rule.get("kind", "plain")
    body = rule.get("body", "{}").replace("@REQUEST@", request)
    if kind == "hang":
        time.sleep(rule.get("seconds", 30))
        return False
    if kind == "drop":
        connection.sendall(rule.get("raw", "").encode("latin-1"))
        return False
    if kind == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False
    if kind == "raw":
        connection.sendall(rule["raw"].encode("latin-1"))
        return bool(rule.get("stays"))
    if kind == "endless":
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
    head = [f"HTTP/1.1 {rule.get('status', 201)} Any"]
    head += [f"{k}: {v}" for k, v in rule.get("headers", {}).items()]
    head += [f"Content-Length: {len(body.encode())}", "", ""]
    data = "\r\n".join(head).encode() + body.encode()
    if kind == "drip":
        for byte in data:
            connection.sendall(bytes([byte]))
            time.sleep(rule["seconds"])
        return True
    connection.sendall(data)
    return not rule.get("close")


if __name__ == "__main__":
    plan_file, log_file, *certificates = sys.argv[1:]
    plan: list[Rule] = json.loads(Path(plan_file).read_text())
    Peer(plan, Path(log_file), certificates[0] if certificates else None).serve()
