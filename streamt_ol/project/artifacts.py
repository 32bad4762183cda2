"""The artifacts that streamt would compile: what runs and what is written, with its owner."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streamt_ol.manifest.processes import CONNECTORS, KAFKA, PROCESSES, PROCESSOR_SUFFIX
from streamt_ol.project.materialization import FLINK, GATEWAY, KAFKA_STREAMS, SINK, TOPIC
from streamt_ol.project.models import Dependency, Model

# The process that a model becomes, by its executor or else its materialization, and what its
# name adds to the model's.
_COMPILED = {
    KAFKA_STREAMS: ("kafka_streams_jobs", ""),
    FLINK: ("flink_jobs", ""),
    TOPIC: ("flink_jobs", PROCESSOR_SUFFIX),
    GATEWAY: ("gateway_rules", ""),
    SINK: (CONNECTORS, ""),
}


def compiled_artifacts(
    project: str, sources: Iterable[Mapping[str, Any]], models: Iterable[Model]
) -> dict[str, list[dict[str, Any]]]:
    """Return the manifest's ``artifacts``: names, topics and ``ownership``, nothing else.

    Implements "Physical output names come from compiled artifacts" for what is compiled here.
    """
    models = list(models)
    topics = _Topics(sources, models)
    artifacts: dict[str, list[dict[str, Any]]] = {kind: [] for kind in ("topics", *PROCESSES)}
    for model in models:
        name = model.body["name"]
        own = {"ownership": {"project": project, "type": "model", "name": name}}
        kind, suffix = _COMPILED[model.runs_as]
        if PROCESSES[kind].output == KAFKA:
            artifacts["topics"].append({"name": model.topic, **own})
        if model.has_process:
            body = PROCESSES[kind].body(model.topic, topics.of(model))
            artifacts[kind].append({"name": name + suffix, **body, **own})
    return artifacts


class _Topics:
    """The physical topic behind each name that a model may depend on."""

    def __init__(self, sources: Iterable[Mapping[str, Any]], models: Iterable[Model]) -> None:
        self._sources = {source["name"]: source["topic"] for source in sources}
        self._models = {
            model.body["name"]: model.topic for model in models if model.materialization != SINK
        }

    def of(self, model: Model) -> list[str]:
        """Return the topics that a model reads; an unknown name is a later stage's to refuse."""
        found = (self._topic(dependency) for dependency in model.dependencies)
        return list(dict.fromkeys(topic for topic in found if topic is not None))

    def _topic(self, dependency: Dependency) -> str | None:
        if dependency.kind == "source":
            return self._sources.get(dependency.name)
        if dependency.kind == "ref":
            return self._models.get(dependency.name)
        return self._sources.get(dependency.name) or self._models.get(dependency.name)
