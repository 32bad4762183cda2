"""The compiled artifacts of a manifest, each with the model that it was compiled from.

A process belongs to the model whose name it has; ownership confirms a name but makes none, since
the jobs of continuous tests and dead-letter topics carry the tested model there. A process that
no model can be found for is an error: its lineage would be lost in silence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from streamt_ol.manifest.locations import Locations
from streamt_ol.manifest.processes import PROCESSES
from streamt_ol.problems import INVALID, Location, StreamtOlError, pointer
from streamt_ol.redaction import shown
from streamt_ol.resolution.declarations import Declaration, Declarations, topic_names

CONTINUOUS_TEST_PREFIX = "test_"
DEAD_LETTER_SUFFIX = "__dlq"
TEST_FAILURES_TOPIC = "_streamt_test_failures"
_NOT_OF_MODELS = frozenset({"source", "test"})
_TESTED = "flink_jobs"  # the processes among which those of continuous tests are


class Artifact(NamedTuple):
    """One compiled artifact: its ``kind`` (the manifest's list), pointer and content."""

    kind: str
    pointer: str
    body: dict[str, Any]
    locations: Locations

    def at(self, *parts: str | int) -> Location:
        """Return the location of the artifact, or of a part of it."""
        return self.locations.of(self.pointer + pointer(*parts))


class Owner(NamedTuple):
    """An artifact's ``ownership``: the name of a model, or None for a source or a test."""

    model: str | None


class Artifacts:
    """The artifacts of each model.

    ``processes`` and ``owned_topics`` are by model name, ``unowned_topics`` by topic name: an
    older topic artifact does not say whose it is, so the declared topic name has to.
    ``dead_letters`` are the names of topics that tests write to.
    """

    def __init__(self, manifest: Mapping[str, Any], declarations: Declarations) -> None:
        self.processes: dict[str, list[Artifact]] = defaultdict(list)
        self.owned_topics: dict[str, list[Artifact]] = defaultdict(list)
        self.unowned_topics: dict[str, list[Artifact]] = defaultdict(list)
        self.dead_letters = {TEST_FAILURES_TOPIC, *_declared_dead_letters(manifest)}
        self._models = declarations.models
        self._project = manifest["project"]
        self._tests = set(_continuous_tests(manifest))
        for artifact in _all(manifest, declarations.locations):
            self._claim(artifact)

    def _claim(self, artifact: Artifact) -> None:
        owner = self._owner(artifact)
        if artifact.kind != "topics":
            model = self._model_of(artifact, owner)
            if model is not None:
                self.processes[model.name].append(artifact)
        elif owner is None:
            self.unowned_topics[artifact.body["name"]].append(artifact)
        elif owner.model is not None:
            self.owned_topics[owner.model].append(artifact)

    def _owner(self, artifact: Artifact) -> Owner | None:
        """Return whose the artifact says that it is, or None for an older one."""
        ownership = artifact.body.get("ownership") or {}
        kind, name = ownership.get("type"), ownership.get("name")
        if kind is None or name is None:
            return None
        if (ownership.get("project") or self._project) != self._project:
            raise StreamtOlError(
                INVALID,
                "the artifact belongs to another project",
                location=artifact.at("ownership", "project"),
            )
        if kind in _NOT_OF_MODELS:
            return Owner(None)
        if kind != "model":
            raise StreamtOlError(
                INVALID,
                f"the artifact belongs to a {shown(kind)}, not to a model, a source or a test",
                location=artifact.at("ownership", "type"),
            )
        if name not in self._models:
            raise StreamtOlError(
                INVALID,
                f"the artifact belongs to the model {shown(name)}, which is not declared",
                location=artifact.at("ownership", "name"),
            )
        return Owner(name)

    def _model_of(self, process: Artifact, owner: Owner | None) -> Declaration | None:
        """Return the model that ``process`` was compiled from, or None for a test's."""
        name = process.body["name"]
        names = PROCESSES[process.kind].models(name)
        candidates = [self._models[n] for n in names if n in self._models]
        is_test = process.kind == _TESTED and name in self._tests
        if owner is None:
            return self._by_name(process, candidates, is_test=is_test)
        if owner.model is None:
            return None
        for candidate in candidates:
            if candidate.name == owner.model:
                return None if is_test and _writes_elsewhere(process, candidate) else candidate
        if is_test or (process.kind == _TESTED and name.startswith(CONTINUOUS_TEST_PREFIX)):
            return None
        raise StreamtOlError(
            INVALID,
            f"the {PROCESSES[process.kind].title} {shown(name)} belongs to the model "
            f"{shown(owner.model)}, but does not have its name",
            location=process.at(),
        )

    def _by_name(
        self, process: Artifact, candidates: list[Declaration], *, is_test: bool
    ) -> Declaration | None:
        """Return the model of an older process, which does not say whose it is."""
        if len(candidates) + is_test > 1:
            candidates = [c for c in candidates if _writes_topic_of(process, c)]
        if len(candidates) == 1:
            return candidates[0]
        if not candidates and is_test:
            return None
        reason = "more than one model" if candidates else "no declared model or test"
        title = PROCESSES[process.kind].title
        raise StreamtOlError(
            INVALID,
            f"{reason} matches the {title} {shown(process.body['name'])}",
            location=process.at(),
            suggestion="compile again with a streamt that writes `ownership` into artifacts",
        )


def _all(manifest: Mapping[str, Any], locations: Locations) -> Iterator[Artifact]:
    artifacts = manifest.get("artifacts") or {}
    for kind in ("topics", *PROCESSES):
        for index, body in enumerate(artifacts.get(kind) or ()):
            yield Artifact(kind, f"/artifacts/{kind}/{index}", body, locations)


def _continuous_tests(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the jobs that continuous tests are compiled to."""
    for test in manifest.get("tests") or ():
        if test.get("name") and (test.get("type") or "continuous") == "continuous":
            yield CONTINUOUS_TEST_PREFIX + test["name"]
    for job in (manifest.get("artifacts") or {}).get("test_jobs") or ():
        yield job["name"]


def _declared_dead_letters(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield the topics that tests name for what fails them."""
    for test in manifest.get("tests") or ():
        on_failure = test.get("on_failure")
        actions = on_failure.get("actions") if isinstance(on_failure, dict) else None
        for action in actions if isinstance(actions, list) else ():
            named = action.get("dlq") if isinstance(action, dict) else None
            texts = named.values() if isinstance(named, dict) else (named,)
            yield from (text for text in texts if isinstance(text, str))


def _written_topics(job: Artifact) -> set[str | None]:
    from streamt_ol.flink_sql import read_script

    script = read_script(job.body.get("sql") or "", job.at("sql"))
    return {table.topic for table in script.tables if table.name in script.targets}


def _writes_topic_of(job: Artifact, model: Declaration) -> bool:
    return not _written_topics(job).isdisjoint(topic_names(model) or [model.name])


def _writes_elsewhere(job: Artifact, model: Declaration) -> bool:
    """Return whether a job writes topics, and not that of ``model``."""
    return bool(_written_topics(job)) and not _writes_topic_of(job, model)
