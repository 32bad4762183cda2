"""The manifest's own graph, as a cross-check of the dependencies that were resolved.

It is never the only source: older releases miss the dependencies of macros in it, and it lists
exposures too. Where it knows a model and says something else, one of the two is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
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
        self._edges: dict[str, set[str]] = defaultdict(set)
        for edge in dag.get("edges") or ():
            if edge["to"] not in exposures:
                self._edges[edge["to"]].add(edge["from"])

    def check(self, model: Declaration, dependencies: Iterable[Declaration]) -> None:
        """Raise E506 where the graph contradicts the resolved dependencies of ``model``."""
        resolved = {dependency.name for dependency in dependencies}
        upstream, place = self._upstream.get(model.name, (None, ""))
        edges = self._edges.get(model.name)
        for listed, where in ((upstream, place), (edges, "/dag/edges")):
            if listed is None or listed == resolved:
                continue
            if model.body.get("macro") is not None and not listed:
                continue  # an older release does not see into macros
            names = ", ".join(shown(name) for name in sorted(listed ^ resolved)[:3])
            raise StreamtOlError(
                INVALID,
                f"the graph and the dependencies of the model {shown(model.name)} "
                f"disagree about {names}",
                location=where,
            )
