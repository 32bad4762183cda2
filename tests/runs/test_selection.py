"""The tests that streamt selects, and the datasets that the selected sample tests read."""

from __future__ import annotations

import pytest
from support.manifests import Json, manifest, model, shop, source
from support.streamt.place import GATEWAY, KAFKA, TESTS

from streamt_ol.problems import StreamtOlError
from streamt_ol.resolution.settings import Namespaces
from streamt_ol.runs import Dataset
from streamt_ol.runs.arguments import read_arguments
from streamt_ol.runs.selection import sampled_datasets, selected

CLEAN = Dataset(KAFKA, "clean.v1")
TOTALS = Dataset(KAFKA, "totals")
VIEW = Dataset(KAFKA, "view")
OPTIONS: dict[str, str | None] = {
    "job_namespace": "jobs",
    "kafka_namespace": KAFKA,
    "gateway_namespace": GATEWAY,
}


def names(*words: str) -> list[str]:
    return [test["name"] for _, test in selected(TESTS, read_arguments(words))]


def inputs(document: Json, *words: str, **options: str | None) -> tuple[Dataset, ...]:
    tests = selected(document["tests"], read_arguments(words))
    return sampled_datasets(tests, document, Namespaces({**OPTIONS, **options}, None))


def test_the_last_of_an_option_counts() -> None:
    given: dict[str, str | None] = {"project_dir": "a", "env": None, "model": "-m", "type": "b"}
    assert read_arguments([], **given) == ("a", None, "-m", "b", True)
    assert read_arguments(["--x"], **given) == ("a", None, "-m", "b", True)
    assert read_arguments(["-m", "c", "-e", "d"], **given) == ("a", "d", "c", "b", True)
    assert read_arguments([], project_dir=None) == (".", None, None, None, True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ["t0", "t1", "t2", "t3", "t4", "t5"]),
        (["--model", "clean"], ["t0", "t5"]),
        (["-m", "totals"], ["t1", "t2", "t4"]),
        (["-mview"], ["t3"]),
        (["--model=view"], ["t3"]),
        (["-m", "clean", "-m", "view"], ["t3"]),
        (["--type", "sample"], ["t0", "t2", "t3", "t5"]),
        (["--type=continuous"], ["t4"]),
        (["-m", "totals", "--type", "schema"], ["t1"]),
        (["-m", "clean", "--type", "schema"], []),
        (["-m", "nobody"], []),
        (["-m", "Clean"], []),
        (["--type", "other"], []),
        (["--deploy"], []),
        (["--coverage"], []),
        (["--coverage-min=80", "-m", "clean"], []),
        (["--limit", "5", "-m", "clean", "--verbose"], ["t0", "t5"]),
        (["--mod", "clean"], ["t0", "t1", "t2", "t3", "t4", "t5"]),
    ],
)
def test_selection(words: list[str], expected: list[str]) -> None:
    assert names(*words) == expected


def test_an_option_without_its_value() -> None:
    with pytest.raises(StreamtOlError) as caught:
        read_arguments(["--model"])
    assert caught.value.code == "E500_USAGE_ERROR"


def test_inputs_are_the_sorted_union_of_the_selected_sample_tests_topics() -> None:
    document = {**shop(), "tests": TESTS}
    assert inputs(document) == (CLEAN, TOTALS, VIEW)
    assert inputs(document, "-m", "totals") == (TOTALS,)
    assert inputs(document, "--type", "schema") == ()


def test_without_a_sample_test_no_namespace_is_needed() -> None:
    document = {**shop(), "tests": TESTS}
    assert inputs(document, "--type", "schema", kafka_namespace=None) == ()
    with pytest.raises(StreamtOlError) as caught:
        inputs(document, kafka_namespace=None)
    assert caught.value.location == "kafka_namespace"


def test_only_the_namespace_that_is_used_is_needed() -> None:
    document = {**shop(), "tests": TESTS}
    assert inputs(document, gateway_namespace=None) == (CLEAN, TOTALS, VIEW)


def test_of_a_virtual_topic_and_of_a_sink_the_kafka_topic_is_read() -> None:
    """As streamt reads it: the model's `topic.name`, else its name, from Kafka."""
    models = [
        model("masked", gateway={"virtual_topic": {"name": "trips.masked"}}),
        model("named", topic={"name": "n.v1"}, gateway={"virtual_topic": {"name": "n.virtual"}}),
        model("advanced", advanced={"topic": {"name": "a.v1"}}),
        model("lake", sink={"connector": "s3"}),
        model("raw_lake", sink={"connector": "s3"}, topic={"name": "lake.v1"}),
    ]
    tests = [{"name": m["name"], "model": m["name"], "type": "sample"} for m in models]
    document = {**manifest([source("raw")], models), "tests": tests}
    names = ["a.v1", "lake", "lake.v1", "masked", "n.v1"]
    assert inputs(document) == tuple(Dataset(KAFKA, name) for name in names)


def test_a_source_may_be_sampled() -> None:
    tests = [{"name": "t", "model": "raw", "type": "sample"}]
    document = {**manifest([source("raw", "raw.v2")], []), "tests": tests}
    assert inputs(document) == (Dataset(KAFKA, "raw.v2"),)


@pytest.mark.parametrize(
    ("model", "words"), [("nobody", "is not declared"), (None, "is not declared")]
)
def test_a_sample_test_of_nothing_declared(model: str | None, words: str) -> None:
    document = {**shop(), "tests": [{"name": "t", "model": model, "type": "sample"}]}
    with pytest.raises(StreamtOlError) as caught:
        inputs(document)
    assert caught.value.location == "/tests/0/model"
    assert words in caught.value.message
