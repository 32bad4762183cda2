"""`streamt-ol send` over HTTP on loopback: beside a bare loop, the official client, and in batches.

One server, in a process of its own, answers all. The time of the loop begins when its process is
up, that of the official client when its events exist as its own objects, and that of the posts of
`send` when everything is judged; they read the file again, and settle each event.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from measure import PYTHON, Calls, Cost, against, cost, interleaved, programs, result, times
from table import CPU, WALL, Filled, Result, Row, Table, at_least

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

EVENTS = 20_000
OFFICIAL_EVENTS = 2_000
ROUNDS = 5
DESCRIPTION = "d" * 500

# A server that does as little as it can, so that the clients are what is measured. As OpenMetadata
# each event makes one edge, and a request takes a millisecond: what batches spare is requests.
SERVER = """
import asyncio

HEAD = b"HTTP/1.1 201 Created\\r\\nContent-Length: %d\\r\\n\\r\\n%b"
BODY = b'{"status":"success","lineageEdgesCreated":%d}'
SINGLE = HEAD % (len(BODY % 1), BODY % 1)

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
            answer = SINGLE
            if b"/batch " in head:
                body = BODY % self.buffer.count(b'"runId"', end, whole)
                answer = HEAD % (len(body), body)
            self.buffer = self.buffer[whole:]
            if b"/v1/openlineage/" in head:
                asyncio.get_running_loop().call_later(0.001, self.transport.write, answer)
            else:
                self.transport.write(answer)

