"""The difference of two graphs: golden ones worked out by hand, and properties."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.lineage_events import BROKER, HOSTILE, JOBS, Event, column_lineage, dataset, job

from streamt_ol.lineage.changes import KINDS, Change
from streamt_ol.lineage.difference import Difference, compare, relabelled
from streamt_ol.lineage.events import build
from streamt_ol.lineage.graph import Edge, Graph, Key, Owner, graph_of
from streamt_ol.lineage.rendering.diff import REPORTERS, reporter
from streamt_ol.lineage.rendering.diff_document import diff_document
from streamt_ol.lineage.rendering.diff_markdown import MAX_CHARACTERS, code
from streamt_ol.problems import StreamtOlError

MIRROR = {"removed": "added", "added": "removed"}


def d(name: str) -> Key:
    return Key("dataset", BROKER, name)


def j(name: str) -> Key:
    return Key("job", JOBS, name)


def difference(old: Sequence[Any], new: Sequence[Any]) -> Difference:
    return compare(build(old), build(new))


def changes(old: Sequence[Any], new: Sequence[Any]) -> list[Change]:
    return list(difference(old, new).changes)


class TestNodes:
    def test_added_and_removed(self) -> None:
        old = [dataset("gone", [("a", "INT")]), job("stays", ("x",))]
        new = [dataset("come", [("b", "INT")]), job("stays", ("x",))]
        assert changes(old, new) == [
            Change("dataset-removed", d("gone")),
            Change("dataset-added", d("come")),
        ]

    def test_time_and_order_do_not_matter(self) -> None:
        old = [dataset("x", [("a", "INT")]), job("j", ("x", "y"), ("z",))]
        new = [
            job("j", ("y", "x"), ("z",), time="2027-01-01T00:00:00Z"),
            dataset("x", [("a", "INT")], time="2027-01-01T00:00:00Z"),
        ]
        assert changes(old, new) == []

    def test_inputs_and_outputs_of_a_job(self) -> None:
        assert changes([job("j", ("a", "b"), ("c",))], [job("j", ("a", "d"), ("c", "b"))]) == [
            Change("output-changed", j("j"), other=d("b"), new="b"),
            Change("input-changed", j("j"), other=d("b"), old="b"),
            Change("input-changed", j("j"), other=d("d"), new="d"),
            Change("dataset-added", d("d")),
        ]

    def test_owners_and_descriptions(self) -> None:
        old = [dataset("x", owners=("b", "a"), description="One"), job("j", owners=("a",))]
        new = [dataset("x", owners=("a",), description="Two"), job("j", description="New")]
        assert changes(old, new) == [
            Change("owner-changed", d("x"), old=(Owner("a"), Owner("b")), new=(Owner("a"),)),
            Change("owner-changed", j("j"), old=(Owner("a"),), new=()),
            Change("description-changed", d("x"), old="One", new="Two"),
            Change("description-changed", j("j"), old=None, new="New"),
        ]

    def test_the_order_of_owners_does_not_matter(self) -> None:
        assert changes([dataset("x", owners=("a", "b"))], [dataset("x", owners=("b", "a"))]) == []

    def test_other_facets(self) -> None:
        old = [dataset("x", datasetType={"_producer": "urn:a", "datasetType": "TOPIC"})]
        new = [dataset("x", datasetType={"_producer": "urn:b", "datasetType": "VIEW"})]
        assert changes(old, new) == [
            Change(
                "facet-changed", d("x"), facet="datasetType", new="/datasetType 'TOPIC' -> 'VIEW'"
            )
        ]

    def test_another_producer_alone_is_no_difference(self) -> None:
        old = [dataset("x", datasetType={"_producer": "urn:a", "_schemaURL": "urn:1"})]
        new = [dataset("x", datasetType={"_producer": "urn:b", "_schemaURL": "urn:2"})]
        assert changes(old, new) == []


class TestColumns:
    def test_added_removed_and_retyped(self) -> None:
        old = [dataset("x", [("id", "INT"), ("gone", "INT"), ("at", "DATE")])]
        new = [dataset("x", [("id", "BIGINT"), ("at", "DATE"), ("come", "INT")])]
        assert changes(old, new) == [
            Change("column-removed", d("x"), "gone", old="INT"),
            Change("column-retyped", d("x"), "id", old="INT", new="BIGINT"),
            Change("column-added", d("x"), "come", new="INT"),
        ]

    def test_one_that_moved_is_one_change(self) -> None:
        old = [dataset("x", [(name, "INT") for name in "abcd"])]
        new = [dataset("x", [(name, "INT") for name in "bcda"])]
        assert changes(old, new) == [Change("column-moved", d("x"), "a", old=1, new=4)]

    def test_one_that_was_put_in_front_moves_none(self) -> None:
        old = [dataset("x", [("a", "INT"), ("b", "INT")])]
        new = [dataset("x", [("new", "INT"), ("a", "INT"), ("b", "INT")])]
        assert changes(old, new) == [Change("column-added", d("x"), "new", new="INT")]

    def test_nested_ones_have_their_own_order(self) -> None:
        def fields(*names: str) -> Any:
            inner = [{"name": name, "type": "INT"} for name in names]
            return {"fields": [{"name": "r", "type": "ROW", "fields": inner}]}

        old = [dataset("x", schema=fields("a", "b", "c"))]
        new = [dataset("x", schema=fields("b", "c", "a"))]
        assert changes(old, new) == [Change("column-moved", d("x"), "r.a", old=1, new=3)]

    def test_descriptions(self) -> None:
        def fields(text: str) -> Any:
            return {"fields": [{"name": "a", "type": "INT", "description": text}]}

        old, new = [dataset("x", schema=fields("old"))], [dataset("x", schema=fields("new"))]
        assert changes(old, new) == [
            Change("description-changed", d("x"), "a", old="old", new="new")
        ]

    def test_column_lineage(self) -> None:
        old = [dataset("x", columnLineage=column_lineage(a=[("s", "p"), ("s", "q")]))]
        new = [dataset("x", columnLineage=column_lineage(a=[("s", "p")], b=[("s", "q")]))]
        assert changes(old, new) == [
            Change("column-lineage-changed", d("x"), "a", other=d("s"), old="q"),
            Change("column-lineage-changed", d("x"), "b", other=d("s"), new="q"),
        ]


class TestRenames:
    COLUMNS = (("a", "INT"), ("b", "DATE"))

    def test_one_for_one_with_the_same_columns_and_neighbours(self) -> None:
        old = [dataset("old", self.COLUMNS), job("w", (), ("old",)), job("r", ("old",))]
        new = [dataset("new", self.COLUMNS), job("w", (), ("new",)), job("r", ("new",))]
        found = difference(old, new)
        assert list(found.changes) == [Change("dataset-renamed", d("new"), other=d("old"))]
        assert found.renamed == {d("old"): d("new")}
        assert (found.added_edges, found.removed_edges) == ([], [])

    def test_a_job(self) -> None:
        found = changes([job("old", ("a",), ("b",))], [job("new", ("a",), ("b",))])
        assert found == [Change("job-renamed", j("new"), other=j("old"))]

    def test_another_owner_is_told_beside_it(self) -> None:
        old = [dataset("old", self.COLUMNS, owners=("a",)), job("r", ("old",))]
        new = [dataset("new", self.COLUMNS, owners=("b",)), job("r", ("new",))]
        assert changes(old, new) == [
            Change("dataset-renamed", d("new"), other=d("old")),
            Change("owner-changed", d("new"), old=(Owner("a"),), new=(Owner("b"),)),
        ]

    @pytest.mark.parametrize(
        "new",
        [
            [dataset("new", [("a", "INT")]), job("r", ("new",))],  # other columns
            [dataset("new", [("a", "INT"), ("b", "INT")]), job("r", ("new",))],  # another type
            [dataset("new", COLUMNS), job("r", ("z",)), job("q", ("new",))],  # other neighbours
            [dataset("new", COLUMNS, namespace="elsewhere"), job("r", ())],  # another namespace
            [dataset("new", COLUMNS), dataset("two", COLUMNS), job("r", ("new", "two"))],
        ],
    )
    def test_anything_else_is_removed_and_added(self, new: list[Any]) -> None:
        old = [dataset("old", self.COLUMNS), job("r", ("old",))]
        kinds = {change.kind for change in changes(old, new)}
        assert "dataset-renamed" not in kinds
        assert {"dataset-removed", "dataset-added"} <= kinds

    def test_what_has_nothing_to_be_known_by_is_not_renamed(self) -> None:
        found = changes([dataset("old")], [dataset("new")])
        assert [change.kind for change in found] == ["dataset-removed", "dataset-added"]

    def test_a_neighbour_that_was_renamed_is_the_same_neighbour(self) -> None:
        # "w" is known by "s"; then "old" by "w".
        old = [job("w", ("s",)), job("x", ("s", "t"), ("old",)), dataset("old", self.COLUMNS)]
        new = [job("v", ("s",)), job("x", ("s", "t"), ("new",)), dataset("new", self.COLUMNS)]
        assert {change.kind for change in changes(old, new)} == {"job-renamed", "dataset-renamed"}

    def test_a_model_gives_its_name_to_its_job_and_its_dataset(self) -> None:
        old = [job("m", ("s",), ("m.v1",)), dataset("m.v1"), job("r", ("m.v1",), ("z",))]
        new = [job("n", ("s",), ("n.v1",)), dataset("n.v1"), job("r", ("n.v1",), ("z",))]
        found = difference(old, new)
        assert list(found.changes) == [
            Change("dataset-renamed", d("n.v1"), other=d("m.v1")),
            Change("job-renamed", j("n"), other=j("m")),
        ]
        assert (found.added_edges, found.removed_edges) == ([], [])

    @pytest.mark.parametrize(
        "new",
        [
            [job("n", ("t",), ("n.v1",))],  # the job reads something else
            [job("n", ("s",), ("n.v1",)), job("r", ("n.v1",))],  # somebody else reads the dataset
            [job("n", ("s",), ("n.v1",)), job("o", ("s",), ("o.v1",))],  # which of the two is it?
        ],
    )
    def test_a_job_and_its_dataset_that_differ_are_removed_and_added(self, new: list[Any]) -> None:
        old = [job("m", ("s",), ("m.v1",)), job("r", ())]
        kinds = {change.kind for change in changes(old, [*new, dataset("s"), job("r", ())])}
        assert {"job-removed", "job-added", "dataset-removed", "dataset-added"} <= kinds
        assert not kinds & {"dataset-renamed", "job-renamed"}

    def test_a_job_and_its_dataset_that_nothing_else_knows_are_not_renamed(self) -> None:
        found = changes([job("m", (), ("m.v1",))], [job("n", (), ("n.v1",))])
        assert not {change.kind for change in found} & {"dataset-renamed", "job-renamed"}


class TestDownstream:
    # raw -> clean -> good -> sum -> total -> load;  other -> idle
    NEW = (
        dataset("raw", [("id", "BIGINT")]),
        dataset("total", [("n", "INT")], owners=("bi", "data")),
        job("clean", ("raw",), ("good",), owners=("data",)),
        job("sum", ("good",), ("total",)),
        job("load", ("total",)),
        job("idle", ("other",)),
    )

    def test_of_a_retyped_column(self) -> None:
        old = [dataset("raw", [("id", "INT")]), *self.NEW[1:]]
        assert [(one.key, one.owners, one.steps) for one in difference(old, self.NEW).affected] == [
            (j("clean"), [Owner("data")], 1),
            (d("good"), [], 2),
            (j("sum"), [], 3),
            (d("total"), [Owner("bi"), Owner("data")], 4),
            (j("load"), [], 5),
        ]

    def test_of_a_removed_column_with_the_nearest_cause(self) -> None:
        old = [
            dataset("raw", [("id", "BIGINT"), ("gone", "INT")]),
            dataset("total", [("n", "INT"), ("gone", "INT")]),
            *self.NEW[2:],
        ]
        causes = {one.key.name: one.cause.name for one in difference(old, self.NEW).affected}
        assert causes == {"clean": "raw", "good": "raw", "sum": "raw", "total": "raw",
                          "load": "total"}  # fmt: skip

    def test_of_a_dataset_that_is_gone(self) -> None:
        old = [*self.NEW, job("idle", ("other", "gone")), dataset("gone", [("a", "INT")])]
        assert [one.key for one in difference(old, self.NEW).affected] == [j("idle")]

    def test_nothing_else_has_any(self) -> None:
        old = [dataset("raw", [("id", "BIGINT")], owners=("x",)), *self.NEW[1:]]
        assert difference(old, self.NEW).affected == []


NAMES = st.sampled_from("abcdef")
COLUMNS = st.lists(
    st.tuples(st.sampled_from("pqrs"), st.sampled_from(["INT", "DATE"])),
    max_size=4,
    unique_by=lambda column: column[0],
)
DATASETS = st.builds(
    dataset,
    NAMES,
    COLUMNS,
    owners=st.sampled_from([(), ("a",), ("a", "b")]),
    description=st.sampled_from(["", "one", "two"]),
)
JOB_EVENTS = st.builds(
    job,
    NAMES,
    st.lists(NAMES, max_size=3).map(tuple),
    st.lists(NAMES, max_size=3).map(tuple),
    owners=st.sampled_from([(), ("a",)]),
)
EVENTS = st.lists(DATASETS | JOB_EVENTS, max_size=8)


def mirrored(change: Change, back: dict[Key, Key]) -> tuple[object, ...]:
    """Return what the change is called when both sides are exchanged."""
    thing, _, what = change.kind.partition("-")
    kind = f"{thing}-{MIRROR.get(what, what)}"
    if what == "renamed":
        return kind, change.other, "", change.key, change.old, change.new
    other = back.get(change.other, change.other) if change.other else None
    return kind, back.get(change.key, change.key), change.column, other, change.new, change.old


class TestProperties:
    @given(EVENTS)
    def test_nothing_differs_from_itself(self, events: list[Any]) -> None:
        found = difference(events, list(reversed(events)))
        assert found.changes == ()
        assert (found.added_edges, found.removed_edges, found.affected) == ([], [], [])

    @given(EVENTS, EVENTS)
    @settings(max_examples=300)
    def test_the_other_way_round_is_the_mirror(self, old: list[Any], new: list[Any]) -> None:
        there, back = difference(old, new), difference(new, old)
        former = {after: before for before, after in there.renamed.items()}
        assert {mirrored(change, former) for change in there.changes} == {
            (c.kind, c.key, c.column, c.other, c.old, c.new) for c in back.changes
        }
        assert former == back.renamed

    @given(EVENTS, EVENTS)
    @settings(max_examples=300)
    def test_the_edges_lead_from_one_to_the_other(self, old: list[Any], new: list[Any]) -> None:
        document = json.loads(reporter("json")(difference(old, new)))
        renamed = {_key(one["old"]): _key(one["new"]) for one in document["renamed"]}
        edges = {tuple(renamed.get(end, end) for end in edge) for edge in build(old).edges}
        applied = (edges - _edges(document["edges"]["removed"])) | _edges(
            document["edges"]["added"]
        )
        assert applied == set(build(new).edges)

    @given(EVENTS, EVENTS)
    def test_every_form_describes_it(self, old: list[Any], new: list[Any]) -> None:
        found = difference(old, new)
        jsonschema.validate(diff_document(found), SCHEMA)
        for name in REPORTERS:
            text = reporter(name)(found)
            assert text.endswith("\n")
            if name != "json":
                assert all(change.kind in text for change in found.changes)


SCHEMA = json.loads((files("streamt_ol.lineage.rendering") / "diff.schema.json").read_text("utf-8"))


def test_the_schema_names_every_kind() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$defs"]["kind"]["enum"] == list(KINDS)


def _key(node: Any) -> Key:
    return Key(node["kind"], node["namespace"], node["name"])


def _edges(found: list[Any]) -> set[Any]:
    return {Edge(_key(edge["source"]), _key(edge["target"])) for edge in found}


OLD = [
    dataset("raw", [("id", "INT"), ("fare", "INT")], owners=("apps",)),
    dataset("good", [("id", "INT")]),
    job("clean", ("raw",), ("good",), owners=("data",)),
    job("load", ("good",)),
]
NEW = [
    dataset("raw", [("id", "INT")], owners=("apps",)),
    dataset("good", [("id", "INT")]),
    job("clean", ("raw",), ("good",), owners=("data",)),
]


class TestReports:
    def test_text(self) -> None:
        assert (
            reporter("text")(difference(OLD, NEW))
            == f"""\
