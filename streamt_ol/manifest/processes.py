"""The table of process kinds: what a model may compile to besides its topic.

A new kind is a row here, and where it says in a way of its own what it reads, a function. The
shape of the manifest, the matching of artifacts with models, the inputs and the outputs of jobs
and the artifacts of a compiled project follow the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Body = dict[str, Any]
KAFKA, GATEWAY = "kafka", "gateway"  # where a topic lives, and so whose namespace it has
_TEXT = {"type": "string"}
_OPTIONAL_TEXT = {"type": ["string", "null"]}


def _unsaid(_: Mapping[str, Any]) -> None:
    """Return None: the artifact itself does not name the topics that it reads."""


def _planned_topic(body: Mapping[str, Any]) -> list[str] | None:
    topic = (body.get("plan") or {}).get("input_topic")
    return None if topic is None else [topic]


def _nothing(_output: str, _inputs: Sequence[str]) -> Body:
    return {}


def _plan(output: str, inputs: Sequence[str]) -> Body:
    return {"plan": {"input_topic": inputs[0] if inputs else None, "output_topic": output}}


def _rule(output: str, inputs: Sequence[str]) -> Body:
    return {"virtualTopic": output, "physicalTopic": inputs[0] if inputs else ""}


def _connector(_output: str, inputs: Sequence[str]) -> Body:
    return {"topics": list(inputs)}


class ProcessKind(NamedTuple):
    """A kind of process, a row of the table.

    ``title`` names it in messages. ``fields`` is the JSON Schema of what is read of an artifact
    besides its name, and ``required`` the fields that must be there. Its name is the model's,
    with one of ``suffixes``. ``output`` is where its output lives, None for a process whose
    output is not a dataset. ``reads`` returns the topics that an artifact itself names as its
    inputs (None where it names none): all of them where ``complete``, else some. ``scripted``
    tells that its ``sql`` declares them. ``least`` is the number of datasets that it reads at
    least, ``physical`` allows Kafka topics only. ``body`` makes the fields of an artifact from
    its output and its inputs.
    """

    title: str
    fields: dict[str, Any]
    required: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ("",)
    output: str | None = KAFKA
    reads: Callable[[Mapping[str, Any]], list[str] | None] = _unsaid
    scripted: bool = False
    complete: bool = False
    least: int = 0
    physical: bool = False
    body: Callable[[str, Sequence[str]], Body] = _nothing

    def models(self, name: str) -> list[str]:
        """Return the names of the models that a process called ``name`` may belong to."""
        return [name.removesuffix(suffix) for suffix in self.suffixes if name.endswith(suffix)]


PROCESSOR_SUFFIX = "_processor"
# By the name of the list among the manifest's artifacts.
PROCESSES: dict[str, ProcessKind] = {
    "flink_jobs": ProcessKind(
        "Flink job",
        {"sql": _OPTIONAL_TEXT},
        suffixes=("", PROCESSOR_SUFFIX),
        scripted=True,
    ),
    "kafka_streams_jobs": ProcessKind(
        "Kafka Streams job",
        {"plan": {"type": ["object", "null"], "properties": {"input_topic": _OPTIONAL_TEXT}}},
        suffixes=("", PROCESSOR_SUFFIX),
        reads=_planned_topic,
        body=_plan,
    ),
    "gateway_rules": ProcessKind(
        "Gateway rule",
        {"virtualTopic": _TEXT, "physicalTopic": _TEXT},
        required=("virtualTopic", "physicalTopic"),
        output=GATEWAY,
        reads=lambda body: [body["physicalTopic"]],
        least=1,
        physical=True,
        body=_rule,
    ),
    "connectors": ProcessKind(
        "connector",
        {"topics": {"type": "array", "items": _TEXT}},
        required=("topics",),
        output=None,
        reads=lambda body: body["topics"],
        complete=True,
        least=1,
        body=_connector,
    ),
}
CONNECTORS = "connectors"


def titles() -> str:
    """Return the kinds in words: "a Flink job, ... or a connector"."""
    *first, last = (f"a {kind.title}" for kind in PROCESSES.values())
    return f"{', '.join(first)} or {last}"
