"""The jobs of a manifest: each process with its direct inputs and its outputs.

Implements "Static job mapping" and "Direct inputs and outputs" of the specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter

from streamt_ol.contracts import Identity, ProjectedJob
from streamt_ol.manifest.processes import KAFKA, PROCESSES, ProcessKind
from streamt_ol.openlineage.names import model_job_name
from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.resolution.artifacts import Artifact
from streamt_ol.resolution.declarations import Declaration, documented
from streamt_ol.resolution.dependencies import reads_what_it_writes
from streamt_ol.resolution.outputs import CompiledModel, Topic


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
        self, compiled: CompiledModel, process: Artifact, dependencies: list[Declaration]
    ) -> ProjectedJob:
        """Return the job of a model that has a process; one that reads nothing has no inputs.

        Raises E506: an input that is also the output, a number of inputs that such a process
        cannot have, a process whose own topics disagree with the dependencies.
        """
        model = compiled.model
        if model.name in (dependency.name for dependency in dependencies):
            raise reads_what_it_writes(model)
        self._check_inputs(model, process, dependencies)
        inputs = [self._identities[dependency.name] for dependency in dependencies]
        if len(inputs) > 1:
            inputs.sort(key=itemgetter("namespace", "name"))
        job: ProjectedJob = {
            "namespace": self._namespace,
            "name": model_job_name(self._project, model.name),
            "declared_at": model.declared_at,
            "inputs": inputs,
            "outputs": [self._identities[model.name]] if compiled.topic else [],
        }
        job.update(documented(model))  # type: ignore[typeddict-item]
        return job

    def _check_inputs(
        self, model: Declaration, process: Artifact, dependencies: list[Declaration]
    ) -> None:
        kind = PROCESSES[process.kind]
        topics = [self._topics[dependency.name] for dependency in dependencies]
        if len(topics) < kind.least:
            raise _wrong(model, kind, "must read at least one dataset")
        if kind.physical and any(topic.kind != KAFKA for topic in topics):
            raise _wrong(model, kind, "reads another virtual topic")
        read = kind.reads(process.body)
        names = {topic.name for topic in topics}
        if read is not None and (names != set(read) if kind.complete else not names >= set(read)):
            known = ", ".join(shown(topic.name) for topic in topics)
            found = ", ".join(map(shown, read)) or "nothing"
            what = f"depends on {known}, but its artifact at {process.at()} reads {found}"
            raise _wrong(model, kind, f"{what}: they disagree")


def _wrong(model: Declaration, kind: ProcessKind, what: str) -> StreamtOlError:
    message = f"the model {shown(model.name)}, a {kind.title}, {what}"
    return StreamtOlError(INVALID, message, location=model.at())
