"""The inventory of datasets: each declared topic once, with its declared metadata.

Implements "Dataset inventory" and "Dataset facet mapping" of the specification.
"""

from __future__ import annotations

from collections.abc import Callable

from streamt_ol.codes import SCHEMA_INCOMPLETE
from streamt_ol.contracts import Identity, ProjectedDataset
from streamt_ol.problems import INVALID, StreamtOlError, WarningRecord, warning
from streamt_ol.redaction import shown
from streamt_ol.resolution.declarations import Declaration, columns, documented
from streamt_ol.resolution.outputs import Topic


class Inventory:
    """Collects datasets; two declarations of one identity are an error, never merged.

    ``namespace_of`` gives the namespace for ``kafka`` or ``gateway`` datasets.
    """

    def __init__(self, namespace_of: Callable[[str], str]) -> None:
        self._namespace_of = namespace_of
        self._declared: dict[tuple[str, str], Declaration] = {}
        self.datasets: list[ProjectedDataset] = []
        self.identities: dict[str, Identity] = {}
        self.warnings: list[WarningRecord] = []

    def add(self, declaration: Declaration, topic: Topic) -> None:
        """Add the dataset of a source or a model. Raises E506 for a collision."""
        namespace = self._namespace_of(topic.kind)
        earlier = self._declared.setdefault((namespace, topic.name), declaration)
        if earlier is not declaration:
            raise StreamtOlError(
                INVALID,
                f"the dataset {shown(topic.name)} is already declared at {earlier.at()}",
                location=declaration.at(),
            )
        dataset: ProjectedDataset = {
            "namespace": namespace,
            "name": topic.name,
            "declared_at": declaration.declared_at,
        }
        dataset.update(documented(declaration))  # type: ignore[typeddict-item]
        if declared := columns(declaration):
            dataset["columns"] = declared
        else:
            message = (
                f"the {declaration.kind} {shown(declaration.name)} declares no columns, "
                "so its dataset has no schema"
            )
            self.warnings.append(warning(SCHEMA_INCOMPLETE, message, declaration.at()))
        self.datasets.append(dataset)
        self.identities[declaration.name] = {"namespace": namespace, "name": topic.name}
