"""Manifests as today's streamt writes them, and what of them is lineage.

The values are those of streamt's rules: a process of a model has its name, ownership confirms a
name and makes none, the jobs and topics of tests belong to no model's lineage.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.exporting import exported
from support.manifests import (
    OPTIONS,
    TIME,
    Json,
    insert,
    manifest,
    model,
    owned,
    shop,
    source,
    table,
)

from streamt_ol.manifest.processes import PROCESSES, titles
from streamt_ol.manifest.shape import check_shape
from streamt_ol.openlineage.names import is_endpoint, namespace_of_endpoint
from streamt_ol.pipeline import stage
from streamt_ol.problems import StreamtOlError
from streamt_ol.stages.resolve_identities import resolve_identities

CLEAN = "orders.v1 -> clean.v1"
SHOP = {
    "clean": CLEAN,
    "totals": "clean.v1 refunds.v1 -> totals",
    "view": "totals -> view.v1",
    "lake": "view.v1 ->",
}
TOPICS = ["clean.v1", "orders.v1", "refunds.v1", "totals", "view.v1"]
LAKE = "streamt/shop/models/lake"
FAILURES = insert({"tested": "clean.v1"}, "_streamt_test_failures")


def lineage(document: Json) -> dict[str, str]:
    projection = resolve_identities({"options": OPTIONS, "manifest": check_shape(document)})
    flows = {}
    for job in projection["jobs"]:
        ends = [" ".join(sorted(i["name"] for i in job[key])) for key in ("inputs", "outputs")]
        flows[job["name"].rpartition("/")[2]] = " -> ".join(ends).strip()
    return flows


def events(document: Json) -> list[Json]:
    return [json.loads(line) for line in exported(document).splitlines()]


def datasets(document: Json) -> list[str]:
    projection = resolve_identities({"options": OPTIONS, "manifest": document})
    return sorted(dataset["name"] for dataset in projection["datasets"])


def refusal(document: Json) -> tuple[str | None, str]:
    with pytest.raises(StreamtOlError) as caught:
        resolve_identities({"options": OPTIONS, "manifest": document})
    return caught.value.location, caught.value.message


def with_artifacts(**more: list[Json]) -> Json:
    document = shop()
    for kind, artifacts in more.items():
        document["artifacts"].setdefault(kind, []).extend(artifacts)
    return document


def test_a_gateway_rule_of_two_datasets_names_one_of_them() -> None:
    document = shop()
    document["models"][2]["from_"] = [{"ref": "totals"}, {"ref": "clean"}]
    assert document["artifacts"]["gateway_rules"][0]["physicalTopic"] == "totals"
    assert lineage(document) == {**SHOP, "view": "clean.v1 totals -> view.v1"}


class TestContinuousTests:
    @pytest.mark.parametrize("tested", ["clean", "totals", "view", "lake"])
    @pytest.mark.parametrize("sql", [FAILURES, "SELECT 1", "", "INSERT INTO x SELECT 'unclosed"])
    def test_of_a_model_are_no_process_of_it(self, tested: str, sql: str) -> None:
        job = owned("test_quality", tested, sql=sql)
        document = with_artifacts(flink_jobs=[job], test_jobs=[job])
        document["tests"] = [{"name": "quality", "model": tested, "type": "continuous"}]
        assert lineage(document) == SHOP
        assert datasets(document) == TOPICS

    def test_of_a_source_are_none_either(self) -> None:
        job = {"name": "test_t", "ownership": {"type": "source", "name": "orders"}, "sql": FAILURES}
        assert lineage(with_artifacts(flink_jobs=[job], test_jobs=[job])) == SHOP

    def test_need_no_entry_among_the_tests(self) -> None:
        job = owned("test_forgotten", "totals", sql=FAILURES)
        assert lineage(with_artifacts(flink_jobs=[job])) == SHOP

    def test_listed_among_the_test_jobs_may_have_any_name(self) -> None:
        job = owned("quality", "totals", sql=FAILURES)
        assert lineage(with_artifacts(flink_jobs=[job], test_jobs=[job])) == SHOP

    @pytest.mark.parametrize("kind", ["flink_jobs", "gateway_rules", "connectors"])
    def test_that_own_a_process_may_give_it_any_name(self, kind: str) -> None:
        process = {"name": "probe", "ownership": {"type": "test", "name": "quality"}}
        body = {"virtualTopic": "v", "physicalTopic": "p", "topics": []}
        assert lineage(with_artifacts(**{kind: [{**process, **body}]})) == SHOP

    def test_of_another_type_have_no_job(self) -> None:
        document = with_artifacts(flink_jobs=[{"name": "test_quality", "sql": FAILURES}])
        document["tests"] = [{"name": "quality", "model": "totals", "type": "sample"}]
        location, message = refusal(document)
        assert location == "/artifacts/flink_jobs/2"
        assert message == "no declared model or test matches the Flink job 'test_quality'"
        for kind in ("continuous", None):
            document["tests"][0]["type"] = kind
            assert lineage(document) == SHOP

    @pytest.mark.parametrize("sql", ["", "SELECT 1"])
    def test_leave_a_model_of_that_name_a_job_that_writes_nothing(self, sql: str) -> None:
        document = manifest(
            [source("orders")],
            [model("test_x", sql='SELECT id FROM {{ source("orders") }}')],
            topics=[owned("test_x")],
            flink_jobs=[owned("test_x", sql=sql)],
        )
        document["tests"] = [{"name": "x", "model": "test_x", "type": "continuous"}]
        assert lineage(document) == {"test_x": "orders.v1 -> test_x"}

    @pytest.mark.parametrize("ownership", [True, False])
    @pytest.mark.parametrize("tested", ["test_x", "other", None])
    def test_that_are_called_like_a_model(self, tested: str | None, ownership: bool) -> None:
        """A model ``test_x`` beside a test ``x``, of that model, of another one, of none."""
        own = owned if ownership else lambda name, *_, **more: {"name": name, **more}
        jobs = [own("test_x", sql=insert({"orders": "orders.v1"}, "test_x")), own("other", sql="")]
        if tested is not None:
            jobs.append(own("test_x", tested, sql=FAILURES))
        document = manifest(
            [source("orders")],
            [
                model("test_x", sql='SELECT id FROM {{ source("orders") }}'),
                model("other", sql='SELECT id FROM {{ ref("test_x") }}'),
            ],
            topics=[own("test_x"), own("other")],
            flink_jobs=jobs,
        )
        if tested is not None:
            document["tests"] = [{"name": "x", "model": tested, "type": "continuous"}]
        expected = {"test_x": "orders.v1 -> test_x", "other": "test_x -> other"}
        assert lineage(document) == expected
        jobs.reverse()
        assert lineage(document) == expected

    def test_do_not_stand_in_for_a_process_that_is_missing(self) -> None:
        document = with_artifacts(flink_jobs=[owned("test_quality", "totals", sql=FAILURES)])
        document["artifacts"]["flink_jobs"].pop(1)
        location, message = refusal(document)
        assert (location, "no process artifact" in message) == ("/models/1", True)


class TestTopicsBesideTheOutput:
    @pytest.mark.parametrize("tested", ["clean", "totals", "view", "lake"])
    def test_of_any_model_are_neither_an_error_nor_a_dataset(self, tested: str) -> None:
        names = (f"{tested}__dlq", "named.dead.letters", "_streamt_test_failures", "whatever")
        document = with_artifacts(topics=[owned(name, tested) for name in names])
        assert lineage(document) == SHOP
        assert datasets(document) == TOPICS
        document["artifacts"]["topics"].reverse()
        assert datasets(document) == TOPICS

    def test_of_a_source(self) -> None:
        topic = {"name": "orders__dlq", "ownership": {"type": "source", "name": "orders"}}
        assert datasets(with_artifacts(topics=[topic])) == TOPICS

    def test_of_an_older_release_without_ownership(self) -> None:
        assert datasets(with_artifacts(topics=[{"name": "totals__dlq"}])) == TOPICS

    @pytest.mark.parametrize("action", [{"dlq": "dead.v1"}, {"dlq": {"topic": "dead.v1"}}])
    def test_named_in_a_test_do_not_become_the_output(self, action: Json) -> None:
        """The output of ``totals`` is then confirmed by no artifact."""
        document = shop()
        document["artifacts"]["topics"][1]["name"] = "dead.v1"
        actions = {"severity": "error", "actions": [{"alert": "x"}, action]}
        document["tests"] = [{"name": "t", "model": "totals", "on_failure": actions}]
        location, message = refusal(document)
        assert (location, "no artifact confirms" in message) == ("/models/1", True)

    @pytest.mark.parametrize(
        "on_failure",
        [
            None, "dlq", {}, {"actions": None}, {"actions": "dlq"}, {"actions": {"dlq": "totals"}},
            {"actions": ["dlq", None, 5, {"dlq": None}, {"dlq": ["totals"]}, {"dlq": {"a": [1]}}]},
        ],
    )  # fmt: skip
    def test_of_a_test_whose_actions_are_unknown(self, on_failure: object) -> None:
        document = shop()
        document["tests"] = [{"name": "t", "model": "totals", "on_failure": on_failure}]
        assert lineage(document) == SHOP

    def test_the_artifact_decides_where_no_name_is_declared(self) -> None:
        document = shop()
        document["artifacts"]["topics"] = [
            owned("clean.v1", "clean"), owned("totals__dlq", "totals"), owned("t.v2", "totals"),
        ]  # fmt: skip
        document["artifacts"]["gateway_rules"][0]["physicalTopic"] = "t.v2"
        assert lineage(document)["totals"] == "clean.v1 refunds.v1 -> t.v2"


class TestLogic:
    """The dependencies of a model: its SQL, else its macro, else its ``from``."""

    def one(self, sql: str | None = None, job_sql: str = "", **more: Any) -> Json:
        return manifest(
            [source("a"), source("b")],
            [model("m", sql=sql, **more)],
            topics=[owned("m")],
            flink_jobs=[owned("m", sql=job_sql)],
        )

    def test_sql_decides_before_from(self) -> None:
        document = self.one('SELECT id FROM {{ source("a") }}', from_=[{"source": "b"}])
        document["dag"] = {"nodes": [{"name": "m", "type": "model", "upstream": ["a"]}]}
        assert lineage(document) == {"m": "a.v1 -> m"}

    def test_constant_sql_decides_before_from(self) -> None:
        assert lineage(self.one("SELECT 1", from_=[{"source": "b"}])) == {"m": "-> m"}

    @pytest.mark.parametrize("sql", [None, "", " \n"])
    def test_a_macro_decides_before_from(self, sql: str | None) -> None:
        job_sql = insert({"a": "a.v1"}, "m")
        document = self.one(sql, job_sql, macro="mix", from_=[{"source": "b"}])
        assert lineage(document) == {"m": "a.v1 -> m"}

    @pytest.mark.parametrize("sql", ["SELECT * FROM (VALUES (1)) AS t (id)", "SELECT 1 AS id"])
    def test_a_process_may_read_nothing(self, sql: str) -> None:
        """An event has no empty list, then, nor where nothing is written to Kafka."""
        document = self.one(sql)
        assert lineage(document) == {"m": "-> m"}
        [event] = [event for event in events(document) if "job" in event]
        assert event["outputs"] == [{"namespace": OPTIONS["kafka_namespace"], "name": "m"}]
        assert "inputs" not in event
        [sink] = [event for event in events(shop()) if event.get("job", {}).get("name") == LAKE]
        assert [one["name"] for one in sink["inputs"]] == ["view.v1"]
        assert "outputs" not in sink

    def test_sql_and_a_macro_are_refused(self) -> None:
        document = self.one('{{ source("a") }}', insert({"b": "b.v1"}, "m"), macro="mix")
        assert refusal(document) == ("/models/0", "the model 'm' has both SQL and a macro")

    def test_an_unknown_name_is_still_an_error(self) -> None:
        location, message = refusal(self.one('SELECT id FROM {{ source("c") }}'))
        assert (location, "'c'" in message) == ("/models/0/sql", True)


class TestMacros:
    """Of the processes that name the topics they read."""

    def test_a_gateway_rule_reads_the_kafka_topic_of_that_name(self) -> None:
        document = shop()
        document["models"][2].update(macro="view", from_=None)
        twin = {"virtual_topic": {"name": "totals"}}
        document["models"].append(model("twin", from_=[{"ref": "clean"}], gateway=twin))
        document["artifacts"]["gateway_rules"].append(
            owned("twin", virtualTopic="totals", physicalTopic="clean.v1")
        )
        assert lineage(document) == {**SHOP, "twin": "clean.v1 -> totals"}
        projection = resolve_identities({"options": OPTIONS, "manifest": document})
        [view] = [job for job in projection["jobs"] if job["name"].endswith("/view")]
        assert [one["namespace"] for one in view["inputs"]] == [OPTIONS["kafka_namespace"]]

    def test_a_connector_reads_a_virtual_topic(self) -> None:
        document = shop()
        document["models"][3].update(macro="sink", from_=None)
        assert lineage(document) == SHOP


class TestKafkaStreams:
    def streams(self, plan: Json | None = None, **logic: Any) -> Json:
        job = owned("m", application_id="streamt-1", image="sha256:0", plan=plan)
        return manifest(
            [source("a"), source("b")],
            [model("m", executor="kafka_streams", **logic)],
            topics=[owned("m")],
            kafka_streams_jobs=[job],
        )

    SQL = 'SELECT id FROM {{ source("a") }}'

    @pytest.mark.parametrize("plan", [{"input_topic": "a.v1", "output_topic": "m"}, {}, None])
    def test_a_job_of_sql(self, plan: Json | None) -> None:
        assert lineage(self.streams(plan, sql=self.SQL)) == {"m": "a.v1 -> m"}

    def test_a_job_of_a_macro_reads_what_its_plan_says(self) -> None:
        assert lineage(self.streams({"input_topic": "b.v1"}, macro="x")) == {"m": "b.v1 -> m"}

    def test_a_plan_that_disagrees_is_refused(self) -> None:
        location, message = refusal(self.streams({"input_topic": "b.v1"}, sql=self.SQL))
        assert (location, "'b.v1'" in message) == ("/models/0", True)

    def test_a_macro_without_a_plan_is_refused(self) -> None:
        assert refusal(self.streams({}, macro="x"))[0] == "/artifacts/kafka_streams_jobs/0"

    def test_an_older_one_is_found_by_its_name(self) -> None:
        document = self.streams(sql=self.SQL)
        del document["artifacts"]["kafka_streams_jobs"][0]["ownership"]
        assert lineage(document) == {"m": "a.v1 -> m"}


def test_the_table_of_processes_is_what_messages_name() -> None:
    assert titles() == "a Flink job, a Kafka Streams job, a Gateway rule or a connector"
    assert list(PROCESSES) == ["flink_jobs", "kafka_streams_jobs", "gateway_rules", "connectors"]


def test_what_is_null_everywhere_declares_nothing() -> None:
    names = ("sources", "models", "tests", "exposures", "dag", "artifacts", "runtime")
    document = {"project": "p", "compiled_at": TIME, **dict.fromkeys(names)}
    projection = resolve_identities({"options": OPTIONS, "manifest": check_shape(document)})
    assert projection == {
        "project": "p", "event_time": TIME, "datasets": [], "jobs": [], "warnings": [],
    }  # fmt: skip


def test_only_a_model_has_the_columns_of_a_contract() -> None:
    contract = {"columns": [{"name": "agreed"}]}
    document = manifest(
        [source("s", contract=contract), source("t", columns=None, contract=contract)],
        [model("m", contract=contract)],
        topics=[owned("m")],
    )
    projection = resolve_identities({"options": OPTIONS, "manifest": document})
    columns = {dataset["name"]: dataset.get("columns") for dataset in projection["datasets"]}
    assert columns == {"s.v1": [{"name": "id"}], "t.v1": None, "m": [{"name": "agreed"}]}


def test_an_empty_name_of_a_virtual_topic_declares_none() -> None:
    document = shop()
    document["models"][2]["gateway"] = {"virtual_topic": {"name": ""}}
    document["models"][1]["topic"] = {"name": ""}
    assert lineage(document) == SHOP


@pytest.mark.parametrize(
    "endpoint",
    [
        "broker.example.:9092", "broker.:1", "broker.example:09092", "10.0.0.1:0001",
        "a_b.:65535", "[::1]:09092",
    ],
)  # fmt: skip
def test_an_absolute_host_and_a_padded_port_keep_their_spelling(endpoint: str) -> None:
    """Through all stages, from an option and from the runtime."""
    namespace = f"kafka://{endpoint}"
    assert namespace_of_endpoint(endpoint, "x") == namespace
    document = manifest([source("orders")], [])
    derived = {**document, "runtime": {"kafka": {"bootstrap_servers": f" {endpoint} "}}}
    given: tuple[tuple[Json, Json], ...] = (
        ({"kafka_namespace": namespace}, document),
        ({}, derived),
    )
    for options, body in given:
        state: Json = {"options": {"job_namespace": "jobs", **options}, "manifest": body}
        for name in ("resolve_identities", "build_facets", "validate", "canonicalize"):
            state = stage(name).call(state)
        assert [e["dataset"]["namespace"] for e in state["events"]] == [namespace]


@pytest.mark.parametrize(
    "endpoint",
    [
        "broker..:9092", ".:9092", ".broker:9092", "10.0.0.1.:9092", "broker:0", "broker:000",
        "broker:065536", "broker:0x1", "broker:+1", "broker.example. :9092", f"b:{'0' * 9}",
    ],
)  # fmt: skip
def test_what_is_no_endpoint(endpoint: str) -> None:
    assert not is_endpoint(endpoint)


def test_a_table_may_not_only_say_that_it_generates() -> None:
    """A generator that names a topic is read as what it names."""
    sql = table("g", "orders.v1").replace("'kafka'", "'datagen'") + (
        table("s", "m") + "INSERT INTO s SELECT id FROM g;"
    )
    document = manifest(
        [source("orders")],
        [model("m", macro="x")],
        topics=[owned("m")],
        flink_jobs=[owned("m", sql=sql)],
    )
    assert lineage(document) == {"m": "orders.v1 -> m"}
