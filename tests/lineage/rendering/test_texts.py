"""Pictures as text: the tree, Mermaid, DOT and JSON, worked out by hand."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import jsonschema
import pytest
from support.lineage_events import BROKER, HOSTILE, column_lineage, dataset, job

from streamt_ol.lineage.events import build
from streamt_ol.lineage.graph import Graph, Key
from streamt_ol.lineage.rendering import renderer
from streamt_ol.lineage.rendering.mermaid import label
from streamt_ol.lineage.rendering.style import Style

# raw -> clean -> good -> sum -> total, good -> sink, with columns of total made from those of good.
EVENTS = [
    dataset(
        "good", [("city", "STRING"), ("fare", "INT")], owners=("data",), description="Good ones"
    ),
    dataset("total", [("fare", "INT")], columnLineage=column_lineage(fare=[("good", "fare")])),
    job("clean", ("raw",), ("good",)),
    job("sum", ("good",), ("total",)),
    job("sink", ("good",)),
]
GRAPH = build(EVENTS)


def drawn(form: str, graph: Graph = GRAPH, style: Style | None = None) -> str:
    return renderer(form)(graph, style or Style()).text


class TestTree:
    def test_branches(self) -> None:
        assert (
            drawn("text")
            == f"""3 datasets, 3 jobs, 5 edges
datasets in {BROKER}
jobs in jobs

dataset raw
└─ job clean
   └─ dataset good
      ├─ job sink
      └─ job sum
         └─ dataset total
"""
        )

    def test_columns(self) -> None:
        assert """         └─ dataset total
               fare <- good: fare
""" in drawn("text", style=Style(columns=True))

    def test_several_namespaces_stand_beside_the_names(self) -> None:
        graph = build([dataset("t", namespace="b"), dataset("t", namespace="a")])
        assert drawn("text", graph) == "2 datasets, 0 edges\n\ndataset t  [a]\n\ndataset t  [b]\n"
        grouped = drawn("text", graph, Style(group=True))
        assert grouped == "2 datasets, 0 edges\n\na:\ndataset t  [a]\n\nb:\ndataset t  [b]\n"

    def test_a_node_is_followed_once(self) -> None:
        graph = build([job("A", ("x",), ("y",)), job("B", ("x",), ("y",)), job("C", ("y",))])
        assert (
            drawn("text", graph).partition("\n\n")[2]
            == """dataset x
├─ job A
│  └─ dataset y
│     └─ job C
└─ job B
   └─ dataset y (see above)
"""
        )

    def test_a_circle_without_a_source_is_drawn(self) -> None:
        graph = build([job("A", ("x",), ("y",)), job("B", ("y",), ("x",))])
        assert (
            drawn("text", graph).partition("\n\n")[2]
            == """dataset x
└─ job A
   └─ dataset y
      └─ job B
         └─ dataset x (see above)
