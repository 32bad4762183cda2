"""Drawings: where things are, what an SVG and a page hold, and what they must not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from itertools import pairwise
from random import Random
from xml.etree import ElementTree as ET

import pytest
from support.lineage_events import BROKER, HOSTILE, column_lineage, dataset, job

from streamt_ol.lineage.events import build
from streamt_ol.lineage.graph import Edge, Graph, Key
from streamt_ol.lineage.rendering import renderer
from streamt_ol.lineage.rendering.geometry import Box
from streamt_ol.lineage.rendering.layout import layout
from streamt_ol.lineage.rendering.style import DIRECTIONS, Style, frames
from streamt_ol.lineage.selection import only

SVG = "{http://www.w3.org/2000/svg}"
# a -> J1 -> b -> J2 -> c, a -> J2, and apart from them x -> J3, and a circle.
GRAPH = build(
    [
        job("J1", ("a",), ("b",)),
        job("J2", ("b", "a"), ("c",)),
        job("J3", ("x",), namespace="other"),
        job("J4", ("log",), ("log",)),
        dataset("alone"),
    ]
)
SIZES = dict.fromkeys(GRAPH.nodes, (120, 40))
# Some read what they write, some write two, and some datasets have two that write them.
MANY = build(
    [
        job(
            f"J{n}",
            (f"t{n - 1 if n % 9 else n // 2}", *(() if n % 50 else (f"t{n}",))),
            (f"t{n}", *(() if n % 40 else (f"t{n + 1}", f"u{n}"))),
        )
        for n in range(1, 3_000)
    ]
)


def drawn(form: str, graph: Graph = GRAPH, style: Style | None = None) -> str:
    return renderer(form)(graph, style or Style()).text


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


class TestLayout:
    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_boxes_are_apart_and_data_flows_in_the_direction(self, direction: str) -> None:
        found = layout(GRAPH, SIZES, direction)
        boxes = list(found.boxes.values())
        assert set(found.boxes) == set(GRAPH.nodes)
        assert not any(overlap(a, b) for at, a in enumerate(boxes) for b in boxes[:at])
        width, height = found.size
        for box in boxes:
            assert 0 <= box.x <= box.x + box.width <= width
            assert 0 <= box.y <= box.y + box.height <= height
        axis, sign = {"LR": (0, 1), "TB": (1, 1), "RL": (0, -1), "BT": (1, -1)}[direction]
        order = [found.boxes[Key(*key)][axis] * sign for key in (
            ("dataset", BROKER, "a"), ("job", "jobs", "J1"), ("dataset", BROKER, "b"),
            ("job", "jobs", "J2"), ("dataset", BROKER, "c"))]  # fmt: skip
        assert order == sorted(set(order))

    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_lines_lead_from_border_to_border(self, direction: str) -> None:
        found = layout(GRAPH, SIZES, direction)
        assert set(found.lines) == set(GRAPH.edges)
        for edge, line in found.lines.items():
            for end, (x, y) in ((edge.source, line[0]), (edge.target, line[-1])):
                box = found.boxes[end]
                assert box.x - 1 <= x <= box.x + box.width + 1
                assert box.y - 1 <= y <= box.y + box.height + 1

    def test_frames_hold_their_nodes(self) -> None:
        framed = frames(GRAPH)
        found = layout(GRAPH, SIZES, "LR", framed)
        assert set(found.frames) == {BROKER}
        for key, namespace in framed.items():
            frame, box = found.frames[namespace], found.boxes[key]
            assert frame.x <= box.x
            assert frame.y <= box.y
            assert box.x + box.width <= frame.x + frame.width
            assert box.y + box.height <= frame.y + frame.height

    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_what_nothing_connects_is_not_one_long_line(self, direction: str) -> None:
        pairs = [job(f"J{at}", (f"a{at}",), (f"b{at}",)) for at in range(60)]
        for events in (
            [dataset(f"t{at}") for at in range(100)],  # in one frame
            pairs,  # parts in one frame
            [dataset("t", namespace=f"ns{at}") for at in range(100)],  # many frames
            [dataset(f"t{at}", namespace=f"ns{at % 2}") for at in range(100)],
        ):
            graph = build(events)
            found = layout(graph, dict.fromkeys(graph.nodes, (120, 46)), direction, frames(graph))
            assert set(found.boxes) == set(graph.nodes)
            assert set(found.lines) == set(graph.edges)
            boxes = list(found.boxes.values())
            assert not any(overlap(a, b) for at, a in enumerate(boxes) for b in boxes[:at])
            width, height = found.size
            assert 1 / 5 < width / height < 5

    def test_the_name_of_a_frame_is_cut_to_its_width(self) -> None:
        graph = build([dataset("t", namespace="n" * 1000)])
        svg = ET.fromstring(drawn("svg", graph, Style(group=True)))
        [frame] = svg.findall(f".//{SVG}g[@class='frame']")
        label = frame.findtext(f"{SVG}text")
        assert label is not None
        assert label.count("n") < 60
        assert "…" in label

    @pytest.mark.parametrize("direction", ["TB", "BT"])
    def test_lines_of_columns_lead_along_one_side_of_what_is_drawn_from_top_to_bottom(
        self, direction: str
    ) -> None:
        facet = column_lineage(total=[("raw", "price")])
        graph = build([job("j", ("raw",), ("sums",)), dataset("sums", columnLineage=facet)])
        svg = drawn("svg", graph, Style(columns=True, direction=direction))
        [line] = re.findall(r'<path class="edge column" d="M(-?\d+) \d+C[-\d ]+ (-?\d+) \d+"', svg)
        sides = {int(x) for x in re.findall(r'<path class="rule" d="M(-?\d+) ', svg)}
        assert {int(x) for x in line} <= sides

    def test_a_job_is_in_the_frame_of_its_datasets_if_they_have_one(self) -> None:
        across = job("across", ("a",))
        across["outputs"] = [{"namespace": "elsewhere", "name": "b"}]
        graph = build([job("within", ("a",)), across])
        assert frames(graph) == {
            Key("dataset", BROKER, "a"): BROKER,
            Key("dataset", "elsewhere", "b"): "elsewhere",
            Key("job", "jobs", "within"): BROKER,
        }
        assert frames(only(graph, "job")) == {key: "jobs" for key in graph.nodes if key[0] == "job"}

    def test_nothing_to_draw(self) -> None:
        assert layout(build([]), {}, "LR").size == (0, 0)
        ET.fromstring(drawn("svg", build([])))


class TestSvg:
    def test_has_every_node_and_edge(self) -> None:
        root = ET.fromstring(drawn("svg"))
        titles = {one.text for one in root.iter(f"{SVG}title")}
        assert {f"{key.kind} {key.name} in {key.namespace}" for key in GRAPH.nodes} <= titles
        edges = [one for one in root.iter(f"{SVG}path") if one.get("class") == "edge"]
        assert len(edges) == len(GRAPH.edges)

    def test_kinds_have_shapes_of_their_own(self) -> None:
        root = ET.fromstring(drawn("svg"))
        shapes: dict[str, set[str]] = {"dataset": set(), "job": set()}
        for node in root.iter(f"{SVG}g"):
            path = node.find(f"{SVG}path")
            assert path is not None
            kind = (node.get("class") or "").split()[1]
            shapes[kind].add(re.sub(r"[\d. -]+", "", path.get("d") or ""))
        assert len(shapes["dataset"]) == len(shapes["job"]) == 1
        assert shapes["dataset"] != shapes["job"]

    def test_columns_are_rows_and_lines(self) -> None:
        facet = column_lineage(fare=[("a", "price")], city=[("a", "place")])
        graph = build([dataset("b", columnLineage=facet), job("J", ("a",), ("b",))])
        root = ET.fromstring(drawn("svg", graph, Style(columns=True)))
        rows = [one.text for one in root.iter(f"{SVG}text") if one.get("class") == "row"]
        assert sorted(rows, key=str) == ["city", "fare", "place", "price"]
        lines = [one for one in root.iter(f"{SVG}path") if one.get("class") == "edge column"]
        assert len(lines) == 2

    def test_long_names_are_cut_in_the_middle_and_whole_in_the_title(self) -> None:
        name = "begin" + "x" * 500 + "end"
        root = ET.fromstring(drawn("svg", build([dataset(name)])))
        [first, *_] = [one.text or "" for one in root.iter(f"{SVG}text")]
        assert first.startswith("begin")
        assert first.endswith("end")
        assert "…" in first
        assert len(first) < 40
        assert f"dataset {name} in {BROKER}" in {one.text for one in root.iter(f"{SVG}title")}

    def test_hostile_names_stay_text(self) -> None:
        graph = build([dataset(name, namespace=name) for name in HOSTILE])
        for style in (Style(), Style(group=True), Style(direction="BT")):
            root = ET.fromstring(drawn("svg", graph, style))
            tags = {one.tag.removeprefix(SVG) for one in root.iter()}
            assert tags <= {"svg", "title", "style", "defs", "marker", "path", "g", "rect", "text"}


class TestPage:
    GRAPH = build([job(name, (name,), owners=(name,), description=name) for name in HOSTILE])

    def test_runs_its_own_script_alone_and_loads_nothing(self) -> None:
        page = drawn("html", self.GRAPH)
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
        [script] = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
        [css] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
        hashes = [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
                  for text in (script, css)]  # fmt: skip
        assert policy is not None
        assert policy[1] == (
            f"default-src 'none'; script-src {hashes[0]}; style-src {hashes[1]}; "
            "base-uri 'none'; form-action 'none'"
        )
        assert page.index("Content-Security-Policy") < page.index("<style>")
        assert page.count("<script") == page.count("</script") == 2
        assert not re.search(
            r"\s(src|style|on\w+)=", re.sub(r'"[^"]*"', '""', page[: page.index("<main>")])
        )
        assert "@import" not in css
        assert "url(" not in css
        assert not re.search(r"fetch|XMLHttp|WebSocket|import\(|innerHTML|eval\(", script)

    def test_data_for_the_script_holds_no_markup(self) -> None:
        page = drawn("html", self.GRAPH)
        [data] = re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)
        assert not set("<>&") & set(data)
        names = {node["name"] for node in json.loads(data)["nodes"]}
        assert names == set(HOSTILE)

    @pytest.mark.parametrize("form", ["svg", "html"])
    def test_no_character_that_a_terminal_would_obey_is_written_raw(self, form: str) -> None:
        name = "a\x1bb\x9bc\u2028d\u202ee\u2066f\ufeffg\x7fh"
        text = drawn(form, build([job(name, (name,), owners=(name,), description=name)]))
        assert not set(text) & set("\x1b\x9b\u2028\u202e\u2066\ufeff\x7f")

    def test_a_name_that_looks_like_a_place_in_the_template_is_a_name(self) -> None:
        page = drawn("html", build([dataset("{data}"), dataset("{script}")]))
        assert page.count('"version":1') == 1
        assert f"<title>dataset {{data}} in {BROKER}</title>" in page

    @pytest.mark.parametrize("form", ["svg", "html"])
    def test_the_order_of_events_does_not_matter(self, form: str) -> None:
        events = [job(f"j{n}", (f"a{n % 4}",), (f"b{n % 3}",)) for n in range(12)]
        assert drawn(form, build(events)) == drawn(form, build(reversed(events)))


@pytest.mark.parametrize("form", ["svg", "html"])
def test_without_the_library_the_extra_is_named(form: str) -> None:
    code = (
        "import sys; sys.modules['graphlay'] = None; from streamt_ol.cli.app import run; "
        f"sys.exit(run(['graph', '-', '--format', '{form}']))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], input=b'{"job":{"namespace":"n","name":"x"},"inputs":'
        b'[{"namespace":"n","name":"y"}]}', capture_output=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert b"streamt-ol[graph]" in ran.stderr


class TestLargeGraphs:
    """Shapes for which the library alone takes minutes; the limit of time of tests holds here."""

    def test_a_crowded_one(self) -> None:
        random = Random(1)
        layers = [[f"{layer} {n}" for n in range(800)] for layer in range(6)]
        events = [
            job(f"j{n}", (random.choice(one),), (random.choice(other),))
            for n, (one, other) in enumerate(pairwise(layers * 300))
            if one[0] < other[0]
        ]
        graph = only(build(events), "dataset")
        found = layout(graph, dict.fromkeys(graph.nodes, (100, 40)), "LR")
        assert set(found.lines) == set(graph.edges)

    def test_a_deep_one_with_long_edges(self) -> None:
        events = [job(f"j{n}", (f"t{n}", f"t{n // 2}"), (f"t{n + 1}",)) for n in range(2_000)]
        graph = build(events)
        found = layout(graph, dict.fromkeys(graph.nodes, (100, 40)), "TB")
        assert set(found.lines) == set(graph.edges)
        edge = Edge(Key("dataset", BROKER, "t0"), Key("job", "jobs", "j1"))
        assert len(found.lines[edge]) >= 2

    @pytest.mark.parametrize("framed", [False, True])
    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_many_jobs_that_write_one_dataset_each(self, direction: str, framed: bool) -> None:
        graph = MANY
        sizes = {key: (120 + len(key.name), 46 + 18 * (key.name == "t7")) for key in graph.nodes}
        found = layout(graph, sizes, direction, frames(graph) if framed else {})
        assert set(found.boxes) == set(graph.nodes)
        assert set(found.lines) == set(graph.edges)
        for edge, line in found.lines.items():
            for end, (x, y) in ((edge.source, line[0]), (edge.target, line[-1])):
                box = found.boxes[end]
                assert box.x - 1 <= x <= box.x + box.width + 1
                assert box.y - 1 <= y <= box.y + box.height + 1
                assert (box.width, box.height) >= sizes[end]
        boxes = sorted(found.boxes.values())
        for at, one in enumerate(boxes):  # by where they begin from left to right
            for other in boxes[at + 1 :]:
                if other.x >= one.x + one.width:
                    break
                assert not overlap(one, other)
        assert layout(graph, sizes, direction, frames(graph) if framed else {}) == found

    def test_many_datasets_without_their_jobs(self) -> None:
        graph = only(MANY, "dataset")
        found = layout(graph, dict.fromkeys(graph.nodes, (120, 46)), "LR")
        assert set(found.lines) == set(graph.edges)

    def test_a_star(self) -> None:
        graph = build([job("hub", ("source",), tuple(f"t{n}" for n in range(3_000)))])
        found = layout(graph, dict.fromkeys(graph.nodes, (100, 40)), "LR")
        assert len(found.boxes) == 3_002
