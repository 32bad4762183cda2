"""The jobs of a manifest: each process with its direct inputs and its outputs.

Implements "Static job mapping" and "Direct inputs and outputs" of the specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter

from streamt_ol.contracts import Identity, ProjectedJob
from streamt_ol.openlineage.names import model_job_name
from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.resolution.artifacts import Artifact
from streamt_ol.resolution.declarations import Declaration, documented
from streamt_ol.resolution.dependencies import reads_what_it_writes
from streamt_ol.resolution.outputs import Compiled, Topic


class Jobs:
    """Builds jobs from compiled models, given the topic and the identity of each declaration."""

    def __init__(
        self,
        project: str,
        namespace: str,
        topics: Mapping[str, Topic],
        identities: Mapping[str, Identity],
    ) -> None:
        self._project = project
        self._namespace = namespace
        self._topics = topics
        self._identities = identities

    def job(
        self, compiled: Compiled, process: Artifact, dependencies: list[Declaration]
    ) -> ProjectedJob:
        """Return the job of a model that has a process.

        Raises E506: no input, an input that is also the output, a Gateway rule or a connector
        whose topics disagree with the dependencies.
        """
        model = compiled.model
        if not dependencies:
            raise StreamtOlError(
                INVALID,
                f"the process of the model {shown(model.name)} has no resolved input",
                location=model.place,
            )
        if model.name in (dependency.name for dependency in dependencies):
            raise reads_what_it_writes(model)
        if process.kind == "gateway_rules":
            self._check_gateway(model, process, dependencies)
        elif process.kind == "connectors":
            self._check_connector(model, process, dependencies)
        inputs = [self._identities[dependency.name] for dependency in dependencies]
        if len(inputs) > 1:
            inputs.sort(key=itemgetter("namespace", "name"))
        job: ProjectedJob = {
            "namespace": self._namespace,
            "name": model_job_name(self._project, model.name),
            "declared_at": model.place,
            "inputs": inputs,
            "outputs": [self._identities[model.name]] if compiled.topic else [],
        }
        job.update(documented(model))  # type: ignore[typeddict-item]
        return job

    def _check_gateway(
        self, model: Declaration, rule: Artifact, dependencies: list[Declaration]
    ) -> None:
        what = f"the Gateway model {shown(model.name)}"
        if len(dependencies) != 1:
            raise StreamtOlError(
                INVALID, f"{what} must read exactly one dataset", location=model.place
            )
        topic = self._topics[dependencies[0].name]
        if topic.kind != "kafka":
            raise StreamtOlError(
                INVALID, f"{what} reads another virtual topic", location=model.place
            )
        if rule.body["physicalTopic"] != topic.name:
            raise StreamtOlError(
                INVALID,
                f"{what} depends on {shown(topic.name)}, but its rule at {rule.place} reads "
                f"{shown(rule.body['physicalTopic'])}",
                location=model.place,
            )

    def _check_connector(
        self, model: Declaration, connector: Artifact, dependencies: list[Declaration]
    ) -> None:
        declared = {self._topics[dependency.name].name for dependency in dependencies}
        if declared != set(connector.body["topics"]):
            raise StreamtOlError(
                INVALID,
                f"the dependencies of the sink {shown(model.name)} and the topics of its "
                f"connector at {connector.place} disagree",
                location=model.place,
            )
