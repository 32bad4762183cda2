"""Everything that has no valid, unambiguous identity, each with its code and its place."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from support.manifests import OPTIONS, Json, insert, manifest, model, owned, shop, source, table

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.stages.resolve_identities import resolve_identities

Bend = Callable[[Json], Any]


def refused(document: Json, **options: str | None) -> StreamtOlError:
    with pytest.raises(StreamtOlError) as error:
        resolve_identities({"options": {**OPTIONS, **options}, "manifest": document})
    assert error.value.code == INVALID
    return error.value


def bent(*bends: Bend) -> Json:
    document = copy.deepcopy(shop())
    for bend in bends:
        bend(document)
    return document


def at(*path: str | int, value: Any) -> Bend:
    """Put ``value`` where ``path`` leads."""

    def bend(document: Json) -> None:
        target: Any = document
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = value

    return bend


def without(*path: str | int) -> Bend:
    def bend(document: Json) -> None:
        target: Any = document
        for key in path[:-1]:
            target = target[key]
        del target[path[-1]]

    return bend


def test_the_manifest_that_these_tests_bend_is_good() -> None:
    projection = resolve_identities({"options": OPTIONS, "manifest": shop()})
    assert [d["name"] for d in projection["datasets"]] == [
        "clean.v1", "orders.v1", "refunds.v1", "totals", "view.v1",
    ]  # fmt: skip
    assert [len(job["inputs"]) for job in projection["jobs"]] == [1, 1, 2, 1]


NAMES = [
    ("blank project", at("project", value=" "), "/project", "blank"),
    ("blank source", at("sources", 1, "name", value="\t"), "/sources/1/name", "blank"),
    ("empty source", at("sources", 1, "name", value=""), "/sources/1/name", "blank"),
    ("blank model", at("models", 0, "name", value=" "), "/models/0/name", "blank"),
    ("blank topic", at("sources", 0, "topic", value=" \n"), "/sources/0/topic", "blank"),
    ("surrogate", at("models", 0, "name", value="a\ud800"), "/models/0/name", "Unicode"),
    ("surrogate project", at("project", value="\udfff"), "/project", "Unicode"),
    ("source twice", at("sources", 1, "name", value="orders"), "/sources/1", "/sources/0"),
    ("model twice", at("models", 1, "name", value="clean"), "/models/1", "/models/0"),
    ("source and model", at("models", 0, "name", value="orders"), "/models/0", "/sources/0"),
    ("topic twice", at("sources", 1, "topic", value="orders.v1"), "/sources/1", "/sources/0"),
]
METADATA = [
    ("description", at("models", 0, "description", value=" \n"), "/models/0/description"),
    ("owner", at("sources", 1, "owner", value="  "), "/sources/1/owner"),
    ("sink owner", at("models", 3, "owner", value="\u2003"), "/models/3/owner"),
    ("column name", at("sources", 0, "columns", 0, "name", value=" "), "/sources/0/columns/0/name"),
    ("empty column name", at("models", 0, "columns", 0, "name", value=""),
     "/models/0/columns/0/name"),
    ("column description", at("sources", 0, "columns", 0, "description", value=" "),
     "/sources/0/columns/0/description"),
    ("columns twice", at("models", 0, "columns", value=[{"name": "a"}, {"name": "b"},
                                                         {"name": "a"}]), "/models/0/columns/2"),
    ("contract twice", at("models", 0, "contract", value={"columns": [{"name": "a"}] * 2}),
     "/models/0/contract/columns/1"),
]  # fmt: skip
DEPENDENCIES = [
    ("unknown ref", at("models", 0, "sql", value='{{ ref("nobody") }}'), "/models/0/sql",
     "there is no model named 'nobody'"),
    ("unknown source", at("models", 0, "sql", value='{{ source("no") }}'), "/models/0/sql",
     "there is no source named 'no'"),
    ("ref to a source", at("models", 0, "sql", value='{{ ref("orders") }}'), "/models/0/sql",
     "orders"),
    ("source that is a model", at("models", 1, "sql", value='{{ source("clean") }}'),
     "/models/1/sql", "clean"),
    ("unknown from", at("models", 2, "from_", 0, value={"ref": "nobody"}), "/models/2/from_/0",
     "there is no model named 'nobody'"),
    ("unknown name", at("models", 3, "from_", value="nobody"), "/models/3/from_",
     "there is no source or model named 'nobody'"),
    ("two names in one entry", at("models", 3, "from_", 0, value={"ref": "view",
                                                                   "source": "orders"}),
     "/models/3/from_/0", "one"),
    ("from and from_", at("models", 3, "from", value=[{"ref": "totals"}]), "/models/3/from",
     "different"),
    ("from and empty from_", lambda d: d["models"][3].update(from_=[], **{"from": "view"}),
     "/models/3/from", "different"),
    ("no name in an entry", at("models", 3, "from_", 0, value={"ref": None}),
     "/models/3/from_/0", "one"),
    ("ref to a sink", at("models", 1, "sql", value='{{ ref("lake") }}'), "/models/1/sql", "lake"),
    ("reads what it writes", at("models", 1, "sql", value='{{ ref("totals") }}'), "/models/1",
     "reads"),
    ("no input of a sink", lambda d: (at("models", 3, "from_", value=[])(d),
                                      at("artifacts", "connectors", 0, "topics", value=[])(d)),
     "/models/3", "at least one dataset"),
    ("no input of a view", at("models", 2, "from_", value=None), "/models/2",
     "at least one dataset"),
    ("SQL and a macro", at("models", 0, "macro", value="m"), "/models/0", "both SQL and a macro"),
    ("bad Jinja", at("models", 0, "sql", value="{{ source('orders' }}"), "/models/0/sql", ""),
    ("undefined name", at("models", 0, "sql", value="{{ source(orders) }}"), "/models/0/sql", ""),
]  # fmt: skip
ARTIFACTS = [
    ("no topic", without("artifacts", "topics", 0), "/models/0", "confirm"),
    ("other topic", at("artifacts", "topics", 0, "name", value="clean.v2"), "/models/0",
     "clean.v2"),
    ("two topics", at("artifacts", "topics", 0, "ownership", "name", value="totals"),
     "/models/0", "confirm"),
    ("no topic of a default name", without("artifacts", "topics", 1), "/models/1",
     "declares the topic 'totals', which no artifact confirms"),
    ("topic twice", lambda d: d["artifacts"]["topics"].append(owned("totals")),
     "/models/1", "more than one topic"),
    ("only a dead-letter topic", at("artifacts", "topics", 0, "name", value="clean__dlq"),
     "/models/0", "no artifact confirms"),
    ("nothing compiled", without("artifacts"), "/models/0", "no process"),
    ("two jobs", lambda d: d["artifacts"]["flink_jobs"].append(owned("totals", sql="")),
     "/models/1", "more than one process"),
    ("job and processor",
     lambda d: d["artifacts"]["flink_jobs"].append(owned("totals_processor", "totals", sql="")),
     "/models/1", "more than one process"),
    ("job and rule", lambda d: d["artifacts"]["gateway_rules"].append(
        owned("clean", virtualTopic="v", physicalTopic="p")), "/models/0", "more than one process"),
    ("job and Kafka Streams job",
     lambda d: d["artifacts"].update(kafka_streams_jobs=[owned("clean")]),
     "/models/0", "more than one process"),
    ("owned, but of another name",
     lambda d: d["artifacts"]["flink_jobs"].append(owned("more", "totals", sql="")),
     "/artifacts/flink_jobs/2", "does not have its name"),
    ("rule of another name", at("artifacts", "gateway_rules", 0, "ownership", "name",
                                value="clean"), "/artifacts/gateway_rules/0", "its name"),
    ("connector and topic", lambda d: d["artifacts"]["topics"].append(owned("lake")),
     "/models/3", "both"),
    ("rule and topic", lambda d: d["artifacts"]["topics"].append(owned("view.v1", "view")),
     "/models/2", "both"),
    ("other virtual topic", at("artifacts", "gateway_rules", 0, "virtualTopic", value="view.v2"),
     "/models/2", "view.v2"),
    ("blank virtual topic", lambda d: (d["models"][2].pop("gateway"),
                                       d["artifacts"]["gateway_rules"][0].update(virtualTopic="")),
     "/artifacts/gateway_rules/0/virtualTopic", "blank"),
    ("unknown owner", at("artifacts", "flink_jobs", 0, "ownership", "name", value="nobody"),
     "/artifacts/flink_jobs/0/ownership/name", "nobody"),
    ("no process for SQL", without("artifacts", "flink_jobs", 0), "/models/0",
     "has SQL, but no process"),
    ("no process for a macro", lambda d: (d["models"][0].update(sql=None, macro="m"),
                                          d["artifacts"]["flink_jobs"].pop(0)),
     "/models/0", "has a macro, but no process"),
    ("a job for a sink", at("models", 1, "materialized", value="sink"), "/models/1",
     "no connector"),
    ("no connector", lambda d: (d["models"][3].update(materialized="sink"),
                                d["artifacts"].pop("connectors")), "/models/3", "no connector"),
    ("another project", at("artifacts", "flink_jobs", 0, "ownership", "project", value="other"),
     "/artifacts/flink_jobs/0/ownership/project", "another project"),
    ("unknown kind of owner", at("artifacts", "connectors", 0, "ownership", "type", value="Model"),
     "/artifacts/connectors/0/ownership/type", "Model"),
    ("orphan job", lambda d: d["artifacts"]["flink_jobs"].append({"name": "stray", "sql": ""}),
     "/artifacts/flink_jobs/2", "stray"),
    ("other Gateway inputs",
     at("models", 2, "from_", value=[{"source": "orders"}, {"ref": "clean"}]),
     "/models/2", "disagree"),
    ("other physical topic", at("artifacts", "gateway_rules", 0, "physicalTopic", value="clean"),
     "/models/2", "totals"),
    ("connector disagrees", at("artifacts", "connectors", 0, "topics", value=["totals"]),
     "/models/3", "disagree"),
    ("connector reads more", at("artifacts", "connectors", 0, "topics",
                                value=["view.v1", "totals"]), "/models/3", "disagree"),
    ("connector reads nothing", at("artifacts", "connectors", 0, "topics", value=[]),
     "/models/3", "reads nothing: they disagree"),
]  # fmt: skip
GRAPH = [
    ("node knows more", at("dag", value={"nodes": [{"name": "clean", "type": "model",
                                                    "upstream": ["orders", "refunds"]}]}),
     "/dag/nodes/0", "refunds"),
    ("node without a type",
     at("dag", value={"nodes": [{"name": "clean", "type": None, "upstream": []}]}),
     "/dag/nodes/0", "orders"),
    ("two nodes that differ",
     at("dag", value={"nodes": [{"name": "clean", "upstream": ["refunds"]},
                                {"name": "clean", "upstream": ["orders"]}]}),
     "/dag/nodes/0", "refunds"),
    ("node knows less", at("dag", value={"nodes": [{"name": "totals", "type": "model",
                                                    "upstream": ["clean"]}]}),
     "/dag/nodes/0", "refunds"),
    ("edge too many", at("dag", value={"edges": [{"from": "orders", "to": "clean"},
                                                 {"from": "refunds", "to": "clean"}]}),
     "/dag/edges/1", "refunds"),
    ("edge missing", at("dag", value={"edges": [{"from": "orders", "to": "clean"}]}),
     "/dag/edges", "totals"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("bend", "place", "words"),
    [pytest.param(*case[1:], id=case[0]) for case in NAMES + DEPENDENCIES + ARTIFACTS + GRAPH],
)
def test_is_refused_at_its_place(bend: Bend, place: str, words: str) -> None:
    error = refused(bent(bend))
    assert error.location == place
    assert words in error.message


@pytest.mark.parametrize(
    ("bend", "place"), [pytest.param(*case[1:], id=case[0]) for case in METADATA]
)
def test_malformed_metadata_is_refused_at_its_place(bend: Bend, place: str) -> None:
    assert refused(bent(bend)).location == place


class TestSettings:
    def test_a_missing_or_blank_job_namespace(self) -> None:
        for value in (None, "", " "):
            assert refused(shop(), job_namespace=value).location == "job_namespace"

    def test_no_namespace_and_nothing_to_derive_it_from(self) -> None:
        runtimes: tuple[Json, ...] = (
            {}, {"runtime": None}, {"runtime": {"kafka": {}}}, {"runtime": []},
        )  # fmt: skip
        for runtime in runtimes:
            error = refused({**shop(), **runtime}, kafka_namespace=None)
            assert error.location == "kafka_namespace"
        assert refused(shop(), gateway_namespace=None).location == "gateway_namespace"

    @pytest.mark.parametrize("brokers", ["a:9092,b:9092", "host", "user:pw@host:9092", ["h:1"], 7])
    def test_brokers_that_are_not_one_endpoint(self, brokers: object) -> None:
        document = {**shop(), "runtime": {"kafka": {"bootstrap_servers": brokers}}}
        error = refused(document, kafka_namespace=None)
        assert error.location == "runtime.kafka.bootstrap_servers"
        assert "pw" not in str(error)

    def test_a_proxy_that_is_not_one_endpoint(self) -> None:
        runtime = {"conduktor": {"gateway": {"proxy_bootstrap": "g:1,h:2"}}}
        error = refused({**shop(), "runtime": runtime}, gateway_namespace=None)
        assert error.location == "runtime.conduktor.gateway.proxy_bootstrap"

    def test_a_chosen_value_that_is_invalid_never_falls_through(self) -> None:
        document = {**shop(), "runtime": {"kafka": {"bootstrap_servers": "good:9092"}}}
        assert refused(document, kafka_namespace="").location == "kafka_namespace"

    def test_a_namespace_that_is_not_used_is_still_checked(self) -> None:
        document = manifest([source("orders")], [])
        assert refused(document, gateway_namespace="nonsense").location == "gateway_namespace"

    @pytest.mark.parametrize(
        "time",
        ["2026-03-14T09:26:53", "2026-03-14T09:26:53+01:00", "2026-03-14 09:26:53Z",
         "2026-02-30T00:00:00Z", "2026-03-14T24:00:00Z", "2026-03-14", "now", "",
         "2026-03-14T09:26:53Z\n", "2026-03-14T09:26:53-00:00"],
    )  # fmt: skip
    def test_a_time_that_is_not_utc_by_rfc_3339(self, time: str) -> None:
        assert refused({**shop(), "compiled_at": time}).location == "manifest.compiled_at"
        assert refused(shop(), event_time=time).location == "event_time"

    def test_no_time(self) -> None:
        for document in (bent(without("compiled_at")), bent(at("compiled_at", value=None))):
            assert refused(document).location == "manifest.compiled_at"


class TestGatewayOnGateway:
    def test_is_refused_even_where_proxy_and_broker_share_one_address(self) -> None:
        document = shop()
        document["models"][3] = model(
            "second", from_=[{"ref": "view"}], gateway={"virtual_topic": {"name": "second.v1"}}
        )
        document["artifacts"]["connectors"] = []
        document["artifacts"]["gateway_rules"].append(
            owned("second", virtualTopic="second.v1", physicalTopic="view.v1")
        )
        for gateway in ("kafka://gateway.example:6969", "kafka://broker.example:9092"):
            error = refused(document, gateway_namespace=gateway)
            assert (error.location, "virtual" in error.message) == ("/models/3", True)

    def test_a_virtual_topic_named_like_its_backing_topic_needs_another_address(self) -> None:
        document = bent(
            at("models", 2, "gateway", "virtual_topic", "name", value="totals"),
            at("artifacts", "gateway_rules", 0, "virtualTopic", value="totals"),
            at("artifacts", "connectors", 0, "topics", value=["totals"]),
        )
        resolve_identities({"options": OPTIONS, "manifest": document})
        error = refused(document, gateway_namespace="kafka://broker.example:9092")
        assert error.location == "/models/2"


def macro(sql: str, **more: Any) -> Json:
    return manifest(
        [source("orders"), source("refunds")],
        [model("mix", macro="mix", params={}, **more)],
        topics=[owned("mix")],
        flink_jobs=[owned("mix", sql=sql)],
    )


class TestMacro:
    PLACE = "/artifacts/flink_jobs/0/sql"

    @pytest.mark.parametrize(
        "sql",
        [
            "",
            "SELECT id FROM orders;",
            insert({"ghost": "ghost.v1"}, "mix"),
            insert({"orders": "orders.v1"}, "other"),
            table("orders", "orders.v1") + "INSERT INTO nowhere SELECT id FROM orders;",
            insert({"orders": "orders.v1"}, "mix") + "INSERT INTO nowhere SELECT id FROM orders;",
            insert({"orders": "orders.v1"}, "mix") + insert({"refunds": "refunds.v1"}, "other"),
            insert({"orders": "orders.v1"}, "mix") + "SELECT 'unterminated",
            insert({"orders": "orders.v1"}, "mix").replace("'topic' = 'o", "'topic-pattern' = 'o"),
            insert({"orders": "orders.v1"}, "mix").replace(
                "'kafka', 'topic' = 'orders.v1'", "'jdbc'"
            ),
            insert({"orders": "orders.v1"}, "mix").replace("'orders.v1'", "U&'orders.v1'"),
            insert({"orders": "orders.v1"}, "mix").replace("FROM orders", "FROM orders, c.d.other"),
            insert({"orders": "orders.v1"}, "mix").replace("FROM orders", "FROM {{ ref('x') }}"),
            insert({"orders": "orders.v1"}, "mix").replace(
                "FROM orders", "FROM orders /*+ OPTIONS('topic'='refunds.v1') */"
            ),
            insert({"orders": "orders.v1"}, "mix")
            + "ALTER TABLE orders SET ('topic' = 'refunds.v1');",
            insert({"orders": "orders.v1"}, "mix") + "/* unterminated",
        ],
    )
    def test_compiled_sql_that_does_not_resolve(self, sql: str) -> None:
        assert refused(macro(sql)).location == self.PLACE

    def test_compiled_sql_that_is_not_there(self) -> None:
        document = macro("")
        document["artifacts"]["flink_jobs"][0]["sql"] = None
        assert refused(document).location == self.PLACE

    def test_a_table_of_no_topic_is_named(self) -> None:
        sql = insert({"orders": "orders.v1"}, "mix").replace("'topic' = 'o", "'topic-pattern' = 'o")
        assert (
            refused(macro(sql)).message == "the table 'orders' of the compiled SQL names no topic"
        )

    def test_views_and_common_table_expressions_are_no_undeclared_tables(self) -> None:
        sql = insert({"orders": "orders.v1"}, "mix").replace(
            "INSERT INTO out_sink SELECT id FROM orders",
            "CREATE TEMPORARY VIEW v AS SELECT id FROM orders;\n"
            "INSERT INTO out_sink WITH c AS (SELECT id FROM v) SELECT id FROM c",
        )
        projection = resolve_identities({"options": OPTIONS, "manifest": macro(sql)})
        assert [i["name"] for i in projection["jobs"][0]["inputs"]] == ["orders.v1"]

    @pytest.mark.parametrize(
        "sql",
        [
            "INSERT INTO out_sink VALUES (1);",
            "CREATE TABLE g (id INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1');"
            "INSERT INTO out_sink SELECT id FROM g;",
        ],
    )
    def test_a_macro_without_any_input(self, sql: str) -> None:
        document = macro(table("out_sink", "mix") + sql)
        [job] = resolve_identities({"options": OPTIONS, "manifest": document})["jobs"]
        assert (job["inputs"], [o["name"] for o in job["outputs"]]) == ([], ["mix"])

    def test_a_macro_that_reads_what_it_writes(self) -> None:
        by_topic = insert({"orders": "orders.v1", "again": "mix"}, "mix")
        by_table = insert({"orders": "orders.v1"}, "mix").replace("FROM orders", "FROM out_sink")
        for sql in (by_topic, by_table):
            assert refused(macro(sql)).location == "/models/0"

    def test_a_topic_in_both_namespaces_that_no_table_name_decides(self) -> None:
        document = shop()
        document["models"][2]["gateway"]["virtual_topic"]["name"] = "orders.v1"
        document["artifacts"]["gateway_rules"][0]["virtualTopic"] = "orders.v1"
        document["artifacts"]["connectors"][0]["topics"] = ["orders.v1"]
        document["models"].append(model("mix", macro="mix"))
        document["artifacts"]["topics"].append(owned("mix"))
        job = owned("mix", sql=insert({"whose": "orders.v1"}, "mix"))
        document["artifacts"]["flink_jobs"].append(job)
        error = refused(document)
        assert error.location == "/artifacts/flink_jobs/2/sql"
        assert error.message == "the compiled topic 'orders.v1' stands for more than one dataset"
        job["sql"] = insert({"whose": "nobodys.v1"}, "mix")
        message = "the compiled topic 'nobodys.v1' is not a declared dataset"
        assert refused(document).message == message
        job["sql"] = insert({"whose": "orders.v1"}, "mix")
        for name, namespace in (("orders", "broker"), ("view", "gateway")):
            job["sql"] = insert({name: "orders.v1"}, "mix")
            projection = resolve_identities({"options": OPTIONS, "manifest": document})
            [mix] = [j for j in projection["jobs"] if j["name"].endswith("/mix")]
            assert [i["namespace"].split("//")[1].split(".")[0] for i in mix["inputs"]] == [
                namespace
            ]


class TestGraph:
    """The manifest's ``dag``, which is a cross-check and never a source."""

    @pytest.mark.parametrize(
        "node",
        [
            {"type": "source", "upstream": ["nobody"]},
            {"type": "exposure", "upstream": ["nobody"]},
            {"type": "model", "upstream": None},
            {"type": "model"},
        ],
    )
    def test_a_node_of_another_kind_or_that_says_nothing(self, node: Json) -> None:
        document = {**shop(), "dag": {"nodes": [{"name": "clean", **node}], "edges": None}}
        assert resolve_identities({"options": OPTIONS, "manifest": document}) == (
            resolve_identities({"options": OPTIONS, "manifest": shop()})
        )

    def test_edges_to_a_name_that_an_exposure_has_too_are_not_judged(self) -> None:
        edges = [
            {"from": "orders", "to": "clean"}, {"from": "clean", "to": "totals"},
            {"from": "refunds", "to": "totals"}, {"from": "totals", "to": "view"},
            {"from": "view", "to": "lake"}, {"from": "totals", "to": "clean"},
        ]  # fmt: skip
        document = {**shop(), "dag": {"edges": edges}}
        assert refused(document).location == "/dag/edges/5"
        document["exposures"] = [{"name": "clean"}]
        resolve_identities({"options": OPTIONS, "manifest": document})

    def test_only_an_empty_list_may_miss_what_a_macro_reads(self) -> None:
        document = macro(insert({"orders": "orders.v1"}, "mix"))
        for upstream, location in ([], None), (["orders"], None), (["refunds"], "/dag/nodes/0"):
            document["dag"] = {"nodes": [{"name": "mix", "type": "model", "upstream": upstream}]}
            if location is None:
                [job] = resolve_identities({"options": OPTIONS, "manifest": document})["jobs"]
                assert [one["name"] for one in job["inputs"]] == ["orders.v1"]
            else:
                assert refused(document).location == location


