"""The artifacts that streamt would compile: what runs and what is written, with its owner."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streamt_ol.project.declared import Dependency, Model
from streamt_ol.project.materialization import FLINK, GATEWAY, SINK

PROCESSOR_SUFFIX = "_processor"


def compiled_artifacts(
    project: str, sources: Iterable[Mapping[str, Any]], models: Iterable[Model]
) -> dict[str, list[dict[str, Any]]]:
    """Return the manifest's ``artifacts``: names, topics and ``ownership``, nothing else.

    Implements "Physical output names come from compiled artifacts" for what is compiled here.
    """
    models = list(models)
    topics = _Topics(sources, models)
    artifacts: dict[str, list[dict[str, Any]]] = {
        "topics": [],
        "flink_jobs": [],
        "gateway_rules": [],
        "connectors": [],
    }
    for model in models:
        name = model.body["name"]
        own = {"ownership": {"project": project, "type": "model", "name": name}}
        read = topics.of(model)
        if model.materialization == SINK:
            artifacts["connectors"].append({"name": name, "topics": read, **own})
        elif model.materialization == GATEWAY:
            rule = {"virtualTopic": model.topic, "physicalTopic": read[0] if read else ""}
            artifacts["gateway_rules"].append({"name": name, **rule, **own})
        else:
            artifacts["topics"].append({"name": model.topic, **own})
            if model.has_process:
                suffix = "" if model.materialization == FLINK else PROCESSOR_SUFFIX
                artifacts["flink_jobs"].append({"name": name + suffix, **own})
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
