"""The layout of a picture: in layers from the sources on, by the library graphlay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

from streamt_ol.lineage.graph import Edge, Graph, Key
from streamt_ol.lineage.rendering.layers import connected, routed, rows
from streamt_ol.problems import USAGE, Location, StreamtOlError

Point = tuple[int, int]
NO_FRAMES: Mapping[Key, str] = {}
# Parallel edges in bundles, and sifting, cost minutes for the largest graphs.
_EFFORTS: tuple[tuple[int, dict[str, Any]], ...] = (
    (400, {"effort": "balanced"}),
    (1_500, {"effort": "fast"}),
)
_LARGE: dict[str, Any] = {
    "effort": "fast",
    "coords": {"placement": "brandes_koepf", "branch_bands": False},
    "routing": {"port_sides": "facing_only"},
    "tuning": {
        "order": {
            "seeds": 1,
            "sweeps": 4,
            "kick_rounds": 0,
            "sifting_rounds": 0,
            "sifting_max_work": 0,
            "sifting_sweep_max_arcs": 0,
            "chain_lane_rounds": 0,
            "group_sort_rounds": 0,
            "balance_rounds": 0,
            "exhaustive_layer_max": 0,
        },
        "routing": {"overlap_repair_rounds": 0, "port_relax_rounds": 0},
        "coords": {"simplex_face_rounds": 0, "branch_rounds": 0, "snap_rounds": 0},
    },
}
_SPACING = {"layer_gap": 60.0, "node_gap": 24.0, "compound_padding": 24.0, "compound_header": 24.0}
_GAP = 40  # between parts that nothing connects
_WIDE = 1.6  # how much wider than high the whole becomes, where it can


class Box(NamedTuple):
    """A rectangle, by its upper left corner and its size."""

    x: int
    y: int
    width: int
    height: int

    def moved(self, x: int, y: int) -> Box:
        """Return the box moved by ``x`` and ``y``."""
        return Box(self.x + x, self.y + y, self.width, self.height)


class Layout(NamedTuple):
    """Boxes of nodes, lines of edges, and frames of namespaces, in an area of ``size``."""

    boxes: dict[Key, Box]
    lines: dict[Edge, list[Point]]
    frames: dict[str, Box]
    size: tuple[int, int]


def layout(
    graph: Graph,
    sizes: Mapping[Key, tuple[int, int]],
    direction: str,
    framed: Mapping[Key, str] = NO_FRAMES,
) -> Layout:
    """Return where nodes of these sizes are drawn; the same graph always has the same layout.

    ``framed`` tells which nodes are drawn in the frame of a namespace.

    Raises ``StreamtOlError`` (E500) where the library is not installed.
    """
    laid = [
        _part(graph, part, sizes, direction, {key: framed[key] for key in part if key in framed})
        for part in connected(graph.nodes, graph, framed)
    ]
    return _turned(_packed(laid), direction)


def _part(
    graph: Graph,
    keys: Sequence[Key],
    sizes: Mapping[Key, tuple[int, int]],
    direction: str,
    framed: Mapping[Key, str],
) -> Layout:
    if len(keys) == 1 and not framed:
        [key] = keys
        if key not in graph.downstream[key]:
            return Layout({key: Box(0, 0, *sizes[key])}, {}, {}, sizes[key])
    parents = {namespace: at for at, namespace in enumerate(sorted(set(framed.values())))}
    at = {key: len(parents) + place for place, key in enumerate(keys)}
    edges = [Edge(key, other) for key in keys for other in graph.downstream[key]]
    edges, straight = routed(edges, keys, graph)
    flat = direction in ("LR", "RL")
    unseen = rows(
        keys, graph, framed, flat=flat
    )  # after the others, so that these keep their places
    nodes: list[dict[str, Any]] = [_node(1, 1) for _ in parents]
    nodes += [
        {**_node(*sizes[key]), **({"parent": parents[framed[key]]} if key in framed else {})}
        for key in keys
    ]
    request = {
        "nodes": nodes,
        "edges": [
            {"source": at[edge.source], "target": at[edge.target]} for edge in [*edges, *unseen]
        ],
    }
    drawn = _library().layout(request, options=_options(len(keys), direction))
    left, top = (drawn.bounds["min"][axis] for axis in "xy")
    boxes = [_box(node, left, top) for node in drawn.nodes]
    lines = {
        edge: [(round(p["x"] - left), round(p["y"] - top)) for p in line["points"]]
        for edge, line in zip(edges, drawn.edges, strict=False)
    }
    right, bottom = (drawn.bounds["max"][axis] for axis in "xy")
    lines.update((edge, _straight(boxes[at[edge.source]], boxes[at[edge.target]], flat=flat))
                 for edge in straight)  # fmt: skip
    return Layout(
        {key: boxes[place] for key, place in at.items()},
        lines,
        {namespace: boxes[place] for namespace, place in parents.items()},
        (round(right - left), round(bottom - top)),
    )


def _straight(source: Box, target: Box, *, flat: bool) -> list[Point]:
    """Return a straight line from the side that the data leaves to the one that it enters."""
    if flat:
        return [
            (source.x + source.width, source.y + source.height // 2),
            (target.x, target.y + target.height // 2),
        ]
    return [
        (source.x + source.width // 2, source.y + source.height),
        (target.x + target.width // 2, target.y),
    ]


def _library() -> Any:
    try:
        import graphlay
    except ModuleNotFoundError:
        raise StreamtOlError(
            USAGE,
            "svg and html need the library graphlay, which is not installed",
            location=Location(option="format"),
            suggestion="pip install 'streamt-ol[graph]'; mermaid, dot, json and text work without",
        ) from None
    return graphlay


def _options(nodes: int, direction: str) -> dict[str, Any]:
    effort = next((found for most, found in _EFFORTS if nodes <= most), _LARGE)
    flow = "leftright" if direction in ("LR", "RL") else "topbottom"
    routing = {"bundle_parallel": False, **effort.get("routing", {})}
    return {**effort, "direction": flow, "spacing": _SPACING, "routing": routing}


def _node(width: int, height: int) -> dict[str, Any]:
    return {"size": {"width": float(width), "height": float(height)}, "shape": "box"}


def _box(node: Mapping[str, Any], left: float, top: float) -> Box:
    width, height = node["size"]["width"], node["size"]["height"]
    x, y = node["center"]["x"] - width / 2 - left, node["center"]["y"] - height / 2 - top
    return Box(round(x), round(y), round(width), round(height))


def _packed(parts: Iterable[Layout]) -> Layout:
    """Return the parts in rows, the highest first."""
    ordered = sorted(parts, key=lambda part: (-part.size[1], -part.size[0]))
    area = sum((width + _GAP) * (height + _GAP) for width, height in (p.size for p in ordered))
    most = max([round(sqrt(area * _WIDE)), *(part.size[0] for part in ordered)])
    whole = Layout({}, {}, {}, (0, 0))
    x = y = right = row = 0
    for part in ordered:
        width, height = part.size
        if x and x + width > most:
            x, y, row = 0, y + row + _GAP, 0
        _add(whole, part, x, y)
        x += width + _GAP
        row = max(row, height)
        right = max(right, x - _GAP)
    return whole._replace(size=(right, y + row))


def _add(whole: Layout, part: Layout, x: int, y: int) -> None:
    whole.boxes.update((key, box.moved(x, y)) for key, box in part.boxes.items())
    whole.frames.update((name, box.moved(x, y)) for name, box in part.frames.items())
    for edge, line in part.lines.items():
        whole.lines[edge] = [(px + x, py + y) for px, py in line]


def _turned(found: Layout, direction: str) -> Layout:
    """Return the layout, which flows to the right or down, in the wanted direction."""
    width, height = found.size
    if direction in ("LR", "TB"):
        return found

    def box(one: Box) -> Box:
        if direction == "RL":
            return one._replace(x=width - one.x - one.width)
        return one._replace(y=height - one.y - one.height)

    def point(one: Point) -> Point:
        return (width - one[0], one[1]) if direction == "RL" else (one[0], height - one[1])

    return Layout(
        {key: box(one) for key, one in found.boxes.items()},
        {edge: [point(one) for one in line] for edge, line in found.lines.items()},
        {name: box(one) for name, one in found.frames.items()},
        found.size,
    )
