"""Hypothesis strategies for whole compiled projects, with what their lineage has to be.

A project is put together from datasets and models as streamt would declare and compile them, in
the form of a newer or of an older release. ``SECRET`` stands wherever a manifest may hold one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from streamt_ol.openlineage.names import segment
from support.manifests import OPTIONS, TIME

Json = dict[str, Any]
# Nothing that a redaction could recognise: it may not be read at all.
SECRET = "Hush7f3a9"
KAFKA, GATEWAY = "kafka", "gateway"
NAMESPACES = {kind: OPTIONS[f"{kind}_namespace"] or "" for kind in (KAFKA, GATEWAY)}

NASTY = [
    *("a/b", "a%2Fb", "it's", 'say "x"', "`tick`", "x;--", "CREATE TABLE", "a b", " padded ", ".."),
    *("{{ x }}", "{% raw %}", "\\", "#{", "é", "日本", "🐎", "\u02bc", "\ufb01", "\u202e", "\x7f"),
]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)
NAMES = (
    (st.sampled_from(NASTY) | TEXT)
    # Names that an older release could not tell from a processor's or a test's.
    .filter(lambda name: not name.startswith("test_") and not name.endswith("_processor"))
)
MAYBE_TEXT = st.none() | st.just("") | NAMES
COLUMN = st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "type": st.sampled_from([None, "", " ", "BIGINT", "ROW<a INT, b ARRAY<STRING>>"]),
        "description": MAYBE_TEXT,
        "classification": st.none(),
    },
)
COLUMNS = st.none() | st.lists(COLUMN, max_size=4, unique_by=lambda column: column["name"])
CONTRACT = st.none() | st.fixed_dictionaries(
    {"enforced": st.booleans()}, optional={"columns": COLUMNS}
)

BARE, BARE_FROM, SQL_TOPIC, FLINK, VIEW, SINK_SQL, SINK_FROM, MACRO = MODELS = (
    "bare", "bare from", "sql topic", "flink", "view", "sink sql", "sink from", "macro",
)  # fmt: skip
TOPIC_KINDS = (BARE, BARE_FROM, SQL_TOPIC, FLINK, MACRO)
PROCESSORS = (SQL_TOPIC, FLINK, MACRO)


class Dataset(NamedTuple):
    """A declared dataset: the declaration's kind and name, the namespace's kind, the topic."""

    declared: str
    name: str
    kind: str
    topic: str

    @property
    def identity(self) -> tuple[str, str]:
        return NAMESPACES[self.kind], self.topic


class Project(NamedTuple):
    """A compiled project and its lineage: datasets, and for each job its inputs and outputs."""

    manifest: Json
    datasets: list[tuple[str, str]]
    jobs: dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]]


class Builder:
    """Puts a project together, one declaration after the other."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.newer = draw(st.booleans())
        self.redacted = draw(st.booleans())
        self.project = draw(NAMES)
        self.names = iter(draw(st.lists(NAMES, min_size=20, max_size=20, unique=True)))
        self.sources: list[Json] = []
        self.models: list[Json] = []
        self.tests: list[Json] = []
        self.datasets: list[Dataset] = []
        self.artifacts: dict[str, list[Json]] = {
            kind: [] for kind in ("schemas", "topics", "flink_jobs", "test_jobs", "connectors",
                                  "gateway_rules")
        }  # fmt: skip
        self.upstream: dict[str, list[str]] = {}
        self.jobs: dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]] = {}

    @property
    def secret(self) -> str:
        return "***" if self.redacted else SECRET

    def add_source(self) -> None:
        name, topic = next(self.names), next(self.names)
        self.sources.append(
            {**self._declared(name), "topic": topic, "schema_": None, "columns": self.draw(COLUMNS)}
        )
        self.datasets.append(Dataset("source", name, KAFKA, topic))
        self.upstream[name] = []

    def add_model(self, kind: str) -> None:
        """Add a model of ``kind``, or a bare topic where there is nothing that it could read."""
        read = self._dependencies(kind)
        if not read:
            kind = BARE
        name, declared_topic = next(self.names), self._maybe_name()
        topic = declared_topic or name
        self.models.append(self._model(kind, name, declared_topic, read))
        self.upstream[name] = [dataset.name for dataset in read]
        self._compile(kind, name, topic, read)
        written: list[tuple[str, str]] = []
        if kind in TOPIC_KINDS or kind == VIEW:
            dataset = Dataset("ref", name, GATEWAY if kind == VIEW else KAFKA, topic)
            self.datasets.append(dataset)
            written = [dataset.identity]
        if kind not in (BARE, BARE_FROM):
            inputs = sorted({dataset.identity for dataset in read})
            job = f"streamt/{segment(self.project)}/models/{segment(name)}"
            self.jobs[job] = (inputs, written)

    def add_continuous_test(self) -> None:
        """Add a test with a Flink job, which belongs to no model."""
        name = next(self.names)
        self.tests.append({"name": name, "type": "continuous", "model": self.models[0]["name"]})
        kept_apart = self.draw(st.booleans())
        sql = f"INSERT INTO failures SELECT '{SECRET}';"
        job = self._artifact("test", f"test_{name}", owner=name, sql=sql)
        self.artifacts["test_jobs" if kept_apart else "flink_jobs"].append(job)

    def finished(self) -> Project:
        manifest: Json = {
            "version": "1.0.0",
            "project": self.project,
            "compiled_at": TIME,
            "sources": self.sources,
            "models": self.models,
            "tests": self.tests,
            "artifacts": self.artifacts,
            "some_later_field": SECRET,
        }
        if self.draw(st.booleans()):
            self._add_dag_and_exposure(manifest)
        if self.draw(st.booleans()):
            manifest["runtime"] = runtime()
        datasets = sorted(dataset.identity for dataset in self.datasets)
        return Project(manifest, datasets, dict(sorted(self.jobs.items())))

    def _maybe_name(self) -> str | None:
        return next(self.names) if self.draw(st.booleans()) else None

    def _dependencies(self, kind: str) -> list[Dataset]:
        readable = self.datasets
        if kind == VIEW:
            readable = [dataset for dataset in self.datasets if dataset.kind == KAFKA]
        if kind == BARE or not readable:
            return []
        most = 1 if kind == VIEW else 3
        chosen = self.draw(
            st.lists(st.sampled_from(readable), min_size=1, max_size=most, unique=True)
        )
        if kind == MACRO:  # its tables are told apart by the names that streamt makes for them
            return list({table_name(dataset.name): dataset for dataset in chosen}.values())
        return chosen

    def _declared(self, name: str) -> Json:
        return {
            "name": name,
            "description": self.draw(MAYBE_TEXT),
            "owner": self.draw(MAYBE_TEXT),
            "tags": [SECRET, "b", "a"],
            "some_later_field": {"token": SECRET},
            **({"ownership": {"mode": "managed"}} if self.newer else {}),
        }

    def _model(self, kind: str, name: str, topic: str | None, read: list[Dataset]) -> Json:
        model = {**self._declared(name), "columns": self.draw(COLUMNS), "materialized": None}
        model |= {"contract": self.draw(CONTRACT), "security": {"policies": [SECRET]}}
        virtual = kind == VIEW and topic is not None
        declared = {"name": None if virtual else topic, "config": {"secret": SECRET}}
        model |= {"topic": declared} if self.newer else {"advanced": {"topic": declared}}
        if virtual:
            model["gateway"] = {"virtual_topic": {"name": topic}}
        if kind == MACRO:
            model |= {"macro": "m", "params": {"password": SECRET}, "sql": None}
        elif kind in (SQL_TOPIC, FLINK, SINK_SQL) or (kind == VIEW and self.draw(st.booleans())):
            model["sql"] = self._sql(read)
        elif read:
            entries = [self._entry(dataset) for dataset in read]
            entries += entries[: self.draw(st.integers(0, 1))]  # a repeated one counts once
            model["from_" if self.newer else "from"] = entries
        if kind in (SINK_SQL, SINK_FROM):
            model["sink"] = {"connector": "c", "config": {"password": SECRET}}
        return model

    def _entry(self, dataset: Dataset) -> Json:
        entry = {dataset.declared: dataset.name}
        return {"source": None, "ref": None, **entry} if self.newer else entry

    def _sql(self, read: list[Dataset]) -> str:
        calls = [
            self.draw(st.sampled_from(["{{ %s(%s) }}", "{{%s(%s)}}", "{{\n  %s( %s ) }}"]))
            % (dataset.declared, jinja_string(dataset.name, self.draw(st.sampled_from("'\""))))
            for dataset in read
        ]
        return f"SELECT '{SECRET}' FROM " + " JOIN ".join(calls) + f" -- {SECRET}"

    def _compile(self, kind: str, name: str, topic: str, read: list[Dataset]) -> None:
        if kind in TOPIC_KINDS:
            self._add("topics", name, topic, config={"password": self.secret})
        if kind in PROCESSORS:
            processor = f"{name}_processor" if kind == SQL_TOPIC else name
            sql = compiled_sql(read, topic, self.secret)
            self._add("flink_jobs", name, processor, sql=sql, parallelism=None)
        elif kind == VIEW:
            interceptors = [{"type": "filter", "config": {"where": f"a = '{self.secret}'"}}]
            self._add("gateway_rules", name, name, virtualTopic=topic,
                      physicalTopic=read[0].topic, interceptors=interceptors)  # fmt: skip
        elif kind in (SINK_SQL, SINK_FROM):
            topics = sorted({dataset.topic for dataset in read})
            config = {"connection.password": self.secret, "a": SECRET}
            self._add("connectors", name, name, topics=topics, config=config)

    def _add(self, kind: str, owner: str, name: str, **more: Any) -> None:
        self.artifacts[kind].append(self._artifact("model", name, owner, **more))

    def _artifact(self, owner_type: str, name: str, owner: str, **more: Any) -> Json:
        if not self.newer:
            return {"name": name, **more}
        ownership = {"mode": "managed", "project": self.project, "type": owner_type, "name": owner}
        return {"name": name, "ownership": ownership, **more}

    def _add_dag_and_exposure(self, manifest: Json) -> None:
        exposure = next(self.names)
        consumed = [dataset.name for dataset in self.datasets[:1]]
        manifest["exposures"] = [{"name": exposure, "owner": SECRET, "consumes": consumed}]
        macros = {model["name"] for model in self.models if model.get("macro")}
        unseen = set() if self.newer else macros  # an older release does not see into macros
        edges = [
            *((read, name) for name, reads in self.upstream.items() for read in reads
              if name not in unseen),
            *((read, exposure) for read in consumed),
        ]  # fmt: skip
        sources = {source["name"] for source in self.sources}
        manifest["dag"] = {
            "edges": [{"from": read, "to": name} for read, name in edges],
            "nodes": [
                {
                    "name": name,
                    "type": "source" if name in sources
                    else "exposure" if name == exposure else "model",
                    "materialized": None,
                    "upstream": [read for read, to in edges if to == name],
                    "downstream": [to for read, to in edges if read == name],
                }
                for name in (*self.upstream, exposure)
            ],
        }  # fmt: skip


