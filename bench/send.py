"""`streamt-ol send` against the official client's HTTP transport: events a second, on loopback.

One server, in a process of its own, answers both. Both deliver the same events. The official
client's time begins when its events exist as its own objects (making them is not counted); the
whole process is timed for ours, start-up, validation and progress included.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from measure import PROGRAM, PYTHON, Cost, cost, interleaved, times
from table import WALL, Filled, Result, Row, Table, at_least

if TYPE_CHECKING:
    from collections.abc import Iterator

EVENTS = 20_000
OFFICIAL_EVENTS = 2_000
ROUNDS = 5
DESCRIPTION = "d" * 500

# A server that does as little as it can, so that the clients are what is measured.
SERVER = """
import asyncio

ANSWER = b"HTTP/1.1 201 Created\\r\\nContent-Length: 2\\r\\n\\r\\n{}"

class Lineage(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.buffer = transport, b""
    def data_received(self, data):
        self.buffer += data
        while True:
            end = self.buffer.find(b"\\r\\n\\r\\n")
            if end < 0:
                return
            head = self.buffer[:end].lower()
            at = head.find(b"content-length:")
            whole = end + 4 + int(head[at + 15:].split(b"\\r\\n", 1)[0])
            if len(self.buffer) < whole:
                return
            self.buffer = self.buffer[whole:]
            self.transport.write(ANSWER)

async def main():
    server = await asyncio.get_running_loop().create_server(Lineage, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""
# argv: URL, number of events, description. Prints seconds.
OFFICIAL = """
import sys, time
from openlineage.client import event_v2
from openlineage.client.facet_v2 import documentation_job
from openlineage.client.transport.http import HttpConfig, HttpTransport

transport = HttpTransport(HttpConfig(url=sys.argv[1], endpoint="/api/v1/lineage"))
events = [
    event_v2.JobEvent(
        eventTime="2026-10-21T08:00:00Z",
        producer="https://example.com/bench",
        job=event_v2.Job("bench", f"job-{number}", facets={
            "documentation": documentation_job.DocumentationJobFacet(description=sys.argv[3])
        }),
    )
    for number in range(int(sys.argv[2]))
]
started = time.perf_counter()
for event in events:
    transport.emit(event)
print(time.perf_counter() - started)
"""


DELIVERED = Table(
    "Delivery over HTTP on loopback",
    {
        "send": Row("`send`, events a second / the official client's transport", at_least(5)),
        "send, 1 connection": Row("`send --concurrency 1` / the same"),
        "send, progress kept": Row("`send --progress-file` / the same"),
    },
    figures=(WALL,),
    note=f"{EVENTS:,} JobEvents, medians of {ROUNDS} interleaved runs.",
)
TABLES = (DELIVERED,)


def run(folder: Path) -> Filled:
    """Measure the events a second of ``send`` and of the official client."""
    events = folder / "events.jsonl"
    with events.open("w") as file:
        file.writelines(json.dumps(_event(number)) + "\n" for number in range(EVENTS))
    progress = folder / "progress"

    def ours(url: str, *more: str | Path) -> Cost:
        progress.unlink(missing_ok=True)
        return cost(PROGRAM, "send", events, "--to", "marquez", "--url", url, *more)

    with _server() as url:
        costs = interleaved(
            {
                "official": lambda: _official(url),
                "send": lambda: ours(url),
                "send, 1 connection": lambda: ours(url, "--concurrency", "1"),
                "send, progress kept": lambda: ours(url, "--progress-file", progress),
            },
            ROUNDS,
        )
    rates = {
        name: (OFFICIAL_EVENTS if name == "official" else EVENTS) / times(each)[1]
        for name, each in costs.items()
    }
    yield DELIVERED, {name: Result((rates[name] / rates["official"],)) for name in DELIVERED.rows}


def _event(number: int) -> dict[str, object]:
    facet = "https://openlineage.io/spec/facets/1-1-0/DocumentationJobFacet.json"
    documentation = {
        "_producer": "https://example.com/bench",
        "_schemaURL": f"{facet}#/$defs/DocumentationJobFacet",
        "description": DESCRIPTION,
    }
    return {
        "eventTime": "2026-10-21T08:00:00Z",
        "producer": "https://example.com/bench",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent",
        "job": {
            "namespace": "bench",
            "name": f"job-{number}",
            "facets": {"documentation": documentation},
        },
    }


def _official(url: str) -> Cost:
    whole = cost(PYTHON, "-c", OFFICIAL, url, str(OFFICIAL_EVENTS), DESCRIPTION, says=True)
    return whole._replace(seconds=float(whole.said))


@contextmanager
def _server() -> Iterator[str]:
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
    finally:
        server.kill()
        server.wait()
