"""The elements of a drawing in SVG: boxes of datasets and jobs, lines between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import NamedTuple
from unicodedata import east_asian_width

from streamt_ol.lineage.graph import DATASET, Graph, Key
from streamt_ol.lineage.rendering.geometry import Box, Layout, Point
from streamt_ol.lineage.rendering.layout import layout
from streamt_ol.lineage.rendering.style import Style, columns_drawn, frames, namespaces, visible

_MARGIN = 24
_HEIGHT = 46
_ROW = 18  # the height of a column
_NARROWEST, _WIDEST = 120, 290
_LETTER, _SMALL_LETTER, _FRAME_LETTER = 7.9, 6.2, 7.0  # the width of a letter, about
_INNER = 36  # of the width, what is not text
_BEND = 8  # the radius of a bend of a line
_WIDE_LETTER = 1.7
_DOTS = "…"


class Label(NamedTuple):
    """The two lines of text in a box."""

    first: str
    second: str


class Drawing(NamedTuple):
    """A drawing: its size with a margin around, its elements, and the boxes of the nodes."""

    width: int
    height: int
    elements: str
    boxes: dict[Key, Box]


def drawing(graph: Graph, style: Style) -> Drawing:
    """Return the drawing of a graph: nodes ``n0``, ``n1``, … in its order, edges in theirs."""
    columns = columns_drawn(graph) if style.columns else {}
    framed = frames(graph) if style.group else {}
    labels = _labels(graph, framed)
    sizes = {
        key: _size(label, [visible(name) for name in columns.get(key, ())])
        for key, label in labels.items()
    }
    found = layout(graph, sizes, style.direction, framed)
    moved = {key: box.moved(_MARGIN, _MARGIN) for key, box in found.boxes.items()}
    elements = "\n".join(
        [
            *_frames(found),
            *_edges(graph, found),
            *(_column_lines(graph, moved, columns, style.direction) if style.columns else ()),
            *(
                _node(at, key, labels[key], moved[key], columns.get(key, []), style)
                for at, key in enumerate(graph.nodes)
            ),
        ]
    )
    width, height = found.size
    return Drawing(width + 2 * _MARGIN, height + 2 * _MARGIN, elements, moved)


def _labels(graph: Graph, framed: Mapping[Key, str]) -> dict[Key, Label]:
    single = {kind for kind, names in namespaces(graph).items() if len(names) == 1}
    found = {}
    for key, node in graph.nodes.items():
        name = visible(key.name)  # as a whole: what is redacted may hold a slash
        above, _, last = name.rpartition("/")
        split = key.kind != DATASET and last.strip() and above
        first = last if split else name
        plain = framed.get(key) == key.namespace or key.kind in single
        where = "" if plain else visible(key.namespace)
        second = where or (above if split else visible(node.type)) or key.kind
        found[key] = Label(_cut(first, _LETTER), _cut(second, _SMALL_LETTER))
    return found


def _width(text: str) -> float:
    return sum(_WIDE_LETTER if east_asian_width(letter) in "WF" else 1 for letter in text)


def _cut(text: str, letter: float, width: int = _WIDEST) -> str:
    """Return the text, with its middle left out where it is too long for a box."""
    room = (width - _INNER) / letter
    if len(text) > 4 * room:
        text = text[: round(2 * room)] + text[-round(2 * room) :]
    if _width(text) <= room:
        return text
    begin, end = text[: len(text) // 2], text[len(text) // 2 :]
    while _width(begin) + _width(end) + 1 > room:
        begin, end = begin[:-1], end[1:]
    return f"{begin}{_DOTS}{end}"


def _size(label: Label, columns: list[str]) -> tuple[int, int]:
    texts = [_width(label.first) * _LETTER, _width(label.second) * _SMALL_LETTER]
    texts += [_width(_cut(name, _SMALL_LETTER)) * _SMALL_LETTER for name in columns]
    width = min(max(round(max(texts)) + _INNER, _NARROWEST), _WIDEST)
    return width, _HEIGHT + _ROW * len(columns) + (6 if columns else 0)


def _frames(found: Layout) -> Iterator[str]:
    for name, box in found.frames.items():
        x, y, width, height = box.moved(_MARGIN, _MARGIN)
        shown = _cut(visible(name) or "(no namespace)", _FRAME_LETTER, width)
        yield (
            f'<g class="frame"><rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
            f'<text x="{x + 10}" y="{y + 17}">{escape(shown)}</text></g>'
        )


def _edges(graph: Graph, found: Layout) -> Iterator[str]:
    for edge in graph.edges:
        line = [(x + _MARGIN, y + _MARGIN) for x, y in found.lines[edge]]
        yield f'<path class="edge" d="{_path(line)}" marker-end="url(#arrow)"/>'


def _path(line: list[Point]) -> str:
    """Return a line with round bends."""
    parts = [f"M{line[0][0]} {line[0][1]}"]
    for at, (x, y) in enumerate(line[1:-1], 1):
        before, after = _towards((x, y), line[at - 1]), _towards((x, y), line[at + 1])
        parts.append(f"L{before[0]} {before[1]}Q{x} {y} {after[0]} {after[1]}")
    return "".join([*parts, f"L{line[-1][0]} {line[-1][1]}"])


def _towards(start: Point, end: Point) -> Point:
    """Return the point on the way that is a bend's radius away, or half of the way."""
    length = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
    part = min(_BEND, length / 2) / length
    return (
        round(start[0] + (end[0] - start[0]) * part),
        round(start[1] + (end[1] - start[1]) * part),
    )