def test_an_artifact_whose_project_is_null_is_ours() -> None:
    document = shop()
    for artifact in document["artifacts"]["flink_jobs"]:
        artifact["ownership"]["project"] = None
    projection = resolve_identities({"options": OPTIONS, "manifest": document})
    assert len(projection["jobs"]) == 4


class TestOlder:
    """Artifacts without ``ownership``."""

    def test_a_flink_job_that_two_models_may_have_compiled(self) -> None:
        document = manifest(
            [source("orders")],
            [model("a", sql='{{ source("orders") }}'), model("a_processor")],
            topics=[{"name": "a"}, {"name": "a_processor"}],
            flink_jobs=[{"name": "a_processor", "sql": insert({"orders": "orders.v1"}, "b")}],
        )
        error = refused(document)
        assert error.location == "/artifacts/flink_jobs/0"
        assert error.message.startswith("no declared model or test matches")
        both = insert({"orders": "orders.v1"}, "a") + insert({"orders": "orders.v1"}, "a_processor")
        document["artifacts"]["flink_jobs"][0]["sql"] = both.replace("out_sink", "other", 2)
        error = refused(document)
        assert error.location == "/artifacts/flink_jobs/0"
        assert error.message == "more than one model matches the Flink job 'a_processor'"

    def test_a_flink_job_is_that_of_the_model_whose_topic_it_writes(self) -> None:
        chained = model("a_processor", sql='{{ ref("a") }}')
        document = manifest(
            [source("orders")],
            [model("a", sql='{{ source("orders") }}'), chained],
            topics=[{"name": "a"}, {"name": "a_processor"}],
            flink_jobs=[
                {"name": "a", "sql": insert({"orders": "orders.v1"}, "a")},
                {"name": "a_processor", "sql": insert({"a": "a"}, "a_processor")},
            ],
        )
        projection = resolve_identities({"options": OPTIONS, "manifest": document})
        assert [job["outputs"][0]["name"] for job in projection["jobs"]] == ["a", "a_processor"]
        document["models"][1]["topic"] = {"name": "last"}
        document["artifacts"]["topics"][1]["name"] = "last"
        document["artifacts"]["flink_jobs"][1]["sql"] = insert({"a": "a"}, "last")
        projection = resolve_identities({"options": OPTIONS, "manifest": document})
        assert [job["outputs"][0]["name"] for job in projection["jobs"]] == ["a", "last"]
        for nothing in ("", None):
            document["artifacts"]["flink_jobs"][1]["sql"] = nothing
            assert refused(document).location == "/artifacts/flink_jobs/1"

    @pytest.mark.parametrize(
        "ownership",
        [None, {}, {"type": "model"}, {"name": "nobody"}, {"type": None, "name": "nobody"},
         {"type": "model", "name": None}],
    )  # fmt: skip
    def test_an_ownership_that_is_not_whole_says_nothing(self, ownership: Json | None) -> None:
        document = shop()
        for artifacts in document["artifacts"].values():
            for artifact in artifacts:
                artifact["ownership"] = ownership
        projection = resolve_identities({"options": OPTIONS, "manifest": document})
        assert (len(projection["datasets"]), len(projection["jobs"])) == (5, 4)

    def test_only_a_flink_job_is_that_of_a_test(self) -> None:
        document = manifest([], [], connectors=[{"name": "test_t", "topics": []}])
        document["tests"] = [{"name": "t", "type": "continuous"}]
        assert refused(document).location == "/artifacts/connectors/0"

    def test_a_topic_of_two_names_that_are_both_confirmed(self) -> None:
        names = {"topic": {"name": "one"}, "advanced": {"topic": {"name": "two"}}}
        document = manifest([], [model("a", **names)], topics=[{"name": "one"}, {"name": "two"}])
        error = refused(document)
        assert error.location == "/models/0"
        assert error.message == "the model 'a' is compiled to more than one topic"
        document["artifacts"]["topics"].pop(0)
        projection = resolve_identities({"options": OPTIONS, "manifest": document})
        assert [dataset["name"] for dataset in projection["datasets"]] == ["two"]

    def test_a_topic_that_no_artifact_confirms(self) -> None:
        document = manifest(
            [source("orders")],
            [model("a", advanced={"topic": {"name": "a.v1"}})],
            topics=[{"name": "a"}],
        )
        error = refused(document)
        assert (error.location, "a.v1" in error.message) == ("/models/0", True)

    def test_processes_that_nobody_declares(self) -> None:
        for kind, more in (
            ("flink_jobs", {"sql": ""}),
            ("connectors", {"topics": []}),
            ("gateway_rules", {"virtualTopic": "v", "physicalTopic": "p"}),
        ):
            document = manifest([], [], **{kind: [{"name": "stray", **more}]})
            assert refused(document).location == f"/artifacts/{kind}/0"


def test_two_models_on_one_topic_are_refused() -> None:
    document = manifest(
        [source("orders")],
        [model("a", topic={"name": "same"}), model("b", topic={"name": "same"})],
        topics=[owned("same", "a"), owned("same", "b")],
    )
    error = refused(document)
    assert (error.location, "/models/0" in error.message) == ("/models/1", True)
