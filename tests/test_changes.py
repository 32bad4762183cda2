"""A change touches few files: each is made to a copy of the program, which then has it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest
from support.commands import clean_environment
from support.openlineage_events import Event, dataset_event, facet, job_event, run_event, topic

from streamt_ol.openlineage import schemas
from streamt_ol.openlineage.schemas import pack

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "fixtures" / "manifests" / "demo.json"
EXPORTING = ["--kafka-namespace", "kafka://broker.example:9092"]
# Besides docs and tests.
MOST_FILES = 3


class Edit(NamedTuple):
    """Text that is put behind an anchor, the only one of its kind in a file; at its end without.

    With ``instead`` it is put in the anchor's place.
    """

    text: str
    after: str = ""
    instead: bool = False


Edits = dict[str, list[Edit]]


class Program:
    """A copy of the program with edits."""

    def __init__(self, folder: Path, edits: Edits) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "streamt_ol", folder / "streamt_ol")
        for name, changes in edits.items():
            path = folder / name
            text = path.read_text("utf-8") if path.exists() else ""
            for edit in changes:
                if edit.after:
                    assert text.count(edit.after) == 1, (name, edit.after)
                    kept = "" if edit.instead else edit.after
                    text = text.replace(edit.after, kept + edit.text)
                else:
                    text += edit.text
            path.write_text(text, "utf-8")

    def __call__(self, *arguments: str | Path, **variables: str) -> str:
        """Run the program and return what it prints, faults included."""
        ran = self.ran([sys.executable, "-m", "streamt_ol", *map(str, arguments)], **variables)
        return ran.stdout + ran.stderr

    def ran(self, words: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.folder,
            env=clean_environment(**variables),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


def write(path: Path, events: list[Event]) -> Path:
    path.write_text("".join(json.dumps(event) + "\n" for event in events), "utf-8")
    return path


def foreign(event: Event) -> Event:
    return {**event, "producer": "https://example.com/p"}


def broken(program: Program, path: Path) -> list[tuple[int, str, str]]:
    """Return where, and in which words, events break the rule OL-R099."""
    lines = program("validate", path, "--format", "jsonl", "--max-problems", "1000").splitlines()
    problems = [one for one in map(json.loads, lines) if one["rule"] == "OL-R099"]
    return [(one["line"], one["pointer"], one["message"]) for one in problems]


def rule_row(title: str) -> Edit:
    row = f'    "OL-R099": Rule(ERROR, "{title}", "invented"),\n'
    return Edit(row, after="RULES: dict[str, Rule] = {\n")


RULE_ABOUT_AN_EVENT: Edits = {
    "streamt_ol/validation/rules.py": [rule_row("a job has less than three inputs")],
    "streamt_ol/validation/accept/local.py": [
        Edit("""

@registered(EVENT_RULES, "OL-R099")
def few_inputs(kind: str, event: Any) -> bool:
    return len(event.get("inputs", ())) < 3
""")
    ],
    "streamt_ol/validation/explain/local.py": [
        Edit("""

@registered(RULES, "OL-R099")
def few_inputs(kind: str, event: walk.Object) -> Iterator[Finding]:
    if len([*walk.listed(walk.of_kind(kind, event), "inputs")]) >= 3:
        yield finding("OL-R099", "/inputs", "three or more inputs")
""")
    ],
}


def has_rule_about_an_event(program: Program, folder: Path) -> None:
    """Some hundred events, so that the fast path takes part; streamt's own events, too."""
    three = [topic("a"), topic("b"), topic("c")]
    events = [foreign(run_event("RUNNING", inputs=[topic("a")]))] * 200
    events[7] = foreign(run_event("RUNNING", inputs=three))
    events[150] = job_event(inputs=three)
    events[199] = foreign(job_event(inputs=three))
    path = write(folder / "events.jsonl", events)
    words = "three or more inputs"
    assert broken(program, path) == [(line, "/inputs", words) for line in (8, 151, 200)]


RULE_ABOUT_FACETS: Edits = {
    "streamt_ol/validation/rules.py": [rule_row("the description of a dataset is not 'none'")],
    "streamt_ol/validation/accept/local.py": [
        Edit("""

@registered(FACETS_RULES, "OL-R099")
def described(place: str, facets: Any) -> bool:
    text = facets.get("documentation", {}).get("description") if place == DATASET else None
    return text != "none"
""")
    ],
    "streamt_ol/validation/explain/local.py": [
        Edit("""

@registered(RULES, "OL-R099")
def described(kind: str, event: walk.Object) -> Iterator[Finding]:
    for path, dataset in walk.datasets(walk.of_kind(kind, event)):
        if walk.at(dataset, ("facets", "documentation", "description")) == "none":
            yield finding("OL-R099", pointer(*path, "facets", "documentation"), "no words")
""")
    ],
}


