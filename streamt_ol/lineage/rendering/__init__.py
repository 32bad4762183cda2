"""Pictures of a graph: for a terminal, a wiki, another program, a browser."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamt_ol.lineage.graph import Graph
    from streamt_ol.lineage.rendering.style import Picture, Style

    Renderer = Callable[[Graph, Style], Picture]

# What a user picks by name. A renderer is imported when it is asked for.
RENDERERS: dict[str, str] = {
    "html": "streamt_ol.lineage.rendering.html:html",
    "svg": "streamt_ol.lineage.rendering.svg:svg",
    "mermaid": "streamt_ol.lineage.rendering.mermaid:mermaid",
    "dot": "streamt_ol.lineage.rendering.dot:dot",
    "json": "streamt_ol.lineage.rendering.document:document",
    "text": "streamt_ol.lineage.rendering.tree:tree",
}


def renderer(name: str) -> Renderer:
    """Return the renderer of the format ``name``, a key of ``RENDERERS``."""
    found: Renderer = resolve_name(RENDERERS[name])
    return found