job-removed: job 'load' in 'jobs' is removed
column-removed: dataset 'raw' in '{BROKER}': column 'fare' is removed
downstream of what is gone or retyped:
  job 'clean' in 'jobs', owned by 'data', behind dataset 'raw' in '{BROKER}'
  dataset 'good' in '{BROKER}', owned by nobody, behind dataset 'raw' in '{BROKER}'
2 changes: 1 job-removed, 1 column-removed
"""
        )

    def test_text_of_no_difference(self) -> None:
        assert reporter("text")(difference(OLD, OLD)) == "no differences\n"

    def test_github(self) -> None:
        assert (
            reporter("github")(difference(OLD, NEW))
            == f"""\
::warning title=job-removed::job 'load' in 'jobs' is removed
::warning title=column-removed::dataset 'raw' in '{BROKER}': column 'fare' is removed
2 changes: 1 job-removed, 1 column-removed
"""
        )

    def test_markdown(self) -> None:
        assert (
            reporter("markdown")(difference(OLD, NEW))
            == f"""\
## Lineage: 2 changes: 1 job-removed, 1 column-removed

- ⚠️ **job-removed** job `load` in `jobs` is removed
- ⚠️ **column-removed** dataset `raw` in `{BROKER}`: column `fare` is removed

### Downstream of what is gone or retyped

