"""Pictures of a graph: for a terminal, a wiki, another program, a browser."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

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
    found: Renderer = imported(RENDERERS[name])
    return found


def imported(path: str) -> Any:
    """Return the function that ``path`` names, as ``package.module:function``."""
    module, _, function = path.partition(":")
    return getattr(import_module(module), function)
