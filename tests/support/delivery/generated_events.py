"""Strategies for events near the rules of every receiver: on either side of each of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from streamt_ol.delivery.outcome import Verdict
from support.commands import streamt_ol
from support.delivery.events import CORE, RUN_ID, facet, write

Event = dict[str, Any]
MIB = 1024 * 1024
# The largest event, where a receiver's documentation names one.
LARGEST = {
    "dataplex": 5_000_000, "datazone": 300_000, "truewatch": 8 * MIB, "datakit": 8 * MIB,
    "kafka": 1_000_000, "openmetadata-kafka": 1_000_000,
}  # fmt: skip
# Those whose documentation speaks of the core schema, or of required fields.
ASKS_FOR_CORE = {"openlineage", "marquez", "truewatch", "datakit", "kafka", "file"}

ENGINE = {**facet("ProcessingEngineRunFacet", version="1"), "name": "Flink"}

names = st.sampled_from([
    "db.public.t", "public.t", "t", "a,b", "x y", "n" * 1001, "m" * 4000, "in", "out",
])  # fmt: skip
namespaces = st.sampled_from([
    "postgresql://h:5432", "postgresql://h:5432", "kafka://b:9092", "kafka://B:9092",
    "kafka://b:9092,c:9092", "s3://bucket", "snowflake://org-account", "other",
])  # fmt: skip
schemas = st.sampled_from(
    [None, [{"name": "a", "type": "int"}], [{"name": "a"}], [{"name": "a", "type": "x"}] * 2]
)
columns: st.SearchStrategy[Event] = st.sampled_from([
    {}, {"fields": {"a": {"inputFields": []}}}, {"fields": {"a": {}}},
    {"fields": {"a": {"inputFields": [{"namespace": "n", "name": "m"}]}}},
])  # fmt: skip
job_facets = st.sampled_from([
    None, {"jobType": facet("JobTypeJobFacet", processingType="BATCH", integration="SPARK")},
    {"jobType": facet("JobTypeJobFacet", processingType="BATCH", integration="SPARK",
                      jobType="JOB")},
    {"sql": facet("SQLJobFacet")}, {"sql": facet("SQLJobFacet", query="SELECT 1")},
])  # fmt: skip
producers = st.sampled_from([
    "https://example.com/p", "https://github.com/apache/airflow/tree/2",
    "https://github.com/OpenLineage/OpenLineage/tree/1.30/integration/spark",
])  # fmt: skip

run_facets = st.sampled_from([
    {}, {"processing_engine": ENGINE},
    {"parent": facet("ParentRunFacet", run={"runId": RUN_ID}, job={"namespace": "p", "name": "q"})},
])  # fmt: skip


TABLE = {
    "namespace": "postgresql://h:5432",
    "name": "db.public.t",
    "facets": {"schema": facet("SchemaDatasetFacet", fields=[{"name": "a", "type": "int"}])},
}


@st.composite
def entities(draw: st.DrawFn) -> Event:
    found: Event = {"namespace": draw(namespaces), "name": draw(names)}
    fields, lineage = draw(schemas), draw(st.none() | columns)
    facets = {}
    if fields is not None:
        facets["schema"] = facet("SchemaDatasetFacet", fields=fields)
    if lineage is not None:
        facets["columnLineage"] = facet("ColumnLineageDatasetFacet", **lineage)
    if facets:
        found["facets"] = facets
    return found


@st.composite
def sound_events(draw: st.DrawFn) -> Event:
    """An event of each kind; only the ``schemaURL`` may break the core schema."""
    kind = draw(st.sampled_from(["RunEvent"] * 4 + ["JobEvent", "DatasetEvent"]))
    url = draw(st.sampled_from([CORE + kind] * 5 + [CORE.partition("#")[0], CORE + "Other", None]))
    event: Event = {"eventTime": "2026-10-21T08:00:00Z", "producer": draw(producers)}
    if url is not None:
        event["schemaURL"] = url
    if kind == "DatasetEvent":
        return {**event, "dataset": draw(entities())}
    namespace = draw(st.sampled_from(["jobs", "a@b+c", "with space", "ns|x", "k" * 1025]))
    event["job"] = {"namespace": namespace, "name": draw(st.sampled_from(["j", "flow.task"]))}
    facets = draw(job_facets)
    if facets is not None:
        event["job"]["facets"] = facets
    # Some with a table on each side, that nobody has anything against.
    one_of_a_side = st.just(TABLE) if draw(st.integers(0, 2)) == 0 else entities()
    for side in ("inputs", "outputs"):
        if draw(st.integers(0, 5)):
            count = draw(st.sampled_from([0, 1, 1, 2, 11]))
            event[side] = [draw(one_of_a_side) for _ in range(count)]
    if kind == "RunEvent":
        event["run"] = {"runId": RUN_ID, "facets": draw(run_facets)}
        state = draw(st.sampled_from(["START", "RUNNING", *["COMPLETE"] * 4, "OTHER", None]))
        if state is not None:
            event["eventType"] = state
    return event


def _entity(event: Event) -> Event:
    found: Event = event["dataset"] if "dataset" in event else event["job"]
    return found


FLAWS: list[Callable[[Event], object]] = [
    lambda e: e.pop("eventTime"),
    lambda e: e.update(eventTime="2026-10-21 08:00"),
    lambda e: e.update(eventTime=1),
    lambda e: e.pop("producer"),
    lambda e: e.update(producer="a producer"),
    lambda e: e.pop("schemaURL", None),
    lambda e: e.update(run={"runId": "42"}),
    lambda e: e.update(run={}),
    lambda e: e.update(inputs={}),
    lambda e: e.update(inputs=[{"namespace": "n"}]),
    lambda e: e.update(eventType="DONE"),
    lambda e: _entity(e).pop("name"),
    lambda e: _entity(e).update(namespace=5),
    lambda e: _entity(e).update(facets={"mine": {"a": 1}}),
    lambda e: _entity(e).update(facets={"mine": {"_producer": "x", "_schemaURL": "y"}}),
]


class Padding(str):
    """A long text that a report of Hypothesis shows short."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"'x' * {len(self)}"