async def main():
    server = await asyncio.get_running_loop().create_server(Lineage, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""
# argv: URL, number of events, description. Prints seconds of CPU, and of wall-clock time.
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
started, used = time.perf_counter(), time.process_time()
for event in events:
    transport.emit(event)
print(time.process_time() - used, time.perf_counter() - started)
"""
# argv: URL, file. Reads the file and posts each line over one kept-alive connection, one after the
# other; prints seconds of CPU, and of wall-clock time.
LOOP = """
import socket, sys, time

host, port = sys.argv[1].removeprefix("http://").split(":")
started, used = time.perf_counter(), time.process_time()
connection = socket.create_connection((host, int(port)))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
head = (
    f"POST /api/v1/lineage HTTP/1.1\\r\\nHost: {host}:{port}\\r\\n"
    "Content-Type: application/json\\r\\nContent-Length: "
).encode()
for line in open(sys.argv[2], "rb"):
    body = line.rstrip()
    connection.sendall(b"%b%d\\r\\n\\r\\n%b" % (head, len(body), body))
    assert connection.recv(65536).startswith(b"HTTP/1.1 201 ")
print(time.process_time() - used, time.perf_counter() - started)
"""
# argv: those of the command. Prints what its posts took: seconds of CPU, and of wall-clock time.
POSTS = """
import time
from streamt_ol.__main__ import main
from streamt_ol.delivery.sending import Delivery

deliver = Delivery.run

def run(*arguments):
    started, used = time.perf_counter(), time.process_time()
    reason = deliver(*arguments)
    print(time.process_time() - used, time.perf_counter() - started, flush=True)
    return reason

Delivery.run = run
main()
"""

DELIVERED = Table(
    "Delivery over HTTP on loopback",
    {
        "send": Row("`send`, whole process / the official client's transport", at_least(5)),
        "send, 1 connection": Row("`send --concurrency 1`, whole process / the same"),
        "send, progress kept": Row("`send --progress-file`, whole process / the same"),
        "posts of send": Row("posts of `send` / a bare loop over one connection", at_least(0.8)),
        "posts of send, 1 connection": Row("posts of `send --concurrency 1` / the same"),
        "posts of send, progress kept": Row("posts of `send --progress-file` / the same"),
        "posts of batch": Row(
            "posts of `send --batch`, 50 events each, 1 ms a request / single posts", at_least(10)
        ),
        "batch": Row("`send --batch`, whole process / single posts, whole process"),
    },
    figures=(WALL, CPU),
    note=(
        f"Events a second, as a ratio; {EVENTS:,} events of 0.9 KB, medians of {ROUNDS} "
        "interleaved runs; the CPU of the client."
    ),
)
TABLES = (DELIVERED,)
Words = tuple[str | Path, ...]


def run(folder: Path) -> Filled:
    """Measure the events a second of ``send``, of the official client and of a bare loop."""
    jobs, runs = folder / "jobs.jsonl", folder / "runs.jsonl"
    for file, make in ((jobs, _job_event), (runs, _run_event)):
        file.write_text("".join(json.dumps(make(number)) + "\n" for number in range(EVENTS)))
    with _server() as url:
        costs = interleaved(_measured(url, jobs, runs, folder / "progress"), ROUNDS)
    yield DELIVERED, _results(costs)


def _measured(url: str, jobs: Path, runs: Path, progress: Path) -> Calls:
    single = ("send", runs, "--to", "openmetadata", "--url", url)
    command = ("send", jobs, "--to", "marquez", "--url", url)
    commands = {
        "send": command,
        "send, 1 connection": (*command, "--concurrency", "1"),
        "send, progress kept": (*command, "--progress-file", progress),
        "single": single,
        "batch": (*single, "--batch"),
    }

    def whole(program: str, words: Words) -> Cost:
        progress.unlink(missing_ok=True)
        return cost(program, *words)

    def posts(program: str, words: Words) -> Cost:
        progress.unlink(missing_ok=True)
        return _timed(Path(program).with_name("python"), POSTS, *words)

    measured: dict[str, Callable[[], Cost]] = {
        "official": lambda: _timed(PYTHON, OFFICIAL, url, str(OFFICIAL_EVENTS), DESCRIPTION),
        "loop": lambda: _timed(PYTHON, LOOP, url, jobs),
    }
    for commit, program in programs().items():
        for name, words in commands.items():
            measured[f"{name}, {commit}"] = partial(whole, program, words)
            measured[f"posts of {name}, {commit}"] = partial(posts, program, words)
    return measured


def _results(costs: Mapping[str, Sequence[Cost]]) -> dict[str, Result]:
    """Return the rows: each rate over another, in wall-clock time and in CPU."""
    cpu, wall = (seconds * EVENTS / OFFICIAL_EVENTS for seconds in times(costs["official"]))
    official, loop = _faster_than((cpu, wall)), _faster_than(times(costs["loop"]))
    names = ("send", "send, 1 connection", "send, progress kept")
    return {
        **{name: result(costs, name, official) for name in names},
        **{f"posts of {name}": result(costs, f"posts of {name}", loop) for name in names},
        "posts of batch": _wall_first(against(costs, "posts of single", "posts of batch")),
        "batch": _wall_first(against(costs, "single", "batch")),
    }


def _faster_than(seconds: tuple[float, float]) -> Callable[[Sequence[Cost]], tuple[float, ...]]:
    """Return a function of costs: their rates as multiples of one that took CPU and wall-clock."""

    def rates(costs: Sequence[Cost]) -> tuple[float, ...]:
        cpu, wall = (other / own for other, own in zip(seconds, times(costs), strict=True))
        return wall, cpu

    return rates


def _wall_first(found: Result) -> Result:
    return Result(found.now[::-1], found.base and found.base[::-1])


def _job_event(number: int) -> dict[str, object]:
    return _event("JobEvent", job=_job(number))


def _run_event(number: int) -> dict[str, object]:
    return _event(
        "RunEvent",
        eventType="COMPLETE",
        run={"runId": f"0192f9c0-0000-7000-8000-{number:012d}"},
        job=_job(number),
        inputs=[{"namespace": "postgresql://db:5432", "name": f"shop.public.in_{number}"}],
        outputs=[{"namespace": "postgresql://db:5432", "name": f"shop.public.out_{number}"}],
    )


def _job(number: int) -> dict[str, object]:
    facet = "https://openlineage.io/spec/facets/1-1-0/DocumentationJobFacet.json"
    documentation = {
        "_producer": "https://example.com/bench",
        "_schemaURL": f"{facet}#/$defs/DocumentationJobFacet",
        "description": DESCRIPTION,
    }
    return {
        "namespace": "bench",
        "name": f"job-{number}",
        "facets": {"documentation": documentation},
    }


def _event(kind: str, **fields: object) -> dict[str, object]:
    return {
        "eventTime": "2026-10-21T08:00:00Z",
        "producer": "https://example.com/bench",
        "schemaURL": f"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/{kind}",
        **fields,
    }


def _timed(python: str | Path, code: str, *arguments: str | Path) -> Cost:
    """Run a child that measures itself, and prints it: CPU, then wall-clock time."""
    # -P: the program of its environment, and not that of the folder in which this runs.
    whole = cost(python, "-P", "-c", code, *arguments, says=True)
    cpu, wall = map(float, whole.said.splitlines()[0].split())
    return whole._replace(seconds=wall, user_seconds=cpu, system_seconds=0.0)


@contextmanager
def _server() -> Iterator[str]:
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
    finally:
        server.kill()
        server.wait()
