"""A difference as the comment that a bot posts under a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from streamt_ol.lineage.changes import KINDS
from streamt_ol.lineage.difference import Difference
from streamt_ol.lineage.graph import Key, graph_of
from streamt_ol.lineage.rendering.mermaid import mermaid
from streamt_ol.lineage.rendering.style import Style
from streamt_ol.lineage.wording import LONGEST, named, owners, sentence, summary
from streamt_ol.redaction import name_line

# GitHub takes 65,536 characters; a bot may want to add some of its own.
MAX_CHARACTERS = 60_000
_CHANGES, _DOWNSTREAM, _PICTURE = 30_000, 12_000, 15_000
_WARNING = "⚠️ "
_PICTURE_EDGES = 150
_SHOWN_AT_ONCE = 20


def markdown(difference: Difference) -> str:
    """Return the comment: the summary, a picture, changes by importance, what lies downstream.

    It has fewer than ``MAX_CHARACTERS`` characters, whatever the size of the difference.
    """
    parts = [f"## Lineage: {summary(difference.changes)}\n"]
    if difference.changes:
        parts += ["\n", *_changes(difference), *_downstream(difference), *_picture(difference)]
    return "".join(parts)


def code(text: str) -> str:
    """Return user text as a code span: redacted, on one line, without any Markdown or mention."""
    shown = name_line(text, LONGEST)
    fence = "`"
    while fence in shown:
        fence += "`"
    padding = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{padding}{shown}{padding}{fence}"


def _changes(difference: Difference) -> Iterator[str]:
    lines = [
        f"- {_WARNING if KINDS[change.kind].breaking else ''}**{change.kind}** "
        f"{sentence(change, code)}\n"
        for change in difference.changes
    ]
    yield from _folded(lines, _CHANGES, "more changes")


def _downstream(difference: Difference) -> Iterator[str]:
    affected = difference.affected
    if not affected:
        return
    yield "\n### Downstream of what is gone or retyped\n\n"
    lines = [
        f"- {named(one.key, code)}, owned by {owners(one.owners, code)}, "
        f"behind {named(one.cause, code)}\n"
        for one in affected
    ]
    yield from _folded(lines, _DOWNSTREAM, "more")


def _folded(lines: list[str], room: int, what: str) -> Iterator[str]:
    """Yield the first lines, then others folded up, as many as there is room for."""
    fitting = list(_fitting(lines, room))
    yield from fitting[:_SHOWN_AT_ONCE]
    folded = fitting[_SHOWN_AT_ONCE:]
    if folded:
        yield f"\n<details><summary>{len(folded):,} {what}</summary>\n\n"
        yield from folded
        yield "\n</details>\n"
    if len(fitting) < len(lines):
        yield f"\n… and {len(lines) - len(fitting):,} that did not fit here.\n"


def _fitting(lines: Iterable[str], room: int) -> Iterator[str]:
    for line in lines:
        room -= len(line.encode("utf-16-le")) // 2
        if room < 0:
            return
        yield line


def _picture(difference: Difference) -> Iterator[str]:
    """Yield a picture of what changed and its neighbours, in a block of Mermaid."""
    marks = _marks(difference)
    union = graph_of(
        {**difference.old.nodes, **difference.new.nodes},
        {*difference.old.edges, *difference.new.edges},
    )
    around = {
        other for key in marks for other in (key, *union.upstream[key], *union.downstream[key])
    }
    style = Style(
        marks=marks,
        max_edges=_PICTURE_EDGES,
        max_characters=_PICTURE,
        added=frozenset(difference.added_edges),
        removed=frozenset(difference.removed_edges),
        longest_name=LONGEST,
    )
    picture = mermaid(union.induced(around), style, marks)
    yield "\n### What changed, and its neighbours\n\n```mermaid\n"
    yield picture.text
    yield "```\n\nGreen is added, red and dashed is removed, orange is changed.\n"


def _marks(difference: Difference) -> dict[Key, str]:
    """Return what happened to each node that changed, in the order of importance."""
    marks: dict[Key, str] = {}
    for change in difference.changes:
        if change.key not in difference.new.nodes:
            marks[change.key] = "removed"
        elif change.key not in difference.old.nodes:
            marks[change.key] = "added"
        else:
            marks[change.key] = "changed"
    return marks