@st.composite
def events(draw: st.DrawFn, receiver: str) -> Event:
    """An event for ``receiver``: with its flaws, and of its limits, where it is known for these."""
    event = draw(sound_events())
    if receiver in ASKS_FOR_CORE and draw(st.integers(0, 3)) == 0:
        draw(st.sampled_from(FLAWS))(event)
    largest = LARGEST.get(receiver)
    if largest and draw(st.integers(0, 6)) == 0:
        # The bytes around an event's own: with a key and an overhead where it is a message.
        size = largest + draw(st.sampled_from([-100, -36, -1, 0, 1, 100]))
        event["pad"] = ""
        event["pad"] = Padding("x" * (size - len(json.dumps(event))))
    return event


# What generated events are answered with; the rest is not an answer of that receiver.
ANSWERS: dict[str, set[str]] = {
    "openlineage": {"accepted", "refused"},
    "marquez": {"accepted", "depends", "refused"},
    "openmetadata-kafka": {"depends", "ignored", "refused"},
    "openmetadata": {"accepted", "depends", "ignored", "refused"},
    "datahub": {"accepted", "refused"},
    "dataplex": {"accepted", "refused"},
    "datadog": {"accepted", "ignored", "refused"},
    "snowflake": {"accepted", "depends", "refused"},
    "alation": {"depends", "ignored"},
    "datazone": {"accepted", "refused"},
    "atlan": {"depends", "refused"},
    "gravitino": {"accepted", "refused"},
    "truewatch": {"accepted", "depends", "refused"},
    "datakit": {"accepted", "refused"},
    "kafka": {"accepted", "refused"},
    "file": {"accepted", "refused"},
}
_HEALTH = list(HealthCheck)


def check_generated(
    receiver: str, verdict_on: Callable[[Event], Verdict], check: Callable[[Event], None]
) -> None:
    """Call ``check`` with generated events, of each answer that ``receiver`` has at least one."""
    reached: set[str] = set()

    @settings(max_examples=150, deadline=None, suppress_health_check=_HEALTH)
    @given(events(receiver))
    def holds(event: Event) -> None:
        reached.add(verdict_on(event).status)
        check(event)

    holds()
    searching = settings(
        max_examples=5000, database=None, phases=[Phase.generate], suppress_health_check=_HEALTH
    )
    for answer in sorted(ANSWERS[receiver] - reached):

        def is_wanted(event: Event, answer: str = answer) -> bool:
            return verdict_on(event).status == answer

        check(find(events(receiver), is_wanted, settings=searching))
    assert reached <= ANSWERS[receiver]


class Sample:
    """Generated events and what was said of each, to be sent by the command together.

    Of the large ones a few are kept.
    """

    _LARGE, _FEW = 100_000, 3

    def __init__(self) -> None:
        self._lines: list[tuple[str, str]] = []
        self._large = 0

    def add(self, event: Event, status: str) -> None:
        line = json.dumps(event)
        self._large += len(line) > self._LARGE
        if len(line) <= self._LARGE or self._large <= self._FEW:
            self._lines.append((line, status))

    def send(self, folder: Path, *options: str, environment: dict[str, str] | None = None) -> None:
        """Hold the report of `send` to what was said: what is not taken is not sent."""
        file = write(folder / "sample.jsonl", *(line for line, _ in self._lines))
        done = streamt_ol(
            "--output",
            "json",
            "send",
            file,
            "--retries",
            "0",
            "--timeout",
            "60",
            *options,
            environment=environment,
        )
        data = json.loads(done.stdout)["data"]
        assert data["counts"]["unsent"] == 0
        states = {problem["line"]: problem["state"] for problem in data["problems"]}
        for number, (line, status) in enumerate(self._lines, 1):
            state = states.get(number, "sent")
            if status != "depends":
                assert state == ("sent" if status == "accepted" else "refused"), (line[:500], state)
