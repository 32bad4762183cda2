"""The result of compiling a model: its one process, and the dataset that it writes.

Implements "Dataset inventory" and "Static job mapping": names come from compiled artifacts, so
that explicit names and fallbacks match what is deployed; a declared output that no artifact
confirms is an error, and nothing is guessed from SQL text. Topics of a model besides its output,
as a test's dead-letter topic, are part of no lineage.
"""

from __future__ import annotations

from typing import NamedTuple

from streamt_ol.manifest.processes import CONNECTORS, GATEWAY, KAFKA, PROCESSES, titles
from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.resolution.artifacts import DEAD_LETTER_SUFFIX, Artifact, Artifacts
from streamt_ol.resolution.declarations import (
    Declaration,
    has_sql,
    required_name,
    topic_names,
    virtual_topic_name,
)


class Topic(NamedTuple):
    """A physical topic: ``kind`` is ``kafka``, or ``gateway`` for a virtual one."""

    kind: str
    name: str


class CompiledModel(NamedTuple):
    """A model as compiled: its process, if any, and its topic, if any (a sink has none)."""

    model: Declaration
    process: Artifact | None
    topic: Topic | None


def compiled(model: Declaration, artifacts: Artifacts) -> CompiledModel:
    """Return what ``model`` was compiled to.

    Raises E506 at the model where artifacts are missing, contradict the declaration, or say two
    things at once.
    """
    process = _only_process(model, artifacts)
    _check_process(model, process)
    output = KAFKA if process is None else PROCESSES[process.kind].output
    if output == KAFKA:
        return CompiledModel(model, process, Topic(KAFKA, _kafka_topic(model, artifacts)))
    assert process is not None
    _check_no_topic(model, process, artifacts)
    if output is None:
        return CompiledModel(model, process, None)
    return CompiledModel(model, process, Topic(GATEWAY, _virtual_topic(model, process)))


def _only_process(model: Declaration, artifacts: Artifacts) -> Artifact | None:
    processes = artifacts.processes.get(model.name, [])
    if len(processes) > 1:
        where = ", ".join(str(process.at()) for process in processes)
        raise _wrong(model, f"is compiled to more than one process: {where}")
    return processes[0] if processes else None


def _check_process(model: Declaration, process: Artifact | None) -> None:
    """Raise E506 for two logics, for SQL or a macro without a process, and for another sink.

    Only "a no-SQL topic-provisioning model has a dataset but no process".
    """
    body = model.body
    if has_sql(model) and body.get("macro"):
        raise _wrong(model, "has both SQL and a macro")
    if body.get("materialized") == "sink" and (process is None or process.kind != CONNECTORS):
        raise _wrong(model, "is a sink, but no connector artifact belongs to it")
    if process is None and (has_sql(model) or body.get("macro")):
        logic = "SQL" if has_sql(model) else "a macro"
        raise _wrong(model, f"has {logic}, but no process artifact ({titles()}) belongs to it")


def _kafka_topic(model: Declaration, artifacts: Artifacts) -> str:
    """Return the topic that an artifact confirms; it decides where no name is declared."""
    declared = topic_names(model)
    wanted = declared or _default_names(model)
    owned = artifacts.owned_topics.get(model.name, ())
    found = [topic for topic in owned if topic.body["name"] in wanted]
    if not found:
        beside = _expected(model) | artifacts.dead_letters | {model.name + DEAD_LETTER_SUFFIX}
        found = [topic for topic in owned if topic.body["name"] not in beside]
        if found and declared:
            raise _disagrees(model, f"topic {shown(declared[0])}", found[0])
    if not found:
        unowned = artifacts.unowned_topics
        found = [unowned[name][0] for name in dict.fromkeys(wanted) if name in unowned]
    if not found:
        raise _wrong(model, f"declares the topic {shown(wanted[0])}, which no artifact confirms")
    if len(found) > 1:
        raise _wrong(model, "is compiled to more than one topic")
    return required_name(found[0].body["name"], found[0], "name")


def _default_names(model: Declaration) -> list[str]:
    return [name for name in (virtual_topic_name(model), model.name) if name is not None]


def _expected(model: Declaration) -> set[str]:
    """Return every name that the output of ``model`` may have by what is declared."""
    return {*topic_names(model), *_default_names(model)}


def _check_no_topic(model: Declaration, process: Artifact, artifacts: Artifacts) -> None:
    """Raise E506 where a model whose output is elsewhere has a Kafka topic for it, too."""
    owned = artifacts.owned_topics.get(model.name, ())
    if not _expected(model).isdisjoint(topic.body["name"] for topic in owned):
        title = PROCESSES[process.kind].title
        raise _wrong(model, f"is compiled to both a {title} and a Kafka topic")


def _virtual_topic(model: Declaration, rule: Artifact) -> str:
    name: str = rule.body["virtualTopic"]
    declared = [n for n in (virtual_topic_name(model), *topic_names(model)) if n is not None]
    if declared and name not in declared:
        raise _disagrees(model, f"virtual topic {shown(declared[0])}", rule, "virtualTopic")
    return required_name(name, rule, "virtualTopic")


def _disagrees(
    model: Declaration, declared: str, artifact: Artifact, field: str = "name"
) -> StreamtOlError:
    compiles = f"{artifact.at()} compiles {shown(artifact.body[field])}"
    return _wrong(model, f"declares the {declared}, but {compiles}")


def _wrong(model: Declaration, what: str) -> StreamtOlError:
    return StreamtOlError(INVALID, f"the model {shown(model.name)} {what}", location=model.at())