def has_rule_about_facets(program: Program, folder: Path) -> None:
    bad = dataset_event(documentation=facet("dataset", "documentation", description="none"))
    good = dataset_event(documentation=facet("dataset", "documentation", description="orders"))
    inner = [{**topic("a"), "facets": bad["dataset"]["facets"]}]
    events = [foreign({**good, "eventTime": f"2026-01-31T00:{n:02}:00Z"}) for n in range(60)] * 3
    events[9] = foreign(bad)
    events[99] = {**bad, "eventTime": "2026-02-01T00:00:00Z"}
    events[179] = foreign(run_event("RUNNING", inputs=inner))
    assert broken(program, write(folder / "events.jsonl", events)) == [
        (10, "/dataset/facets/documentation", "no words"),
        (100, "/dataset/facets/documentation", "no words"),
        (180, "/inputs/0/facets/documentation", "no words"),
    ]


NEW_FACET = "streamt_ol/openlineage/schemas/JobTypeJobFacet.json.b64"
FACET_VERSION: Edits = {
    "streamt_ol/openlineage/facets.py": [
        Edit('"jobType", "2-0-9"', after='"jobType", "2-0-4"', instead=True)
    ],
    # The two that `python -m streamt_ol.openlineage.schemas.pack` writes.
    "streamt_ol/openlineage/schemas/pins.json": [],
    NEW_FACET: [],
}


def has_facet_version(program: Program, folder: Path) -> None:
    documents = folder / "documents"
    documents.mkdir()
    for name, pin in schemas.pins().items():
        content = schemas.verified(name, pin)
        (documents / name).write_bytes(content.replace(b"2-0-4/JobType", b"2-0-9/JobType"))
    resources = program.folder / "streamt_ol/openlineage/schemas"
    before = {path: path.read_bytes() for path in resources.glob("*.*")}
    words = [sys.executable, "-m", pack.__name__, str(documents)]
    assert program.ran(words).returncode == 0
    changed = {path.name for path, content in before.items() if path.read_bytes() != content}
    assert changed == {Path(name).name for name in FACET_VERSION} - {"facets.py"}
    exported = program("export", DEMO, "--job-namespace", "n", *EXPORTING, "--quiet")
    assert "facets/2-0-9/JobTypeJobFacet.json" in exported
    assert "facets/2-0-4/JobTypeJobFacet.json" not in exported
    assert "JobTypeJobFacet 2-0-9" in program("validate", "--list-rules")


RECEIVER: Edits = {
    "streamt_ol/delivery/receivers/acme.py": [
        Edit('''"""Acme: takes JobEvents only."""

from streamt_ol.delivery.receivers.acceptance import ACCEPTED, REFUSED, Verdict
from streamt_ol.delivery.receivers.receiver import Receiver


def jobs_only(candidate):
    if "job" in candidate.event:
        return Verdict(ACCEPTED)
    return Verdict(REFUSED, ("acme takes jobs only",))


ACME = Receiver("acme", "http", "Acme's catalog: JobEvents", jobs_only, endpoint="/v1/acme")
''')
    ],
    "streamt_ol/delivery/receivers/__init__.py": [
        Edit("    acme,\n", after="from streamt_ol.delivery.receivers import (\n"),
        Edit("        acme.ACME,\n", after="        marquez.MARQUEZ,\n"),
    ],
}