- job `clean` in `jobs`, owned by `data`, behind dataset `raw` in `{BROKER}`
- dataset `good` in `{BROKER}`, owned by nobody, behind dataset `raw` in `{BROKER}`

### What changed, and its neighbours

```mermaid
flowchart LR
  n0[("good")]:::dataset
  n1[("raw")]:::changed
  n2["clean"]:::job
  n3["load"]:::removed
  n0 -.-> n3
  n1 --> n2
  n2 --> n0
  classDef dataset fill:#ddf4ff,stroke:#0969da,color:#1f2328
  classDef job fill:#fff8c5,stroke:#9a6700,color:#1f2328
  classDef removed fill:#ffebe9,stroke:#cf222e,color:#1f2328,stroke-width:3px,stroke-dasharray:5 3
  classDef changed fill:#fff1e5,stroke:#bc4c00,color:#1f2328,stroke-width:3px
```

Green is added, red and dashed is removed, orange is changed.
"""
        )

    def test_json(self) -> None:
        broker = {"namespace": BROKER}
        raw = {"kind": "dataset", **broker, "name": "raw"}
        good = {"kind": "dataset", **broker, "name": "good"}
        load = {"kind": "job", "namespace": "jobs", "name": "load"}
        assert json.loads(reporter("json")(difference(OLD, NEW))) == {
            "version": 1,
            "counts": {"job-removed": 1, "column-removed": 1},
            "changes": [
                {"kind": "job-removed", "job": {"namespace": "jobs", "name": "load"}},
                {
                    "kind": "column-removed",
                    "dataset": {**broker, "name": "raw"},
                    "column": "fare",
                    "old": "INT",
                },
            ],
            "renamed": [],
            "edges": {"added": [], "removed": [{"source": good, "target": load}]},
            "downstream": [
                {
                    "kind": "job",
                    "namespace": "jobs",
                    "name": "clean",
                    "owners": [{"name": "data"}],
                    "steps": 1,
                    "cause": raw,
                },
                {**good, "owners": [], "steps": 2, "cause": raw},
            ],
        }

    def test_markdown_stays_below_the_limit_with_the_most_important_first(self) -> None:
        old = [job(f"job {n:05}", (f"in {n:05}",), (f"out {n:05}",)) for n in range(5_000)]
        new = [dataset(name + str(n)) for name in HOSTILE for n in range(20)]
        text = reporter("markdown")(difference(old, new))
        assert len(text) < MAX_CHARACTERS
        assert len(text.encode("utf-16-le")) // 2 < MAX_CHARACTERS
        assert text.index("dataset-removed** dataset `in 00000`") < 400
        assert "that did not fit here." in text
        assert text.count("```mermaid") == 1

    @pytest.mark.parametrize("name", list(REPORTERS))
    def test_hostile_names_break_no_form(self, name: str) -> None:
        new = [
            event
            for text in HOSTILE
            for event in (
                dataset(text, [(text, text)], owners=(text,), description=text),
                job(text, (text,), namespace=text),
            )
        ]
        found = difference([], new)
        text = reporter(name)(found)
        if name == "json":
            names = {change["dataset"]["name"] for change in json.loads(text)["changes"]
                     if "dataset" in change}  # fmt: skip
            assert names == set(HOSTILE)
            return
        assert text.replace("\n", "").replace("⚠️", "").isprintable()
        changed = len(found.changes)
        if name == "github":
            lines = text.splitlines()
            assert len(lines) == changed + 1
            assert all(line.startswith("::notice title=") for line in lines[:-1])
        if name == "text":
            assert len(text.splitlines()) == changed + 1
        if name == "markdown":
            prose = text.partition("```mermaid")[0]
            assert prose.count("\n- ") == changed
            assert "<script>" not in _without_code(prose)
            assert "@org" not in _without_code(prose)

    def test_secrets_of_names_do_not_reach_a_comment(self) -> None:
        secret = [dataset("x", namespace="postgres://me:hunter2@db"), job("password=hunter2")]
        for name in REPORTERS:
            assert "hunter2" not in reporter(name)(difference([], secret))

    def test_no_value_of_a_change_holds_a_secret(self) -> None:
        def state(number: int) -> list[Event]:
            secret = f"s3://u:SECRET{number}@host"
            lineage = column_lineage(**{secret: [(secret, secret)]})
            return [
                dataset("kept", [(secret, secret), ("c", secret)], owners=(secret,),
                        description=secret, columnLineage=lineage, other={"x": secret}),
                dataset(secret, namespace=secret),
                job("j", (secret,), (secret,), owners=(secret,), description=secret),
            ]  # fmt: skip

        found = difference(state(1), state(2))
        assert len({change.kind for change in found.changes}) > 8
        for name in REPORTERS:
            assert "SECRET" not in reporter(name)(found)

    def test_a_path_is_no_secret(self) -> None:
        new = [dataset("/p/x-token=1/@a", namespace="abfss://c@a.dfs.core.windows.net")]
        for name in set(REPORTERS) - {"markdown"}:
            shown = reporter(name)(difference([], new))
            assert "/p/x-token=1/@a" in shown
            assert "abfss://c@a.dfs.core.windows.net" in shown

    def test_json_holds_no_character_that_a_terminal_obeys(self) -> None:
        name = "a\x9bb\x85c\u2028d\u202ee\u200bf"
        shown = reporter("json")(difference([], [dataset(name)]))
        assert shown.replace("\n", "").isprintable()
        assert r"a\u009bb\u0085c\u2028d\u202ee\u200bf" in shown
        assert json.loads(shown)["changes"][0]["dataset"]["name"] == name


def _without_code(text: str) -> str:
    """Return Markdown without its code spans, as CommonMark (section 6.1) finds them."""
    out, at = [], 0
    while at < len(text):
        if text[at] != "`":
            out.append(text[at])
            at += 1
            continue
        end = at
        while end < len(text) and text[end] == "`":
            end += 1
        fence = text[at:end]
        close = end
        while True:
            close = text.find(fence, close)
            assert close >= 0, "a code span is not closed"
            after = close
            while after < len(text) and text[after] == "`":
                after += 1
            if after - close == len(fence):
                break
            close = after
        at = after
    return "".join(out)


def test_code_spans() -> None:
    assert code("a") == "`a`"
    assert code("a`b") == "``a`b``"
    assert code("`x`") == "`` `x` ``"
    assert code("") == "` `".replace(" ", "  ")


def test_two_nodes_cannot_become_one() -> None:
    graph = build([dataset("x", namespace="a"), dataset("x", namespace="b")])
    with pytest.raises(StreamtOlError, match="two datasets would become one, 'x' in 'b'"):
        relabelled(graph, lambda key: key._replace(namespace="b"))


def test_a_large_difference_is_quick_enough_to_finish() -> None:
    def chain(word: str) -> Graph:
        return build(
            [job(f"{word}{n}", (f"{word}{n}",), (f"{word}{n + 1}",)) for n in range(5_000)]
        )

    assert len(compare(chain("a"), chain("b")).changes) == 20_002
    assert compare(graph_of({}, ()), graph_of({}, ())).changes == ()
