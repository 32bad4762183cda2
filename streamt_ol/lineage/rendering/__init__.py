"""Pictures of a graph: for a terminal, a wiki, another program, a browser."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
# The formats of files, by the end of their names; a file of any other name is a page.
_SUFFIXES = {
    ".svg": "svg",
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
    ".dot": "dot",
    ".gv": "dot",
    ".json": "json",
    ".txt": "text",
}


def format_of(file: Path) -> str:
    """Return the format, a key of ``RENDERERS``, that the name of a file asks for."""
    return _SUFFIXES.get(file.suffix.lower(), "html")


def renderer(name: str) -> Renderer:
    """Return the renderer of the format ``name``, a key of ``RENDERERS``."""
    found: Renderer = resolve_name(RENDERERS[name])
    return found