def has_receiver(program: Program, folder: Path) -> None:
    posted = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            posted.append((self.path, json.loads(body)))
            self.send_response(201)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    events = [job_event(), dataset_event()]
    path = write(folder / "events.jsonl", events)
    assert "why: acme takes jobs only\n" in program("check", path, "--for", "acme")
    server = HTTPServer(("127.0.0.1", 0), Server)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        program("send", path, "--to", "acme", "--url", f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
    assert posted == [("/v1/acme", events[0])]


MATERIALIZATION: Edits = {
    "streamt_ol/manifest/processes.py": [
        Edit(
            '    "foo_jobs": ProcessKind("Foo job", {"sql": _OPTIONAL_TEXT}),\n',
            after="PROCESSES: dict[str, ProcessKind] = {\n",
        )
    ],
    "streamt_ol/project/materialization.py": [
        Edit('MATERIALIZATIONS = (TOPIC, FLINK, GATEWAY, SINK, "foo")',
             after="MATERIALIZATIONS = (TOPIC, FLINK, GATEWAY, SINK)", instead=True)
    ],
    "streamt_ol/project/artifacts.py": [
        Edit('    "foo": ("foo_jobs", ""),\n', after="_COMPILED = {\n")
    ],
}  # fmt: skip


def has_materialization(program: Program, folder: Path) -> None:
    (folder / "stream_project.yml").write_text("""
project: {name: shop}
runtime: {kafka: {bootstrap_servers: "broker.example:9092"}}
sources: [{name: orders, topic: orders.v1}]
models: [{name: clean, materialized: foo, sql: 'SELECT * FROM {{ source("orders") }} WHERE a'}]
""")
    exported = program("export", "--project-dir", folder, "--job-namespace", "n", "--quiet")
    jobs = [one for one in map(json.loads, exported.splitlines()) if "job" in one]
    [job] = jobs
    assert job["job"]["name"] == "streamt/shop/models/clean"
    assert [one["name"] for one in job["inputs"]] == ["orders.v1"]
    assert [one["name"] for one in job["outputs"]] == ["clean"]


OUTPUT_FORMAT: Edits = {
    "streamt_ol/validation/report/csv.py": [
        Edit('''"""The report as CSV."""


def report(found, _colour):
    for one in found.problems:
        yield f"{one.line},{one.rule},{one.pointer}\\n".encode()
''')
    ],
    "streamt_ol/validation/report/__init__.py": [
        Edit('    "csv": "streamt_ol.validation.report.csv:report",\n',
             after="REPORTERS: dict[str, str] = {\n")
    ],
}  # fmt: skip


def has_output_format(program: Program, folder: Path) -> None:
    path = write(folder / "events.jsonl", [{"a": 1}])
    assert program("validate", path, "--format", "csv") == "1,OL-R010,\n"
    assert "<csv|text|" in program("validate", "--help", COLUMNS="200")


TRANSPORT: Edits = {
    "streamt_ol/transport/acme.py": [
        Edit('''"""The transport of type acme: a file with a line of its own for each event."""

from streamt_ol.transport.file import FileTransport
from streamt_ol.transport.section import only, text


class AcmeConfig:
    is_unencrypted = False
    target = "acme"

    def __init__(self, path):
        self.path = path

    def workers(self, wanted):
        return 1

    def open(self, limit=None):
        return FileTransport(self.path)


def acme(section):
    only(section, "", {"type", "place"})
    return AcmeConfig(text(section, "place"))
''')
    ],
    "streamt_ol/transport/config.py": [
        Edit("from streamt_ol.transport.acme import acme\n", after=" NamedTuple, Protocol\n\n"),
        Edit('"acme": acme, ', after="_KINDS: dict[str, Callable[[Section], TransportConfig]] = {"),
    ],
}


def has_transport(program: Program, folder: Path) -> None:
    variables = {
        "OPENLINEAGE__TRANSPORT__TYPE": "acme",
        "OPENLINEAGE__TRANSPORT__PLACE": str(folder / "acme"),
    }
    words = ("run", "--job-namespace", "n", "--job-name", "j", "--", "true")
    assert program(*words, **variables) == ""
    lines = (folder / "acme").read_text("utf-8").splitlines()
    assert [json.loads(line)["eventType"] for line in lines] == ["START", "COMPLETE"]
    variables["OPENLINEAGE__TRANSPORT__TYPE"] = "acne"
    assert "use acme, http or file" in program(*words, **variables)


ENGINE: Edits = {
    "streamt_ol/scale/engines/acme.py": [
        Edit('''"""An engine that does everything here, in order."""


class Acme:
    shares_files = True

    def __init__(self, options):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def map(self, task, items):
        return map(task, items)
''')
    ],
    "streamt_ol/scale/engines/__init__.py": [
        Edit('    "acme": "streamt_ol.scale.engines.acme:Acme",\n', after="ENGINES = {\n")
    ],
}


def has_engine(program: Program, folder: Path) -> None:
    path = write(folder / "events.jsonl", [foreign(job_event())])
    assert "1 event" in program("validate", path, "--engine", "acme")


COMMAND: Edits = {
    "streamt_ol/cli/count.py": [
        Edit('''"""`streamt-ol count`: how many datasets and jobs there are."""

from __future__ import annotations

from typing import Annotated

from streamt_ol.cli.lineage_source import ExportSettings, load
from streamt_ol.cli.parameters import Context, argument


def count(
    context: Context, source: Annotated[str, argument(metavar="EVENTS", help="Events.")]
) -> int:
    """Count the datasets and jobs of lineage."""
    context.obj.text(f"{len(load(source, ExportSettings()).graph.nodes)} nodes")
    return 0
''')
    ],
    "streamt_ol/cli/commands.py": [
        Edit('    "count": "streamt_ol.cli.count:count",\n', after="COMMANDS: dict[str, str] = {\n")
    ],
}


def has_command(program: Program, folder: Path) -> None:
    path = write(folder / "events.jsonl", [job_event(inputs=[topic("a")], outputs=[topic("b")])])
    assert program("count", path) == "3 nodes\n"
    assert "Count the datasets and jobs of lineage." in program("--help")


RENAMED_OPTION: Edits = {
    "streamt_ol/cli/options.py": [
        Edit('JOB_NAMESPACE = "--jobs-namespace"', after='JOB_NAMESPACE = "--job-namespace"',
             instead=True)
    ],
}  # fmt: skip


def has_renamed_option(program: Program, folder: Path) -> None:
    for command in ("export", "stage", "graph", "diff", "run"):
        shown = program(command, "--help", COLUMNS="200")
        assert "--jobs-namespace" in shown
        assert not re.search(r"(?<![a-z-])--job-namespace", shown)
    missing = program("export", DEMO, *EXPORTING)
    assert "hint: give --jobs-namespace NAMESPACE or set OPENLINEAGE_NAMESPACE" in missing
    assert '"total"' in program(
        "--output", "json", "export", DEMO, *EXPORTING, "--jobs-namespace", "n"
    )


WARNING_CODE: Edits = {
    "streamt_ol/codes.py": [
        Edit("""INVENTED = _warning("W199_INVENTED", "an invented warning", "nothing")\n""")
    ],
    "streamt_ol/delivery/reading.py": [
        Edit("from streamt_ol.codes import INVENTED as GENERIC_WARNING",
             after="from streamt_ol.codes import GENERIC_WARNING", instead=True)
    ],
}  # fmt: skip


def has_warning_code(program: Program, folder: Path) -> None:
    code = (
        "from streamt_ol.codes import WARNINGS;"
        "from streamt_ol.delivery.reading import GENERIC_WARNING as used;"
        "print(used, WARNINGS[used].meaning)"
    )
    assert program.ran([sys.executable, "-c", code]).stdout == "W199_INVENTED an invented warning\n"


Shown = Callable[[Program, Path], None]
# As docs/extending.md has them.
CHANGES: dict[str, tuple[Edits, Shown]] = {
    "a facet's version": (FACET_VERSION, has_facet_version),
    "a receiver": (RECEIVER, has_receiver),
    "a materialization": (MATERIALIZATION, has_materialization),
    "a rule about an event": (RULE_ABOUT_AN_EVENT, has_rule_about_an_event),
    "a rule about facets": (RULE_ABOUT_FACETS, has_rule_about_facets),
    "a format of reports": (OUTPUT_FORMAT, has_output_format),
    "a transport": (TRANSPORT, has_transport),
    "an engine": (ENGINE, has_engine),
    "a command": (COMMAND, has_command),
    "the name of an option": (RENAMED_OPTION, has_renamed_option),
    "a warning": (WARNING_CODE, has_warning_code),
}


def test_the_documentation_names_the_files() -> None:
    page = (ROOT / "docs" / "extending.md").read_text("utf-8").split("## A change and its files")[1]
    rows = re.findall(r"^\| (an? [^|]+|the [^|]+) \| (.*) \|$", page, re.MULTILINE)
    assert [name for name, _ in rows] == list(CHANGES)
    for name, files in rows:
        named = set(re.findall(r"`([\w/]+\.[\w.]+)`", files))
        made = {
            re.sub(r"(acme|count|csv|JobTypeJobFacet)\.", "NAME.", one) for one in CHANGES[name][0]
        }
        unnamed = {"streamt_ol/delivery/reading.py"}  # one that gives a warning
        assert {f"streamt_ol/{one}" for one in named} == made - unnamed, name


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_touches_few_files(name: str, tmp_path: Path) -> None:
    edits, shown = CHANGES[name]
    assert len(edits) <= MOST_FILES
    shown(Program(tmp_path / "copy", edits), tmp_path)
