"""The nodes of a graph that go by another name in the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from streamt_ol.lineage.graph import Graph, Key


def renames(old: Graph, new: Graph) -> dict[Key, Key]:
    """Return what was renamed: the only two of their kind and namespace that look the same.

    A node whose neighbours were renamed has the same neighbours, so this goes on while it finds
    any. What has neither a column nor a neighbour is not recognised. A model gives its name to a
    job and to the dataset that it writes: see ``_together``.
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
            found = _together(old, new, gone, come, renamed)
        if not found:
            return dict(sorted(renamed.items()))
        renamed |= found
        gone = [key for key in gone if key not in found]
        taken = set(found.values())
        come = [key for key in come if key not in taken]


def _together(
    old: Graph, new: Graph, gone: list[Key], come: list[Key], renamed: Mapping[Key, Key]
) -> dict[Key, Key]:
    """Return neighbours that were renamed together: neither can be recognised without the other.

    Each is the only one of its kind and namespace that is gone and the only one that is new, and
    looks the same if the others were renamed, too. One of them must be known by more than that.
    """
    before, after = (_alone(keys) for keys in (gone, come))
    supposed = {key: after[group] for group, key in before.items() if group in after}
    while True:
        names = {**renamed, **supposed}
        same = {
            key: other
            for key, other in supposed.items()
            if (look := _look(old, key, names)) is not None and look == _look(new, other, {})
        }
        if same == supposed:
            break
        supposed = same
    anchored = any(
        old.nodes[key].columns
        or any(other not in supposed for other in (*old.upstream[key], *old.downstream[key]))
        for key in supposed
    )
    return supposed if anchored else {}


def _alone(keys: Iterable[Key]) -> dict[tuple[str, str], Key]:
    """Return the keys that are the only ones of their kind and namespace."""
    found: dict[tuple[str, str], list[Key]] = {}
    for key in keys:
        found.setdefault((key.kind, key.namespace), []).append(key)
    return {group: names[0] for group, names in found.items() if len(names) == 1}


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
