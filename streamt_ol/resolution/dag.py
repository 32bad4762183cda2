"""The manifest's own graph, as a cross-check of the dependencies that were resolved.

It is never the only source: older releases miss the dependencies of macros in it, and it lists
exposures too. Where it knows a model and says something else, one of the two is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from streamt_ol.manifest.locations import Locations
from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.resolution.declarations import Declaration

_NO_EDGES: dict[str, int] = {}


class Dag:
    """The dependencies of each model by ``dag``: by its ``nodes`` and by its ``edges``."""

    def __init__(self, manifest: Mapping[str, Any], locations: Locations) -> None:
        self._locations = locations
        dag = manifest.get("dag") or {}
        exposures = {exposure.get("name") for exposure in manifest.get("exposures") or ()}
        self._upstream: dict[str, list[tuple[set[str], str]]] = defaultdict(list)
        for index, node in enumerate(dag.get("nodes") or ()):
            if (node.get("type") or "model") == "model" and node.get("upstream") is not None:
                listed = set(node["upstream"]), f"/dag/nodes/{index}"
                self._upstream[node["name"]].append(listed)
        self._edges: dict[str, dict[str, int]] = defaultdict(dict)
        for index, edge in enumerate(dag.get("edges") or ()):
            self._edges[edge["to"]].setdefault(edge["from"], index)
        self._exposures = exposures

    def check(self, model: Declaration, dependencies: Iterable[Declaration]) -> None:
        """Raise E506 where the graph contradicts the resolved dependencies of ``model``."""
        resolved = {dependency.name for dependency in dependencies}
        for listed, where in self._listed(model, resolved):
            if not listed and model.body.get("macro"):
                continue  # an older release does not see into macros
            names = ", ".join(shown(name) for name in sorted(listed ^ resolved)[:3])
            raise StreamtOlError(
                INVALID,
                f"the graph and the dependencies of the model {shown(model.name)} "
                f"disagree about {names}",
                location=self._locations.of(where),
            )

    def _listed(self, model: Declaration, resolved: set[str]) -> list[tuple[set[str], str]]:
        """Return what the parts of the graph say that differ from ``resolved``, and where."""
        name = model.name
        different = [listed for listed in self._upstream.get(name, ()) if listed[0] != resolved]
        edges = self._edges.get(name, _NO_EDGES)
        if self._edges and edges.keys() != resolved and name not in self._exposures:
            surplus = [index for source, index in edges.items() if source not in resolved]
            where = f"/dag/edges/{surplus[0]}" if surplus else "/dag/edges"
            different.append((set(edges), where))
        return different
