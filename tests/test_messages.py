"""Every message: user text reaches a terminal or a log escaped, redacted and bounded."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from support.delivery.events import dataset, facet, job, refs, run, write
from support.delivery.servers import Broker, Server
from support.inprocess import streamt_ol_here
from support.manifests import shop

# ESC, CSI of eight bits, a bell, line ends of all kinds, bidirectional overrides, no width.
CONTROL = "\x1b[31mx\x9b2Jy\x07\r\n\x85\u2028\u2029\u202e\u2066\u200b\x7f\x00"
LONG = "L" * 20_000
HOSTILE = [CONTROL, LONG]
LINE = 4_200  # characters: what no line of a message is longer than
NAMES = ("--job-namespace", "jobs", "--kafka-namespace", "kafka://b:1", "--gateway-namespace",
         "kafka://g:1")  # fmt: skip
Json = dict[str, Any]


def check_text(text: bytes) -> None:
    """Fail unless ``text`` is lines that are printable and not endless."""
    decoded = text.decode()
    raw = {c for c in decoded if not c.isprintable() and c != "\n"}
    assert not raw, decoded[:2_000]
    assert max(map(len, decoded.split("\n"))) <= LINE, decoded[:2_000]


def check_json(text: bytes) -> None:
    """Fail unless the documents in ``text`` hold nothing raw, and no endless message."""
    decoded = text.decode()
    raw = {c for c in decoded if not c.isprintable() and c != "\n"}
    assert not raw, decoded[:2_000]
    for document in documents(decoded):
        problems = document.get("data", {}).get("problems", []) if "data" in document else []
        for record in [*document.get("errors", []), *document.get("warnings", []), *problems]:
            assert all(len(v) <= LINE for v in record.values() if isinstance(v, str))


def documents(text: str) -> list[Json]:
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]


def drive(*arguments: str, is_data: bool = False) -> None:
    """Run a command line in text and in JSON mode, and check all that it prints."""
    done = streamt_ol_here(*arguments)
    check_text(done.stderr)
    if not is_data:
        check_text(done.stdout)
    done = streamt_ol_here("--output", "json", *arguments)
    check_text(done.stderr)
    if done.stdout:
        check_json(done.stdout)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every text in ``value``, and of every key."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key, None)
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    elif isinstance(value, str):
        yield path


def bent(value: Json, path: tuple[Any, ...], text: str) -> Json:
    """Return a copy in which the text, or the key, at ``path`` is ``text``."""
    copy = deepcopy(value)
    is_key = path[-1] is None
    *above, last = path[:-1] if is_key else path
    owner: Any = copy
    for step in above:
        owner = owner[step]
    if is_key:
        owner[text] = owner.pop(last)
    else:
        owner[last] = text
    return copy


def columns() -> Json:
    """Return a COMPLETE event with the facets that have rules of their own."""
    field = {"namespace": "db://h", "name": "in", "field": "f"}
    lineage = facet("ColumnLineageDatasetFacet", fields={"c": {"inputFields": [field]}})
    schema = facet("SchemaDatasetFacet", fields=[{"name": "c", "type": "int"}])
    output = {"namespace": "db://h", "name": "o", "facets": {"columnLineage": lineage,
                                                               "schema": schema}}  # fmt: skip
    parent = facet(
        "ParentRunFacet",
        run={"runId": "4a8f90a7-79c0-4f80-89e7-6b6c5d4fc79a"},
        job={"namespace": "n", "name": "p"},
    )
    event = run("r", inputs=refs("in"), outputs=[output])
    event["run"]["facets"] = {"parent": parent}
    event["job"]["facets"] = {
        "jobType": facet("JobTypeJobFacet", processingType="BATCH", integration="X", jobType="J")
    }
    return event


EVENTS = [columns(), job("j"), dataset("d", owner={"x": 1})]
PROJECT: Json = {
    "project": {"name": "shop"},
    "runtime": {"kafka": {"bootstrap_servers": "b:1"}},
    "sources": [{"name": "raw", "topic": "raw.v1", "columns": [{"name": "id", "type": "INT"}]}],
    "models": [
        {"name": "clean", "sql": 'SELECT a FROM {{ source("raw") }} GROUP BY a', "owner": "me"},
        {"name": "made", "macro": "m", "params": {"x": "y"}},
        {"name": "lake", "from": [{"ref": "clean"}], "materialized": "sink"},
    ],
}


@pytest.mark.parametrize("text", HOSTILE, ids=["control", "long"])
class TestEveryName:
    def test_of_a_manifest(self, tmp_path: Path, text: str) -> None:
        file = tmp_path / "manifest.json"
        for path in leaves(shop()):
            file.write_text(json.dumps(bent(shop(), path, text)))
            drive("export", str(file), *NAMES, is_data=True)

    def test_of_a_project(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "macros").mkdir()
        (tmp_path / "macros/m.sql.j2").write_text("{% include x ~ '.sql.j2' %}{{ ref('clean') }}")
        (tmp_path / "macros/y.sql.j2").write_text("SELECT 1 FROM ")
        for path in leaves(PROJECT):
            project = json.dumps(bent(PROJECT, path, text))
            (tmp_path / "stream_project.yml").write_text(project)
            drive("export", "--project-dir", str(tmp_path), *NAMES, is_data=True)

    def test_of_an_earlier_export(self, tmp_path: Path, text: str) -> None:
        manifest, file = tmp_path / "manifest.json", tmp_path / "lineage.jsonl"
        manifest.write_text(json.dumps(shop()))
        done = streamt_ol_here("export", str(manifest), *NAMES)
        event = json.loads(done.stdout.splitlines()[0])
        for path in leaves(event):
            file.write_text(json.dumps(bent(event, path, text)) + "\n")
            drive("export", str(manifest), *NAMES, "--check", str(file))

    @pytest.mark.parametrize("event", EVENTS, ids=["run", "job", "dataset"])
    def test_of_events_that_are_validated(self, tmp_path: Path, text: str, event: Json) -> None:
        file = tmp_path / "events.jsonl"
        write(file, *(bent(event, path, text) for path in leaves(event)))
        for form in ("text", "github", "junit"):
            done = streamt_ol_here("validate", str(file), "-f", form)
            check_text(done.stdout)
            check_text(done.stderr)
        for form in ("json", "jsonl", "sarif"):
            check_json(streamt_ol_here("validate", str(file), "-f", form).stdout)

    @pytest.mark.parametrize("event", EVENTS, ids=["run", "job", "dataset"])
    def test_of_events_that_are_delivered(self, tmp_path: Path, text: str, event: Json) -> None:
        file = tmp_path / "events.jsonl"
        write(file, *(bent(event, path, text) for path in leaves(event)))
        drive("check", str(file), "--for", "all")
        for receiver in ("marquez", "openmetadata", "kafka"):
            drive("check", str(file), "--for", receiver)
        with Server(tmp_path, {"status": 422, "body": json.dumps({"error": text})}) as server:
            for more in ((), ("--refuse-invalid",), ("--as-run-events",)):
                drive("send", str(file), "--to", "marquez", "--url", server.url, *more)

    @pytest.mark.parametrize("form", ["text", "mermaid", "dot", "json", "html"])
    def test_of_events_that_are_drawn(self, tmp_path: Path, text: str, form: str) -> None:
        file = tmp_path / "events.jsonl"
        event = EVENTS[0]
        write(file, *(bent(event, path, text[:300]) for path in leaves(event)))
        done = streamt_ol_here("graph", str(file), "-f", form, "--columns")
        check_text(done.stderr)
        raw = {c for c in done.stdout.decode() if not c.isprintable() and c not in "\n\t"}
        assert not raw
        drive("graph", str(file), "--focus", text, is_data=True)

    def test_of_events_that_are_compared(self, tmp_path: Path, text: str) -> None:
        old, new = write(tmp_path / "old.jsonl", EVENTS[0]), tmp_path / "new.jsonl"
        write(new, *(bent(EVENTS[0], path, text[:300]) for path in leaves(EVENTS[0])))
        for form in ("text", "markdown", "json", "github"):
            done = streamt_ol_here("diff", str(old), str(new), "-f", form)
            check_text(done.stderr)
            raw = {c for c in done.stdout.decode() if not c.isprintable() and c not in "\n\t"}
            assert not raw
        drive("diff", str(old), text, is_data=True)
        drive("diff", str(old), f"git:{text}:{text}", is_data=True)
        drive("diff", str(old), str(new), "--map-namespace", text, is_data=True)

    def test_of_what_a_server_says(self, tmp_path: Path, text: str) -> None:
        file = write(tmp_path / "e.jsonl", job("j"))
        header = text.replace("\r", "").replace("\n", "").replace("\x00", "")
        headers = {"Location": header[:20_000], "Content-Type": header[:20_000]}
        escaped = {k: v.encode("ascii", "replace").decode() for k, v in headers.items()}
        plans: list[Json] = [
            {"status": status, "body": text, "headers": escaped} for status in (200, 302, 400, 404)
        ]
        plans.append({"kind": "raw", "raw": f"HTTP/1.1 400 \x1b[31m{'x' * 9_000}\r\n\r\n"})
        for number, plan in enumerate(plans):
            with Server(tmp_path / str(number), plan) as server:
                drive("send", str(file), "--to", "openlineage", "--url", server.url, "--retries",
                      "0", "--timeout", "2")  # fmt: skip

    def test_of_records_that_are_forwarded(self, tmp_path: Path, text: str) -> None:
        values = [json.dumps(bent(job("j"), path, text)).encode() for path in leaves(job("j"))]
        with Broker() as broker, Server(tmp_path, {"status": 400, "body": text}) as server:
            broker.produce(text.encode(), *values)
            done = streamt_ol_here(
                "forward", "--bootstrap", broker.bootstrap, "--topic", broker.topic, "--group",
                "g", "--to", "marquez", "--url", server.url, "--until-end", "--rejected",
                str(tmp_path / "rejected"),
            )  # fmt: skip
        assert b"refused" in done.stderr
        check_text(done.stderr)
        check_text(done.stdout)


COMMANDS: list[tuple[str, ...]] = [
    ("export",), ("validate",), ("check",), ("send",), ("forward",), ("graph",), ("stage",),
    ("diff",), ("schemas",), ("run",), ("test",), ("apply",),
]  # fmt: skip
ARGUMENTS: list[tuple[str, ...]] = [
    ("@",),
    ("export", "@"), ("export", "--project-dir", "@"), ("export", "m", "--stage", "@"),
    ("export", "m", "--stage", "emit=@:@"), ("export", "m", "--job-namespace", "@"),
    ("export", "m", "--kafka-namespace", "@"), ("export", "m", "--event-time", "@"),
    ("export", "m", "--output-file", "@/@"), ("export", "m", "--check", "@"),
    ("export", "--project-dir", ".", "--env", "@"),
    ("validate", "@"), ("validate", "m", "--ignore", "@"), ("validate", "m", "-f", "@"),
    ("validate", "m", "--output-file", "@/@"), ("validate", "m", "--max-problems", "@"),
    ("check", "@", "--for", "marquez"), ("check", "m", "--for", "@"),
    ("send", "@", "--to", "marquez"), ("send", "m", "--to", "@"),
    ("send", "m", "--to", "marquez", "--url", "@"),
    ("send", "m", "--to", "marquez", "--url", "http://h/@"),
    ("send", "m", "--to", "marquez", "--url", "http://127.0.0.1:1", "--progress-file", "@/@"),
    ("send", "m", "--to", "marquez", "--url", "http://127.0.0.1:1", "--token-env", "@"),
    ("send", "m", "--to", "marquez", "--url", "http://127.0.0.1:1", "--ca-file", "@"),
    ("send", "m", "--to", "kafka", "--bootstrap", "@", "--topic", "@", "--timeout", "1"),
    ("send", "m", "--to", "kafka", "--bootstrap", "b:1", "--topic", "t", "--kafka-config", "@"),
    ("send", "m", "--to", "file", "--path", "@/@"),
    ("forward", "--bootstrap", "@", "--topic", "@", "--group", "@", "--to", "file", "--path", "@",
     "--timeout", "1"),
    ("diff", "m", "m", "--fail-on", "@"),
    ("graph", "@"), ("graph", "m", "--format", "@"), ("graph", "m", "--output-file", "@/@"),
    ("stage", "@"), ("stage", "load-manifest", "--manifest", "@"), ("schemas", "@"),
    ("run", "--job-name", "@", "--job-namespace", "n", "--", "true"),
    ("run", "--job-name", "j", "--job-namespace", "@", "--", "true"),
    ("run", "--job-name", "j", "--job-namespace", "n", "--producer", "@", "--", "true"),
    ("run", "--job-name", "j", "--job-namespace", "n", "--", "@"),
    ("test", "--streamt", "@", "--job-namespace", "n"), ("test", "--project-dir", "@"),
    ("apply", "--streamt", "@", "--job-namespace", "n"), ("apply", "--project-dir", "@"),
    *((*command, "--@") for command in COMMANDS), *((*command, "@", "@") for command in COMMANDS),
    *(("--output", "@", *command) for command in COMMANDS),
]  # fmt: skip


@pytest.mark.parametrize("text", [CONTROL.replace("\x00", ""), LONG], ids=["control", "long"])
@pytest.mark.parametrize("words", ARGUMENTS, ids=" ".join)
def test_every_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").write_text(json.dumps(job("j")))
    drive(*(word.replace("@", text) for word in words))


SETTINGS: list[Json] = [
    {"transport": {"type": "@"}},
    {"transport": {"type": "http", "url": "@"}},
    {"transport": {"type": "http", "url": "http://h", "@": 1}},
    {"transport": {"type": "http", "url": "http://h", "auth": {"type": "@"}}},
    {"transport": {"type": "file", "log_file_path": "@/@"}},
    {"transport": {"type": "http", "url": "http://h", "custom_headers": {"@": "@"}}},
    {"transport": {"type": "http", "url": "http://h", "custom_headers": {"x": ["@"], "y@": 1}}},
    {"@": 1},
    {"transport": {"type": "kafka", "topic": "t", "config": {"@": "@"}}},
    {"transport": {"type": "kafka", "topic": "t", "config": {"bootstrap.servers": "b:1"}, "@": 1}},
]


@pytest.mark.parametrize("text", HOSTILE, ids=["control", "long"])
def test_every_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    events = str(write(tmp_path / "e.jsonl", job("j")))
    monkeypatch.setenv("OPENLINEAGE_CONFIG", str(tmp_path / "openlineage.yml"))
    for settings in SETTINGS:
        written = json.dumps(settings).replace("@", json.dumps(text)[1:-1])
        (tmp_path / "openlineage.yml").write_text(written)
        drive("send", events, "--to", "config", "--timeout", "1", "--retries", "0")
        drive("run", "--job-name", "j", "--job-namespace", "n", "--", "true")
    (tmp_path / "kafka.yml").write_text(json.dumps({text: text}))
    drive("send", events, "--to", "kafka", "--bootstrap", "b:1", "--topic", "t",
          "--kafka-config", "kafka.yml")  # fmt: skip
    for name in ("OPENLINEAGE_NAMESPACE", "OPENLINEAGE_URL", "STREAMT_OPENLINEAGE_KAFKA_NAMESPACE"):
        monkeypatch.setenv(name, text.replace("\x00", ""))
        (tmp_path / "m.json").write_text(json.dumps(shop()))
        drive("export", "m.json", is_data=True)
        monkeypatch.delenv(name)


SOURCES = sorted(
    file
    for folder in ("streamt_ol", "stages")
    for file in (Path(__file__).parents[1] / folder).rglob("*.py")
    if "stages" not in file.relative_to(Path(__file__).parents[1]).parts[1:]
)
WRITING = ("typer.echo", "warnings.warn", "logging.basicConfig")
PRINTING = {"print", "echo", "secho", "basicConfig", "StreamHandler"}


def parsed(file: Path) -> tuple[str, ast.Module]:
    return "/".join(file.parts[-2:]), ast.parse(file.read_text())


def name_of(call: ast.expr) -> str:
    return call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "")


def test_only_the_output_writes_to_a_terminal() -> None:
    found = set()
    for name, tree in map(parsed, SOURCES):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called in ("sys.stdout.write", "sys.stderr.write", "sys.stdout.buffer.write") or (
                called in PRINTING
                or called.startswith(("typer.echo", "warnings.warn", "logging.b"))
            ):
                found.add((name, called))
    assert found == {
        ("cli/output.py", "sys.stderr.write"),  # escaped and bounded there
        ("cli/progress.py", "sys.stderr.write"),
        ("cli/typer_app.py", "typer.echo"),  # the version
    }


# What makes a message: the arguments of these hold no text of the user but through redaction.
MAKERS = {"StreamtOlError", "warning", "note", "_poison", "refuse", "Outcome", "fault", "_fault"}
REDACTING = {"shown", "place", "one_line", "printable_line"}
# What holds text of a user, a file or a server wherever it has one of these names.
TEXTS = {
    "argument", "body", "config", "content", "data", "description", "error", "event", "exception",
    "file", "folder", "given", "group", "header", "host", "key", "line", "model", "name",
    "namespace", "owner", "path", "record", "sql", "source", "target", "text", "topic", "url",
    "value", "word",
}  # fmt: skip
# Those of such names that are words of ours, numbers, or were redacted where they were made.
REVIEWED = {
    "cli/check.py: record['event']",
    "cli/check.py: record['line']",
    "cli/check.py: source",
    "cli/delivery_result.py: problem['event']",
    "cli/delivery_result.py: problem['line']",
    "cli/delivery_result.py: source",
    "lineage/git.py: path",  # an argument of git
    "reading/strict_yaml.py: event.value",  # one of a few words
    "runs/durable.py: event",  # START or the like
}
# Plain variables of these names hold words of ours more often than not; attributes do not.
_OURS = {"key", "line", "name"}
MESSAGES = {"message", "reason", "suggestion", "detail", "hint", "words"}


def makings(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield what messages are made of: arguments, and values of variables named like one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in MAKERS:
            yield from [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Assign) and any(name_of(t) in MESSAGES for t in node.targets):
            yield node.value


def interpolated(tree: ast.Module) -> Iterator[ast.expr]:
    waiting: list[ast.AST] = list(makings(tree))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and name_of(node.func) in REDACTING:
            continue
        if isinstance(node, ast.FormattedValue):
            yield node.value
        waiting += ast.iter_child_nodes(node)


def is_text(value: ast.expr) -> bool:
    """Return whether an interpolated value is named like text that is not ours."""
    if isinstance(value, ast.Subscript):
        at = value.slice
        return isinstance(at, ast.Constant) and at.value in TEXTS
    if isinstance(value, ast.Name) and value.id in _OURS:
        return False
    return name_of(value) in TEXTS


def test_user_text_reaches_a_message_through_redaction_only() -> None:
    found = {
        f"{name}: {ast.unparse(value)}"
        for name, tree in map(parsed, SOURCES)
        for value in interpolated(tree)
        if is_text(value)
    }
    assert sorted(found - REVIEWED) == [], "pass it through `shown` or `place`"
