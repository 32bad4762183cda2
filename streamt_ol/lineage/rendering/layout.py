"""The layout of a picture: in layers from the sources on, by the library graphlay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamt_ol.lineage.graph import Edge, Graph, Key
from streamt_ol.lineage.rendering.geometry import Box, Layout, Size, apart, packed, straight, turned
from streamt_ol.lineage.rendering.layers import connected, joined, routed, rows, writers
from streamt_ol.problems import USAGE, Location, StreamtOlError

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
            "sweep_stall": 1,
            "kick_rounds": 0,
            "sifting_rounds": 0,
            "sifting_max_work": 0,
            "sifting_sweep_max_arcs": 0,
            "chain_lane_rounds": 0,
            "group_sort_rounds": 0,
            "balance_rounds": 0,
            "exhaustive_layer_max": 0,
        },
        "routing": {"overlap_repair_rounds": 0, "port_relax_rounds": 0, "step_flatten": 24.0},
        "coords": {
            "simplex_face_rounds": 0,
            "branch_rounds": 0,
            "snap_rounds": 0,
            "flatten_room": 0,
        },
    },
}
_SPACING = {"layer_gap": 60.0, "node_gap": 24.0, "compound_padding": 24.0, "compound_header": 24.0}


def layout(
    graph: Graph,
    sizes: Mapping[Key, Size],
    direction: str,
    framed: Mapping[Key, str] = NO_FRAMES,
) -> Layout:
    """Return where nodes of these sizes are drawn; the same graph always has the same layout.

    ``framed`` tells which nodes are drawn in the frame of a namespace.

    Raises ``StreamtOlError`` (E500) where the library is not installed.
    """
    flat = direction in ("LR", "RL")
    pairs = writers(graph, sizes, framed)
    simple = joined(graph, pairs)
    inside = {key: name for key, name in framed.items() if key not in pairs}
    room = {**sizes, **_room(pairs, sizes, flat=flat)}
    laid = [
        _part(simple, part, room, direction, {key: inside[key] for key in part if key in inside})
        for part in connected(simple.nodes, simple, inside)
    ]
    return turned(apart(packed(laid), graph, pairs, sizes, flat=flat), direction)


def _room(pairs: Mapping[Key, Key], sizes: Mapping[Key, Size], *, flat: bool) -> dict[Key, Size]:
    """Return the sizes of the boxes of jobs that have their datasets in them, at the far end."""
    gap = round(_SPACING["layer_gap"])
    if not flat:
        return {
            job: (max(sizes[job][0], sizes[dataset][0]), sizes[job][1] + gap + sizes[dataset][1])
            for dataset, job in pairs.items()
        }
    # All of one width, so that boxes in one layer are in line.
    width = max((sizes[job][0] + gap + sizes[key][0] for key, job in pairs.items()), default=0)
    return {job: (width, sizes[job][1]) for job in pairs.values()}


def _part(
    graph: Graph,
    keys: Sequence[Key],
    sizes: Mapping[Key, Size],
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
    edges, slanted = routed(edges, keys, graph)
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
    lines.update((edge, straight(boxes[at[edge.source]], boxes[at[edge.target]], flat=flat))
                 for edge in slanted)  # fmt: skip
    return Layout(
        {key: boxes[place] for key, place in at.items()},
        lines,
        {namespace: boxes[place] for namespace, place in parents.items()},
        (round(right - left), round(bottom - top)),
    )


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
