"""The manifest's own graph, as a cross-check of the dependencies that were resolved.

It is never the only source: older releases miss the dependencies of macros in it, and it lists
exposures too. Where it knows a model and says something else, one of the two is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.resolution.declarations import Declaration


class Dag:
    """What ``dag`` says that each model depends on, by ``nodes`` and by ``edges``."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        dag = manifest.get("dag") or {}
        exposures = {exposure.get("name") for exposure in manifest.get("exposures") or ()}
        self._upstream: dict[str, tuple[set[str], str]] = {}
        for index, node in enumerate(dag.get("nodes") or ()):
            if node.get("type", "model") == "model" and node.get("upstream") is not None:
                self._upstream[node["name"]] = set(node["upstream"]), f"/dag/nodes/{index}"
        self._edges: dict[str, dict[str, int]] = defaultdict(dict)
        for index, edge in enumerate(dag.get("edges") or ()):
            self._edges[edge["to"]].setdefault(edge["from"], index)
        self._exposures = exposures

    def check(self, model: Declaration, dependencies: Iterable[Declaration]) -> None:
        """Raise E506 where the graph contradicts the resolved dependencies of ``model``."""
        resolved = {dependency.name for dependency in dependencies}
        for listed, where in self._listed(model, resolved):
            if listed == resolved or (model.body.get("macro") is not None and not listed):
                continue  # an older release does not see into macros
            names = ", ".join(shown(name) for name in sorted(listed ^ resolved)[:3])
            raise StreamtOlError(
                INVALID,
                f"the graph and the dependencies of the model {shown(model.name)} "
                f"disagree about {names}",
                location=where,
            )

    def _listed(self, model: Declaration, resolved: set[str]) -> Iterator[tuple[set[str], str]]:
        """Yield what each part of the graph says about ``model``, and where it says so."""
        if model.name in self._upstream:
            yield self._upstream[model.name]
        if self._edges and model.name not in self._exposures:  # one name, two meanings of an edge
            edges = self._edges.get(model.name, {})
            surplus = [index for name, index in edges.items() if name not in resolved]
            yield set(edges), f"/dag/edges/{surplus[0]}" if surplus else "/dag/edges"
