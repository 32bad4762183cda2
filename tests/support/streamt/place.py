"""Parts that the tests of runs share: a place with a stand-in for streamt, and its events."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.problems import WarningRecord
from streamt_ol.runs import Job, RunSpec
from streamt_ol.runs.durable import Deliveries, run_apply
from streamt_ol.runs.marker import local_location
from streamt_ol.runs.run import utc_now
from streamt_ol.transport.memory import MemoryTransport
from streamt_ol.validation.events import check_event
from streamt_ol.validation.generated import check_generated
from support.commands import PROGRAM, clean_environment
from support.delivery.servers import Server
from support.manifests import shop

Json = dict[str, Any]
NAMESPACE = "https://lineage.example/ns/prod"
KAFKA = "kafka://broker.example:9092"
GATEWAY = "kafka://gateway.example:6969"
EMIT = ["--emit-openlineage", "--openlineage-job-namespace", NAMESPACE]
UNSET = "UNSET"
STAND_IN = Path(__file__).with_name("stand_in.py")
TESTS = [
    {"name": "t0", "model": "clean", "type": "sample"},
    {"name": "t1", "model": "totals", "type": "schema"},
    {"name": "t2", "model": "totals", "type": "sample"},
    {"name": "t3", "model": "view", "type": "sample"},
    {"name": "t4", "model": "totals", "type": "continuous"},
    {"name": "t5", "model": "clean", "type": "sample"},
]


class Place:
    """A folder with a manifest, the stand-in as ``streamt``, and a file that takes the events."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events_file = folder / "events.jsonl"
        self.streamt = folder / "bin" / "streamt"
        self.manifest = folder / "manifest.json"
        self.streamt.parent.mkdir()
        self.streamt.write_text(f"#!{sys.executable} -IS\n{STAND_IN.read_text()}")
        self.streamt.chmod(0o755)
        self.manifest.write_text(json.dumps({**shop(), "tests": TESTS}))

    def seen(self, plan: Json | None = None) -> Json:
        """Return a plan whose operation lasts until its START is in the file of the events.

        Not so where it says itself how long, or where no START may be expected.
        """
        plan = plan or {}
        unseen = {"pause", "pauses", "kind", "text", "marker", "project", "intent", "lock", "path"}
        return plan if unseen & plan.keys() else {**plan, "events": str(self.events_file)}

    def environment(self, plan: Json | None = None, **more: str) -> dict[str, str]:
        """Return variables that send events to the file; ``UNSET`` among ``more`` removes one."""
        variables = {
            "STAND_IN": json.dumps(plan or {}),
            "OPENLINEAGE__TRANSPORT__TYPE": "file",
            "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": str(self.events_file),
            "STREAMT_OPENLINEAGE_KAFKA_NAMESPACE": KAFKA,
            "STREAMT_OPENLINEAGE_GATEWAY_NAMESPACE": GATEWAY,
            **more,
        }
        return clean_environment(**{k: v for k, v in variables.items() if v != UNSET})

    def to(self, server: Server, **more: str) -> Json:
        """Return the variables that send events to ``server``, within a second."""
        return {
            "OPENLINEAGE__TRANSPORT__TYPE": "http",
            "OPENLINEAGE__TRANSPORT__LOG_FILE_PATH": UNSET,
            "OPENLINEAGE__TRANSPORT__URL": server.url,
            "OPENLINEAGE__TRANSPORT__ENDPOINT": "/api/v1/lineage",
            "OPENLINEAGE__TRANSPORT__TIMEOUT": "1",
            **more,
        }

    def streamt_line(self, command: str, *words: str, emit: bool = True) -> list[str]:
        """Return a command line of ``streamt-ol test`` or ``apply`` around the stand-in."""
        own = ["--streamt", str(self.streamt), "--manifest", str(self.manifest)]
        return [PROGRAM, command, *own, *(EMIT if emit else []), *words]

    def run(
        self,
        command: str,
        *words: str,
        plan: Json | None = None,
        emit: bool = True,
        stdin: bytes = b"",
        **variables: str,
    ) -> subprocess.CompletedProcess[bytes]:
        line = self.streamt_line(command, *words, emit=emit) if command != "run" else [
            PROGRAM, "run", "--job-namespace", NAMESPACE, "--job-name", "nightly", *words
        ]  # fmt: skip
        return subprocess.run(
            line,
            input=stdin,
            capture_output=True,
            env=self.environment(self.seen(plan) if emit and not variables else plan, **variables),
            cwd=self.folder,
            timeout=60,
            check=False,
        )

    def apply_here(
        self, plan: Json, program: str | None = None
    ) -> tuple[int, list[Json], list[WarningRecord]]:
        """Run the stand-in's apply around which this very process reports."""
        transport, warnings = MemoryTransport(), list[WarningRecord]()
        spec = RunSpec(Job(NAMESPACE, "streamt/shop/commands/apply"))
        deliveries = Deliveries(spec, transport, warnings.append)
        where = local_location(self.folder, "shop", "default")
        line = [program or str(self.streamt), "apply", "-p", str(self.folder)]
        looks = self.folder / "looks"
        with looks.open("ab", buffering=0) as counted:

            def clock() -> str:  # is asked once at each look
                counted.write(b".")
                return utc_now()

            environment = self.environment({**plan, "looks": str(looks)})
            ended = run_apply(line, environment, where, deliveries, clock)
        deliveries.finish()
        return ended.exit_status, checked([json.loads(e) for e in transport.events]), warnings

    def start(self, command: str, *words: str, plan: Json | None = None) -> subprocess.Popen[bytes]:
        """Start a command in a session of its own, its stdout and stderr piped."""
        return subprocess.Popen(
            self.streamt_line(command, *words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(self.seen(plan)),
            cwd=self.folder,
            start_new_session=True,
        )

    def lines(self) -> list[Json]:
        if not self.events_file.exists():
            return []
        return [json.loads(line) for line in self.events_file.read_text().splitlines()]

    def events(self) -> list[Json]:
        """Return the events delivered to the file, each of them known to be valid, strictly."""
        return checked(self.lines())

    def kinds(self) -> list[str]:
        return kinds(self.events())

    def marker(self, environment: str = "default") -> Path:
        return self.folder / ".streamt" / "state" / f"{environment}.control.json"


def kinds(events: list[Json]) -> list[str]:
    return [event["eventType"] for event in events]


def checked(events: list[Json]) -> list[Json]:
    """Return ``events``, which must be valid, each under the rules of its own producer."""
    for event in events:
        generated = event["producer"] == PRODUCER
        assert (check_generated([event]) if generated else check_event(event)) == []
    return events


def sent(server: Server) -> list[Json]:
    """Return the events that arrived at a server, checked."""
    return checked([json.loads(body) for body in server.bodies()])


def read_until(process: subprocess.Popen[bytes], line: bytes) -> list[bytes]:
    """Read the stdout of a process up to ``line``."""
    assert process.stdout
    read = []
    for one in process.stdout:
        read.append(one)
        if one.rstrip(b"\n") == line:
            return read
    raise AssertionError(f"{line!r} never came: {read!r}")


def wait_for(condition: Any, seconds: float = 30) -> None:
    """Wait until ``condition()`` holds; a hang, not slowness, makes it fail."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
