"""Boxes, lines and frames: put side by side, taken apart, and turned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import NamedTuple

from streamt_ol.lineage.graph import Edge, Graph, Key

Point = tuple[int, int]
Size = tuple[int, int]
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
    size: Size


def straight(source: Box, target: Box, *, flat: bool) -> list[Point]:
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


def packed(parts: Iterable[Layout]) -> Layout:
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


def turned(found: Layout, direction: str) -> Layout:
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


def apart(
    found: Layout,
    graph: Graph,
    pairs: Mapping[Key, Key],
    sizes: Mapping[Key, Size],
    *,
    flat: bool,
) -> Layout:
    """Return the layout with a box for each job and each dataset, and a line between the two."""
    boxes = dict(found.boxes)
    for dataset, job in pairs.items():
        x, y, width, height = found.boxes[job]
        first, last = sizes[job], sizes[dataset]
        if flat:
            boxes[job] = Box(x, y, first[0], height)
            boxes[dataset] = Box(x + width - last[0], y, last[0], height)
        else:
            boxes[job] = Box(x, y, width, first[1])
            boxes[dataset] = Box(x, y + height - last[1], width, last[1])
    lines = {
        edge: straight(boxes[edge.source], boxes[edge.target], flat=flat)
        if edge.target in pairs
        else found.lines[Edge(pairs.get(edge.source, edge.source), edge.target)]
        for edge in graph.edges
    }
    return Layout(boxes, lines, found.frames, found.size)
