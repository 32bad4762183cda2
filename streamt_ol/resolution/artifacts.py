"""The compiled artifacts of a manifest, each with the model that owns it.

Implements "newer artifacts carry `ownership`, older ones are matched by name" of the design. A
process that nobody can be found for is an error: its lineage would be lost in silence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.resolution.declarations import Declaration, Declarations

PROCESSOR_SUFFIX = "_processor"
CONTINUOUS_TEST_PREFIX = "test_"
_NOT_OF_MODELS = frozenset({"source", "test"})
# The artifacts that are processes, and what each is called in a message.
PROCESSES = {
    "flink_jobs": "Flink job",
    "gateway_rules": "Gateway rule",
    "connectors": "connector",
}


class Artifact(NamedTuple):
    """One compiled artifact: its ``kind`` (the manifest's list), place and content."""

    kind: str
    place: str
    body: dict[str, Any]


class Artifacts:
    """What each model was compiled to.

    ``processes`` and ``owned_topics`` are by model name, ``unowned_topics`` by topic name: an
    older topic artifact does not say whose it is, so the declared topic name has to.
    """

    def __init__(self, manifest: Mapping[str, Any], declarations: Declarations) -> None:
        self.processes: dict[str, list[Artifact]] = defaultdict(list)
        self.owned_topics: dict[str, list[Artifact]] = defaultdict(list)
        self.unowned_topics: dict[str, list[Artifact]] = defaultdict(list)
        self._models = declarations.models
        self._project = manifest["project"]
        self._tests = {
            CONTINUOUS_TEST_PREFIX + test["name"]
            for test in manifest.get("tests") or ()
            if test.get("name")
        }
        for artifact in _all(manifest):
            self._claim(artifact)

    def _claim(self, artifact: Artifact) -> None:
        owned, owner = self._declared_owner(artifact)
        topic = artifact.kind == "topics"
        if owned and owner is not None:
            (self.owned_topics if topic else self.processes)[owner].append(artifact)
        elif not owned and topic:
            self.unowned_topics[artifact.body["name"]].append(artifact)
        elif not owned and (found := self._owner_by_name(artifact)) is not None:
            self.processes[found.name].append(artifact)

    def _declared_owner(self, artifact: Artifact) -> tuple[bool, str | None]:
        """Return whether the artifact says whose it is, and the model if it is a model of ours."""
        ownership = artifact.body.get("ownership") or {}
        kind, name = ownership.get("type"), ownership.get("name")
        if kind is None or name is None:
            return False, None
        if (ownership.get("project") or self._project) != self._project:
            raise StreamtOlError(
                INVALID,
                "the artifact belongs to another project",
                location=f"{artifact.place}/ownership/project",
            )
        if kind in _NOT_OF_MODELS:
            return True, None
        if kind != "model":
            raise StreamtOlError(
                INVALID,
                f"the artifact belongs to a {shown(kind)}, which is no model, source or test",
                location=f"{artifact.place}/ownership/type",
            )
        if name not in self._models:
            raise StreamtOlError(
                INVALID,
                f"the artifact belongs to the model {shown(name)}, which is not declared",
                location=f"{artifact.place}/ownership/name",
            )
        return True, name

    def _owner_by_name(self, artifact: Artifact) -> Declaration | None:
        """Return the model of an older process artifact, or ``None`` for a continuous test's."""
        name: str = artifact.body["name"]
        flink = artifact.kind == "flink_jobs"
        names = [name]
        if flink and name.endswith(PROCESSOR_SUFFIX):
            names.append(name.removesuffix(PROCESSOR_SUFFIX))
        candidates = [self._models[n] for n in names if n in self._models]
        is_test = flink and name in self._tests
        if len(candidates) + is_test > 1:
            candidates = [c for c in candidates if _writes_topic_of(artifact, c)]
        if len(candidates) == 1:
            return candidates[0]
        if candidates or not is_test:
            what = PROCESSES[artifact.kind]
            reason = "more than one model" if candidates else "no declared model or test"
            raise StreamtOlError(
                INVALID,
                f"{reason} matches the {what} {shown(name)}",
                location=artifact.place,
                suggestion="compile again with a streamt that writes `ownership` into artifacts",
            )
        return None


def _all(manifest: Mapping[str, Any]) -> Iterator[Artifact]:
    artifacts = manifest.get("artifacts") or {}
    for kind in ("topics", *PROCESSES):
        for index, body in enumerate(artifacts.get(kind) or ()):
            yield Artifact(kind, f"/artifacts/{kind}/{index}", body)


def _writes_topic_of(job: Artifact, model: Declaration) -> bool:
    from streamt_ol.flink_sql import read_script

    script = read_script(job.body.get("sql") or "")
    written = {t.topic for t in script.tables if t.name in script.targets}
    return not written.isdisjoint(topic_names(model) or [model.name])


def topic_names(model: Declaration) -> list[str]:
    """Return the topic names that a model declares; ``[]`` where its own name is the default."""
    body = model.body
    advanced = body.get("advanced") or {}
    topics = (body.get("topic") or {}, advanced.get("topic") or {})
    return [name for topic in topics if (name := topic.get("name")) is not None]


def virtual_topic_name(model: Declaration) -> str | None:
    """Return the virtual topic name that a model declares for the Gateway."""
    virtual = (model.body.get("gateway") or {}).get("virtual_topic") or {}
    name: str | None = virtual.get("name")
    return name
