"""The nodes of a graph that go by another name in the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from streamt_ol.lineage.graph import Graph, Key


def renames(old: Graph, new: Graph) -> dict[Key, Key]:
    """Return what was renamed: the only two of their kind and namespace that look the same.

    A node whose neighbours were renamed has the same neighbours, so this goes on while it finds
    any. What has neither a column nor a neighbour is not recognised.
    """
    renamed: dict[Key, Key] = {}
    gone = [key for key in old.nodes if key not in new.nodes]
    come = [key for key in new.nodes if key not in old.nodes]
    looks = {key: _look(new, key, {}) for key in come}
    while True:
        before = _by_look((key, _look(old, key, renamed)) for key in gone)
        after = _by_look((key, looks[key]) for key in come)
        found = {
            keys[0]: after[look][0]
            for look, keys in before.items()
            if len(keys) == 1 and len(after.get(look, ())) == 1
        }
        if not found:
            return dict(sorted(renamed.items()))
        renamed |= found
        gone = [key for key in gone if key not in found]
        taken = set(found.values())
        come = [key for key in come if key not in taken]


def _look(graph: Graph, key: Key, renamed: Mapping[Key, Key]) -> object:
    """Return what a renamed node keeps, or None for one that has nothing to be known by."""
    columns = tuple((column.path, column.type) for column in graph.nodes[key].columns)
    before, behind = (
        tuple(sorted(renamed.get(other, other) for other in sides[key]))
        for sides in (graph.upstream, graph.downstream)
    )
    known = bool(columns or before or behind)
    return (key.kind, key.namespace, columns, before, behind) if known else None


def _by_look(looks: Iterable[tuple[Key, object]]) -> dict[object, list[Key]]:
    found: dict[object, list[Key]] = {}
    for key, look in looks:
        if look is not None:
            found.setdefault(look, []).append(key)
    return found
