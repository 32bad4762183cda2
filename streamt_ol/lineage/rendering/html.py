"""The graph as one HTML file: search, details, what lies upstream and downstream.

The page refers to nothing outside of it. Its policy lets it run its own script and no other, and
load nothing; text of users is escaped in the markup, and the script writes text only.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import Any

import orjson

from streamt_ol.lineage.graph import Graph
from streamt_ol.lineage.rendering.document import graph_document
from streamt_ol.lineage.rendering.drawing import Drawing, drawing
from streamt_ol.lineage.rendering.style import Picture, Style, counts
from streamt_ol.lineage.rendering.svg import ARROW, frame, resource
from streamt_ol.redaction import printable_json


def html(graph: Graph, style: Style) -> Picture:
    """Return the page; its address with ``#dataset/NAMESPACE/NAME`` leads to a node."""
    drawn = drawing(graph, style)
    css, script = resource("drawing.css") + resource("page.css"), resource("page.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(css)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": escape(style.title),
        "css": css,
        "script": script,
        "counts": counts(graph.nodes, len(graph.edges)),
        "frame": frame(drawn),
        "arrow": ARROW,
        "elements": drawn.elements,
        "data": _data(graph, style, drawn),
    }
    # In one pass: what a user wrote is not looked at again.
    return Picture(re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], resource("page.html")))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(graph: Graph, style: Style, drawn: Drawing) -> str:
    """Return the graph for the script, in a form in which no markup can be."""
    columns = Style(columns=True, focus=style.focus)
    data: dict[str, Any] = graph_document(graph, columns)
    data["boxes"] = [list(drawn.boxes[key]) for key in graph.nodes]
    text = printable_json(orjson.dumps(data)).decode()
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
