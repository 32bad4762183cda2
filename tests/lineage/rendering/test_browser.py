"""The page in a real browser, Mermaid in its own renderer, DOT in Graphviz."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import unescape
from pathlib import Path

import pytest
from support.browser import browse, graphviz, needs_browser, needs_dot
from support.lineage_events import BROKER, HOSTILE, column_lineage, dataset, job

from streamt_ol.lineage.events import build
from streamt_ol.lineage.graph import Graph, Key
from streamt_ol.lineage.rendering import renderer
from streamt_ol.lineage.rendering.style import Style, visible

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

EVENTS = [
    dataset("trips.raw", [("fare", "INT")], owners=("apps",), description="As the apps say"),
    dataset(
        "trips.clean", [("fare", "INT")], columnLineage=column_lineage(fare=[("trips.raw", "fare")])
    ),
    job("shop/clean", ("trips.raw",), ("trips.clean",), owners=("data",)),
    job("shop/load", ("trips.clean",)),
    job("shop/other", ("payments",), ("refunds",)),
]
RAW, CLEAN = f"dataset trips.raw in {BROKER}", f"dataset trips.clean in {BROKER}"
CLEANING, LOADING = "job shop/clean in jobs", "job shop/load in jobs"
HOSTILE_GRAPH = build(
    [job(name, (name,), (f"{name}'",), namespace=name, owners=(name,)) for name in HOSTILE]
    + [dataset(name, [(name, name)], owners=(name,), description=name) for name in HOSTILE]
)


def written(folder: Path, graph: Graph, form: str = "html", style: Style | None = None) -> Path:
    file = folder / f"page.{form}"
    file.write_text(renderer(form)(graph, style or Style()).text, "utf-8")
    return file


def with_columns(names: Iterable[str]) -> Graph:
    """Return datasets, columns of them and jobs, all with these names."""
    events = []
    for name in names:
        facet = column_lineage(**{name: [("s", name)]})
        events += [dataset(name, columnLineage=facet), job(name, (name,))]
    return build(events)


@needs_browser
class TestPage:
    def test_search_choose_and_follow_with_the_keyboard(self, tmp_path: Path) -> None:
        page = written(tmp_path, build(EVENTS))
        seen = browse(
            page,
            ("press", "/"), ("type", "CLEAN"), ("results", None), ("press", "ArrowDown"),
            ("press", "ArrowUp"), ("press", "Enter"), ("details", None),
            ("press", "ArrowRight"), ("details", None), ("press", "ArrowLeft"),
            ("press", "ArrowLeft"), ("details", None), ("press", "Escape"), ("details", None),
            state=tmp_path / "state",
        )  # fmt: skip
        results, first, second, third, none = seen.results
        assert results == ["shop/cleanjob jobs", f"trips.cleandataset {BROKER}"]
        assert (first["title"], first["focused"]) == ("shop/clean", CLEANING)
        assert (first["up"], first["down"]) == ([RAW], [CLEAN, LOADING])
        assert first["hash"] == "#job/jobs/shop%2Fclean"
        assert first["status"] == "job shop/clean, 1 upstream, 2 downstream"
        assert (second["title"], second["focused"]) == ("trips.clean", CLEAN)
        assert (third["title"], third["up"], third["down"]) == (
            "trips.raw",
            [],
            [CLEAN, CLEANING, LOADING],
        )
        assert (none["title"], none["up"], none["down"]) == (None, [], [])
        assert (seen.errors, seen.requests, seen.dialogs) == ([], [page.as_uri()], 0)

    def test_a_click_shows_the_details(self, tmp_path: Path) -> None:
        page = written(tmp_path, build(EVENTS))
        seen = browse(
            page, ("clickAt", CLEAN), ("details", None), ("clickAt", RAW), ("details", None),
            state=tmp_path / "state",
        )  # fmt: skip
        clean, raw = (found["text"] for found in seen.results)
        for words in ("trips.clean", BROKER, "none declared", "Written by", "shop/clean",
                      "Read by", "shop/load", "fare", "INT", "from trips.raw: fare"):  # fmt: skip
            assert words in clean
        for words in ("As the apps say", "owner", "apps"):
            assert words in raw
        assert "Written by" not in raw
        assert seen.errors == []

    def test_the_address_leads_to_a_node(self, tmp_path: Path) -> None:
        page = written(tmp_path, build(EVENTS))
        link = f"#dataset/{'kafka%3A%2F%2Fbroker.example%3A9092'}/trips.raw"
        seen = browse(
            None, ("open", page.as_uri() + link), ("details", None),
            ("hash", "#job/jobs/shop%2Fload"), ("details", None), ("reload", None),
            ("details", None), state=tmp_path / "state",
        )  # fmt: skip
        titles = [found["title"] for found in seen.results if found and "title" in found]
        assert titles == ["trips.raw", "shop/load", "shop/load"]

    def test_a_focus_is_chosen_at_first(self, tmp_path: Path) -> None:
        style = Style(focus=Key("dataset", BROKER, "trips.raw"))
        page = written(tmp_path, build(EVENTS), style=style)
        seen = browse(page, ("details", None), state=tmp_path / "state")
        assert seen.results[0]["title"] == "trips.raw"

    def test_dragging_and_the_wheel_change_the_view_and_choose_nothing(
        self, tmp_path: Path
    ) -> None:
        page = written(tmp_path, build(EVENTS))
        seen = browse(
            page, ("view", None), ("drag", [100, 50]), ("view", None), ("wheel", -300),
            ("view", None), ("press", "0"), ("view", None), ("details", None),
            state=tmp_path / "state",
        )  # fmt: skip
        start, dragged, zoomed, fitted, details = seen.results
        assert len({start, dragged, zoomed}) == 3
        assert float(zoomed.split()[2]) < float(dragged.split()[2])
        assert fitted == start
        assert details["title"] is None

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [1280, 400])
    def test_it_is_accessible(self, scheme: str, width: int, tmp_path: Path) -> None:
        page = written(tmp_path, build(EVENTS), style=Style(group=True, columns=True))
        seen = browse(
            page, ("axe", None), ("click", CLEAN), ("axe", None), ("press", "/"), ("type", "trips"),
            ("axe", None), state=tmp_path / "state", scheme=scheme,
            viewport={"width": width, "height": 800},
        )  # fmt: skip
        assert seen.results == [[], [], []]
        assert seen.errors == []

    def test_hostile_names_are_drawn_and_not_run(self, tmp_path: Path) -> None:
        page = written(tmp_path, HOSTILE_GRAPH, style=Style(group=True, columns=True))
        titles = [f"dataset {visible(name)} in {BROKER}" for name in HOSTILE]
        steps = [step for title in titles for step in (("click", title), ("details", None))]
        seen = browse(page, ("titles", None), *steps, state=tmp_path / "state")
        drawn, *found = seen.results
        assert set(titles) <= set(drawn)
        assert [one["title"] for one in found] == list(HOSTILE)
        assert (seen.errors, seen.requests, seen.dialogs) == ([], [page.as_uri()], 0)

    def test_five_thousand_nodes(self, tmp_path: Path) -> None:
        events = [job(f"job {n}", (f"t{n}", f"t{n // 2}"), (f"t{n + 1}",)) for n in range(2_500)]
        page = written(tmp_path, build(events))
        seen = browse(
            page, ("press", "/"), ("type", "job 2400"), ("press", "Enter"), ("details", None),
            ("press", "ArrowRight"), ("details", None), state=tmp_path / "state",
        )  # fmt: skip
        first, second = seen.results
        assert first["title"] == "job 2400"
        assert second["title"] == "t2401"
        assert seen.errors == []

    def test_lines_of_columns_are_shown_with_what_is_chosen(self, tmp_path: Path) -> None:
        events = [
            job("j", ("raw",), ("sums",)),
            dataset("sums", columnLineage=column_lineage(total=[("raw", "price")])),
            job("k", ("other",), ("more",)),
            dataset("more", columnLineage=column_lineage(x=[("other", "y")])),
        ]
        page = written(tmp_path, build(events), style=Style(columns=True))
        shown = """[...document.querySelectorAll(".edge.column")].map(
            (line) => getComputedStyle(line).opacity)"""
        seen = browse(
            page, ("evaluate", shown), ("press", "/"), ("type", "sums"), ("press", "Enter"),
            ("evaluate", shown), state=tmp_path / "state",
        )  # fmt: skip
        # In the order of their sources: other, raw.
        assert (seen.results, seen.errors) == ([["1", "1"], ["0.28", "1"]], [])

    def test_boxes_and_lines_are_seen_from_far_away(self, tmp_path: Path) -> None:
        events = [job(f"J{at}", (f"a{at}",), (f"b{at}",)) for at in range(700)]
        page = written(tmp_path, build(events))
        look = """[...document.querySelectorAll(".shape, .edge")].slice(0, 3000).every((one) => {
            const style = getComputedStyle(one);
            const { vectorEffect, strokeWidth } = style;
            return vectorEffect === "non-scaling-stroke" && parseFloat(strokeWidth) > 0.4;
        })"""
        seen = browse(
            page, ("evaluate", look), ("press", "/"), ("type", "a5"), ("press", "Enter"),
            ("evaluate", look), state=tmp_path / "state",
        )  # fmt: skip
        assert (seen.results, seen.errors) == ([True, False], [])  # near by, lines grow with boxes

    def test_paper(self, tmp_path: Path) -> None:
        page = written(tmp_path, build(EVENTS))
        file = tmp_path / "page.pdf"
        browse(page, ("click", CLEAN), ("pdf", str(file)), state=tmp_path / "state")
        assert file.read_bytes().startswith(b"%PDF-")

    def test_a_drawing_alone(self, tmp_path: Path) -> None:
        file = written(tmp_path, HOSTILE_GRAPH, "svg", Style(group=True, columns=True))
        code = "[document.documentElement.tagName, document.querySelectorAll('parsererror').length]"
        seen = browse(file, ("evaluate", code), ("titles", None), state=tmp_path / "state")
        assert seen.results[0] == ["svg", 0]
        assert {f"dataset {visible(name)} in {BROKER}" for name in HOSTILE} <= set(seen.results[1])
        assert (seen.errors, seen.requests, seen.dialogs) == ([], [file.as_uri()], 0)


@needs_browser
def test_mermaid_draws_every_name_as_it_is(tmp_path: Path) -> None:
    names = [name for name in HOSTILE if name.strip() and len(name) < 1_000]
    graph = with_columns(names)
    styles = (Style(), Style(group=True, direction="TB"), Style(columns=True))
    charts = [renderer("mermaid")(graph, style).text for style in styles]
    # A second namespace, and so a second line in each box.
    events = [dataset(name) for name in names]
    both = build([*events, dataset("elsewhere", namespace="other")])
    charts.append(renderer("mermaid")(both, Style()).text)
    seen = browse(None, ("mermaid", charts), state=tmp_path / "state")
    *drawn, lines = [
        {re.sub(r"\s+", " ", text.replace("\u200b", "")).strip() for text in labels}
        for labels in seen.results[0]
    ]
    wanted = [re.sub(r"\s+", " ", visible(name)).strip() for name in names]
    for shown in drawn:
        assert set(wanted) <= shown
    assert {f"{name} {BROKER}".replace(" ", "") for name in wanted} <= {
        text.replace(" ", "") for text in lines
    }
    assert seen.errors == []


@needs_dot
@pytest.mark.parametrize("style", [Style(), Style(group=True, columns=True, direction="RL")])
def test_graphviz_draws_every_name_as_it_is(style: Style) -> None:
    graph = with_columns(HOSTILE)
    svg = graphviz(renderer("dot")(graph, style).text, "svg").decode()
    texts = {
        unescape(text).replace("\xa0", " ") for text in re.findall(r"<text[^>]*>(.*?)</text>", svg)
    }
    assert {visible(name) for name in HOSTILE if name.strip()} <= texts
    document = json.loads(graphviz(renderer("dot")(graph, style).text))
    clusters = sum(one["name"].startswith("cluster") for one in document["objects"])
    assert len(document["objects"]) - clusters == len(graph.nodes)
