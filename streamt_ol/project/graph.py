"""The graph of a project's models: no cycles, and the manifest's ``dag``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.project.models import Model
from streamt_ol.redaction import shown

_OPEN, _DONE = 1, 2
_SHOWN = 8  # names of a cycle in a message


def refuse_cycles(models: Sequence[Model]) -> None:
    """Raise E506 at the first model that depends on itself, directly or through others.

    Iterative and linear: a chain of models may be as long as it likes. A name that two models
    have is the fault that a later stage tells, and no cycle.
    """
    by_name = {model.body["name"]: model for model in models}
    if len(by_name) < len(models):
        return
    state: dict[str, int] = {}
    for start in by_name:
        path: list[tuple[str, list[str]]] = []
        _enter(start, by_name, state, path)
        while path:
            name, remaining = path[-1]
            if not remaining:
                state[name] = _DONE
                path.pop()
            else:
                _enter(remaining.pop(), by_name, state, path)


def _enter(
    name: str,
    by_name: Mapping[str, Model],
    state: dict[str, int],
    path: list[tuple[str, list[str]]],
) -> None:
    if state.get(name) == _DONE:
        return
    if state.get(name) == _OPEN:
        names = [step for step, _ in path]
        cycle = names[names.index(name) :]
        first = min(cycle, key=list(by_name).index)
        turned = cycle[cycle.index(first) :] + cycle[: cycle.index(first)] + [first]
        shortened = turned if len(turned) <= _SHOWN else [*turned[:4], "…", *turned[-3:]]
        raise StreamtOlError(
            INVALID,
            "models depend on each other in a cycle: " + " -> ".join(map(shown, shortened)),
            location=by_name[first].section.at(),
        )
    state[name] = _OPEN
    upstream = [
        dependency.name
        for dependency in reversed(by_name[name].dependencies)
        if dependency.kind != "source" and dependency.name in by_name
    ]
    path.append((name, upstream))


def compiled_dag(
    sources: Iterable[Mapping[str, Any]], models: Iterable[Model]
) -> dict[str, list[dict[str, Any]]]:
    """Return the manifest's ``dag``: its nodes, with the effective materialization of models."""
    nodes: list[dict[str, Any]] = [
        {"name": source["name"], "type": "source", "materialized": None, "upstream": []}
        for source in sources
    ]
    for model in models:
        upstream = sorted({dependency.name for dependency in model.dependencies})
        name, kind = model.body["name"], model.materialization
        nodes.append({"name": name, "type": "model", "materialized": kind, "upstream": upstream})
    return {"nodes": nodes}
