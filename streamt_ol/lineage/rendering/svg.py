"""The graph as one SVG file, which needs nothing else: no script, no font, no picture."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from streamt_ol.lineage.graph import Graph
from streamt_ol.lineage.rendering.drawing import Drawing, drawing
from streamt_ol.lineage.rendering.style import Picture, Style, counts

ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" '
    'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto-start-reverse">'
    '<path d="M0 0L10 5L0 10z"/></marker></defs>'
)


def svg(graph: Graph, style: Style) -> Picture:
    """Return the drawing as a document of its own, light or dark as the viewer is."""
    drawn = drawing(graph, style)
    title = f"{style.title}: {counts(graph.nodes, len(graph.edges))}"
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" {frame(drawn)} role="img" '
        f'aria-label="{title}">\n<title>{title}</title>\n<style>\n{resource("drawing.css")}</style>\n'
        f"{ARROW}\n{drawn.elements}\n</svg>\n"
    )


def frame(drawn: Drawing) -> str:
    """Return the attributes of the element that holds the drawing."""
    size = f'width="{drawn.width}" height="{drawn.height}"'
    return f'class="drawing" {size} viewBox="0 0 {drawn.width} {drawn.height}"'


@cache
def resource(name: str) -> str:
    """Return the text of a file beside this module."""
    return (files(__package__) / name).read_text("utf-8")