def _column_lines(
    graph: Graph, boxes: dict[Key, Box], columns: dict[Key, list[str]], direction: str
) -> Iterator[str]:
    rows = {
        (key, name): boxes[key].y + _HEIGHT + _ROW * at + _ROW // 2
        for key, names in columns.items()
        for at, name in enumerate(names)
    }
    for edge in graph.column_edges:
        source, target = boxes[edge.source], boxes[edge.target]
        y1 = rows[edge.source, edge.source_column]
        y2 = rows.get((edge.target, edge.target_column), target.y + _HEIGHT // 2)
        if direction in ("TB", "BT"):  # along one side, from row to row
            x1, x2 = source.x, target.x
            c1 = c2 = min(x1, x2) - _MARGIN
        else:
            forwards = target.x >= source.x
            x1, x2 = (source.x + source.width, target.x) if forwards else (
                source.x, target.x + target.width)  # fmt: skip
            bend = max(40, abs(x2 - x1) // 3) * (1 if forwards else -1)
            c1, c2 = x1 + bend, x2 - bend
        d = f"M{x1} {y1}C{c1} {y1} {c2} {y2} {x2} {y2}"
        yield f'<path class="edge column" d="{d}" marker-end="url(#arrow)"/>'


def _node(at: int, key: Key, label: Label, box: Box, columns: list[str], style: Style) -> str:
    x, y, width, _ = box
    shape = _cylinder(box) if key.kind == DATASET else _step(box)
    focus = " focus" if key == style.focus else ""
    rows = "".join(
        f'<text class="row" x="{x + 12}" y="{y + _HEIGHT + _ROW * row + 13}">'
        f"{escape(_cut(visible(name), _SMALL_LETTER))}</text>"
        for row, name in enumerate(columns)
    )
    rule = f'<path class="rule" d="M{x} {y + _HEIGHT}h{width}"/>' if columns else ""
    where = f" in {visible(key.namespace)}" if key.namespace else ""
    return (
        f'<g class="node {key.kind}{focus}" id="n{at}">'
        f"<title>{escape(f'{key.kind} {visible(key.name)}{where}')}</title>"
        f'<path class="shape" d="{shape}"/>'
        f'<text x="{x + 14}" y="{y + 23}">{escape(label.first)}</text>'
        f'<text class="second" x="{x + 14}" y="{y + 38}">{escape(label.second)}</text>'
        f"{rule}{rows}</g>"
    )


def _cylinder(box: Box) -> str:
    x, y, width, height = box
    half, rim = width / 2, 5
    return (
        f"M{x} {y + rim}a{half:g} {rim} 0 0 1 {width} 0v{height - 2 * rim}"
        f"a{half:g} {rim} 0 0 1 {-width} 0zM{x} {y + rim}a{half:g} {rim} 0 0 0 {width} 0"
    )


def _step(box: Box) -> str:
    x, y, width, height = box
    point = 10
    return (
        f"M{x} {y}h{width - point}l{point} {height / 2:g}l{-point} {height / 2:g}h{point - width}z"
    )