def runtime() -> Json:
    """The runtime that a manifest may have; two values of it may be read, and no other."""
    return {
        "kafka": {"bootstrap_servers": "broker.example:9092", "sasl_password": SECRET},
        "conduktor": {"gateway": {"proxy_bootstrap": "g.example:6969", "admin_password": SECRET}},
        "schema_registry": {"url": f"https://user:{SECRET}@registry.example"},
    }


def jinja_string(text: str, quote: str) -> str:
    """Return a string literal of Jinja, which knows the escapes of Python."""
    if "\\" not in text and quote not in text and text.isprintable():
        return f"{quote}{text}{quote}"
    escaped = text.encode("unicode_escape").decode().replace(quote, f"\\{quote}")
    return f"{quote}{escaped}{quote}"


def table_name(name: str) -> str:
    """Return the table name that streamt makes from the name of a source or a model."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def compiled_sql(read: list[Dataset], topic: str, secret: str) -> str:
    tables = [(f"`{table_name(dataset.name)}`", dataset.topic) for dataset in read]
    statements = [_table(name, of, secret) for name, of in (*tables, ("`the sink`", topic))]
    select = f"SELECT '{secret}' FROM " + " JOIN ".join(name for name, _ in tables)
    return "\n".join([*statements, f"INSERT INTO `the sink` {select};"])


def _table(name: str, topic: str, secret: str) -> str:
    options = {
        "connector": "kafka",
        "topic": topic,
        "properties.sasl.jaas.config": f'required username="svc" password="{secret}";',
    }
    pairs = ", ".join(f"{quoted(key)} = {quoted(value)}" for key, value in options.items())
    return f"CREATE TABLE {name} (`a` STRING) WITH ({pairs}); -- {secret}"


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@st.composite
def projects(draw: st.DrawFn) -> Project:
    """Whole projects, each a valid one."""
    builder = Builder(draw)
    for _ in range(draw(st.integers(0, 3))):
        builder.add_source()
    kinds: list[str] = draw(st.lists(st.sampled_from(MODELS), max_size=6))
    for kind in kinds:
        builder.add_model(kind)
    if draw(st.booleans()) and builder.models:
        builder.add_continuous_test()
    return builder.finished()


def reordered(value: Any, random: Random, key: str = "") -> Any:
    """Return a manifest in another order: object keys, and all lists but those of columns."""
    if isinstance(value, dict):
        members = [(name, reordered(member, random, name)) for name, member in value.items()]
        random.shuffle(members)
        return dict(members)
    if isinstance(value, list):
        items = [reordered(item, random) for item in value]
        if key != "columns":
            random.shuffle(items)
        return items
    return value


# What may stand somewhere by mistake, and what may get into a text.
MISTAKES: list[Any] = [None, True, 0, -1, 1.5, "", " ", "x", [], {}, ["x"], [None], {"name": "x"}]
SLIPS = ["'", '"', "`", "{{", "}}", "{%", "{#", "/*", "--", ";", "\\", "(", ")", "\x00", "\ud800"]


@st.composite
def spoiled(draw: st.DrawFn, text: str) -> str:
    """Return ``text`` with a slip in it, and perhaps some characters less."""
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.sampled_from(SLIPS)) + text[at + draw(st.integers(0, 9)) :]


@st.composite
def broken(draw: st.DrawFn) -> Json:
    """Manifests with mistakes in them: something is gone, doubled, spoiled, or something else.

    Some are still valid, for not everything in a manifest is read.
    """
    manifest: Json = json.loads(json.dumps(draw(projects()).manifest))
    for _ in range(draw(st.integers(1, 2))):
        places = list(_places(manifest))
        if draw(st.booleans()):  # SQL holds most of the secrets
            places = [(holder, key) for holder, key in places if key == "sql"] or places
        holder, key = draw(st.sampled_from(places))
        how = draw(st.sampled_from(["spoiled", "gone", "doubled", "replaced"]))
        if how == "gone":
            del holder[key]
        elif how == "doubled" and isinstance(holder, list):
            holder.append(holder[key])
        elif how == "spoiled" and isinstance(holder[key], str):
            holder[key] = draw(spoiled(holder[key]))
        else:
            holder[key] = draw(st.sampled_from(MISTAKES))
    return manifest


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each place in a JSON value as its holder and the key or index there."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
