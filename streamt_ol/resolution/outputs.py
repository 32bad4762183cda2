"""What a model was compiled to: its one process, and the dataset that it writes.

Implements "Dataset inventory" and "Static job mapping": names come from compiled artifacts, so
that explicit names and fallbacks match what is deployed; a declared output that no artifact
confirms is an error, and nothing is guessed from SQL text.
"""

from __future__ import annotations

from typing import NamedTuple

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown
from streamt_ol.resolution.artifacts import (
    PROCESSES,
    Artifact,
    Artifacts,
    topic_names,
    virtual_topic_name,
)
from streamt_ol.resolution.declarations import Declaration, required_name


class Topic(NamedTuple):
    """A physical topic: ``kind`` is ``kafka``, or ``gateway`` for a virtual one."""

    kind: str
    name: str


class Compiled(NamedTuple):
    """What a model became: its process, if any, and its topic, if any (a sink has none)."""

    model: Declaration
    process: Artifact | None
    topic: Topic | None


def compiled(model: Declaration, artifacts: Artifacts) -> Compiled:
    """Return what ``model`` was compiled to.

    Raises E506 at the model where artifacts are missing, contradict the declaration, or say two
    things at once.
    """
    process = _only_process(model, artifacts)
    _check_process(model, process)
    if process is None or process.kind == "flink_jobs":
        return Compiled(model, process, Topic("kafka", _kafka_topic(model, artifacts)))
    if artifacts.owned_topics.get(model.name):
        raise _wrong(model, f"is compiled to both a {PROCESSES[process.kind]} and a Kafka topic")
    if process.kind == "connectors":
        return Compiled(model, process, None)
    return Compiled(model, process, Topic("gateway", _virtual_topic(model, process)))


def _only_process(model: Declaration, artifacts: Artifacts) -> Artifact | None:
    processes = artifacts.processes.get(model.name, [])
    if len(processes) > 1:
        places = ", ".join(p.place for p in processes)
        raise _wrong(model, f"is compiled to more than one process: {places}")
    return processes[0] if processes else None


def _check_process(model: Declaration, process: Artifact | None) -> None:
    """Raise E506 where a model that needs a process has none, or a sink another one.

    Only "a no-SQL topic-provisioning model has a dataset but no process".
    """
    body = model.body
    if body.get("materialized") == "sink" and (process is None or process.kind != "connectors"):
        raise _wrong(model, "is a sink, but no connector artifact belongs to it")
    if process is None and (body.get("sql") or body.get("macro") is not None):
        raise _wrong(model, "has SQL, but no process artifact (a Flink job, a Gateway rule or a "
                            "connector) belongs to it")  # fmt: skip


def _kafka_topic(model: Declaration, artifacts: Artifacts) -> str:
    declared = topic_names(model)
    owned = artifacts.owned_topics.get(model.name, [])
    if len(owned) > 1:
        raise _wrong(model, "is compiled to more than one topic")
    if owned:
        name = owned[0].body["name"]
        if declared and name not in declared:
            raise _wrong(model, f"declares the topic {shown(declared[0])}, but {owned[0].place} "
                                f"compiles {shown(name)}")  # fmt: skip
        return required_name(name, f"{owned[0].place}/name")
    wanted = declared or [n for n in (virtual_topic_name(model), model.name) if n is not None]
    confirmed = {name for name in wanted if artifacts.unowned_topics.get(name)}
    if len(confirmed) > 1:
        raise _wrong(model, "is compiled to more than one topic")
    if not confirmed:
        raise _wrong(model, f"declares the topic {shown(wanted[0])}, which no artifact confirms")
    return required_name(confirmed.pop(), model.place)


def _virtual_topic(model: Declaration, rule: Artifact) -> str:
    name: str = rule.body["virtualTopic"]
    declared = [n for n in (virtual_topic_name(model), *topic_names(model)) if n is not None]
    if declared and name not in declared:
        raise _wrong(model, f"declares the virtual topic {shown(declared[0])}, but {rule.place} "
                            f"compiles {shown(name)}")  # fmt: skip
    return required_name(name, f"{rule.place}/virtualTopic")


def _wrong(model: Declaration, what: str) -> StreamtOlError:
    return StreamtOlError(INVALID, f"the model {shown(model.name)} {what}", location=model.place)