"""
        )

    def test_a_long_chain_stays_small(self) -> None:
        graph = build([job(f"j{n:04}", (f"d{n:04}",), (f"d{n + 1:04}",)) for n in range(2_000)])
        text = drawn("text", graph)
        assert len(text) < 400_000
        assert text.count("dataset d2000") == 1
        assert "(continued below)" in text

    def test_an_empty_graph(self) -> None:
        assert drawn("text", build([])) == "no datasets and no jobs\n"


class TestJson:
    def test_nodes_and_edges(self) -> None:
        broker = {"kind": "dataset", "namespace": BROKER}
        assert json.loads(drawn("json", style=Style(columns=True))) == {
            "version": 1,
            "nodes": [
                {
                    **broker,
                    "name": "good",
                    "description": "Good ones",
                    "owners": [{"name": "data"}],
                    "columns": [
                        {"name": "city", "type": "STRING"},
                        {"name": "fare", "type": "INT"},
                    ],
                },
                {**broker, "name": "raw"},
                {**broker, "name": "total", "columns": [{"name": "fare", "type": "INT"}]},
                {"kind": "job", "namespace": "jobs", "name": "clean"},
                {"kind": "job", "namespace": "jobs", "name": "sink"},
                {"kind": "job", "namespace": "jobs", "name": "sum"},
            ],
            "edges": [
                {"source": 0, "target": 4},
                {"source": 0, "target": 5},
                {"source": 1, "target": 3},
                {"source": 3, "target": 0},
                {"source": 5, "target": 2},
            ],
            "column_edges": [
                {"source": 0, "source_column": "fare", "target": 2, "target_column": "fare"}
            ],
        }

    def test_the_schema_describes_it(self) -> None:
        text = (files("streamt_ol.lineage.rendering") / "graph.schema.json").read_text("utf-8")
        schema = json.loads(text)
        jsonschema.Draft202012Validator.check_schema(schema)
        focus = Key("dataset", BROKER, "good")
        for style in (Style(), Style(columns=True, focus=focus)):
            jsonschema.validate(json.loads(drawn("json", style=style)), schema)
        hostile = build([dataset(name, [(name, name)], owners=(name,)) for name in HOSTILE])
        document = json.loads(drawn("json", hostile))
        jsonschema.validate(document, schema)
        assert {node["name"] for node in document["nodes"]} == set(HOSTILE)


class TestMermaid:
    def test_shapes_and_edges(self) -> None:
        assert drawn("mermaid").splitlines()[:12] == [
            "flowchart LR",
            '  n0[("good")]:::dataset',
            '  n1[("raw")]:::dataset',
            '  n2[("total")]:::dataset',
            '  n3["clean"]:::job',
            '  n4["sink"]:::job',
            '  n5["sum"]:::job',
            "  n0 --> n4",
            "  n0 --> n5",
            "  n1 --> n3",
            "  n3 --> n0",
            "  n5 --> n2",
        ]

    def test_columns_and_groups(self) -> None:
        text = drawn("mermaid", style=Style(columns=True, group=True, direction="TB"))
        assert text.startswith("flowchart TB\n")
        assert '  subgraph n0["good"]\n    n0c0["fare"]\n  end\n' in text
        assert "  n0c0 -.-> n2c0\n" in text
        assert f'  subgraph g0["{label(BROKER)}"]\n' in text

    def test_labels_hold_no_syntax(self) -> None:
        assert label('a"b') == "a#34;b"
        assert label("<b>") == "#60;b#62;"
        assert label("trips.raw_v1/x-y z") == "trips.raw_v1/x-y z"
        assert label("1. x") == "1#46;#32;x"
        assert label("日本") == "日本"
        assert label("$$x$$") == "#36;#8203;#36;#8203;x#36;#8203;#36;#8203;"
        for name in HOSTILE:
            assert not set(label(name)) & set('"<>`*[](){}|&%\\\n@~')

    @pytest.mark.parametrize(("limit", "edges"), [(500, 500), (3, 3)])
    def test_edges_beyond_the_limit_are_left_out_and_counted(self, limit: int, edges: int) -> None:
        graph = build([job(f"j{n:04}", (f"d{n:04}",), (f"d{n + 1:04}",)) for n in range(400)])
        picture = renderer("mermaid")(graph, Style(max_edges=limit))
        assert picture.text.count("-->") == edges
        assert len(picture.text) <= 50_000
        missing = re.fullmatch(
            r"([\d,]+) datasets, ([\d,]+) jobs, ([\d,]+) edges", picture.left_out
        )
        assert missing is not None
        assert int(missing[3].replace(",", "")) == 800 - edges
        assert label(f"left out: {picture.left_out}") in picture.text

    def test_text_beyond_the_limit_is_left_out(self) -> None:
        names = [f"{n:04}" + "🚀" * 500 for n in range(100)]
        picture = renderer("mermaid")(build([dataset(name) for name in names]), Style())
        assert len(picture.text.encode("utf-16-le")) // 2 <= 50_000
        assert picture.left_out.endswith(", 0 edges")

    def test_columns_are_left_out_before_what_they_belong_to(self) -> None:
        names = [f"c{at}" for at in range(20)]
        one = column_lineage(**{name: [("x", name)] for name in names})
        two = column_lineage(total=[("u", "price")])
        graph = build(
            [
                job("j", ("x",), ("y",)),
                dataset("y", columnLineage=one),
                job("k", ("u",), ("v",)),
                dataset("v", columnLineage=two),
            ]
        )
        picture = renderer("mermaid")(graph, Style(columns=True, max_edges=12))
        # Four edges and one between columns of u and v; the twenty between x and y are too many.
        assert picture.left_out == "20 edges"
        assert picture.text.count("-.->") == 1
        assert picture.text.count("-->") == 4
        assert label("left out: 20 edges") in picture.text
        assert renderer("mermaid")(graph, Style(columns=True)).left_out == ""

    def test_the_focus_is_never_left_out(self) -> None:
        graph = build([job(f"j{n:04}", (f"d{n:04}",), (f"d{n + 1:04}",)) for n in range(400)])
        focus = Key("dataset", BROKER, "d0399")
        text = drawn("mermaid", graph, Style(max_edges=3, focus=focus))
        assert '[("d0399")]' in text


class TestDot:
    def test_shapes_and_edges(self) -> None:
        text = drawn("dot")
        assert '  n0 [label="good", shape=cylinder' in text
        assert '  n3 [label="clean", shape=box' in text
        assert re.findall(r"n\d -> n\d", text) == [
            "n0 -> n4", "n0 -> n5", "n1 -> n3", "n3 -> n0", "n5 -> n2",
        ]  # fmt: skip

    def test_columns_are_ports(self) -> None:
        text = drawn("dot", style=Style(columns=True, direction="BT", group=True))
        assert '<td port="c0" align="left">fare</td>' in text
        assert "  n0:c0 -> n2:c0 [style=dashed" in text
        assert "rankdir=BT;" in text
        assert f'label="{BROKER}";' in text

    def test_labels_are_escaped(self) -> None:
        assert r'label="a\"b\\N &amp;lt;"' in drawn("dot", build([dataset(r'a"b\N &lt;')]))


@pytest.mark.parametrize("form", ["text", "json", "mermaid", "dot"])
class TestEveryFormat:
    def test_hostile_names_stay_on_their_line(self, form: str) -> None:
        graph = build([job(f"j{name}", (name,), owners=(name,)) for name in HOSTILE])
        plain = build([job(f"j{n}", (f"{n}",), owners=("x",)) for n in range(len(HOSTILE))])
        style = Style(group=True)
        hostile, harmless = drawn(form, graph, style), drawn(form, plain, style)
        assert hostile.count("\n") == harmless.count("\n")
        if form != "json":
            assert hostile.replace("\n", "").isprintable()

    def test_the_order_of_events_does_not_matter(self, form: str) -> None:
        assert drawn(form) == drawn(form, build(reversed(EVENTS)))
