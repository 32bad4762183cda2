"""The spellings of a project's parts, and the names of its files in what is said of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamt_ol.problems import INVALID, PARSE, StreamtOlError
from streamt_ol.stages.compile_project import CompileProject
from streamt_ol.stages.resolve_identities import resolve_identities
from streamt_ol.templates import plain_calls

SOURCES = [{"name": "a", "topic": "a.v1"}, {"name": "b", "topic": "b.v1"}]
NAMESPACES = {"job_namespace": "jobs", "kafka_namespace": "kafka://broker.example:9092"}


def compiled(folder: Path, env: str | None = None, **lists: Any) -> dict[str, Any]:
    document = {"project": "p", "sources": SOURCES, **lists}
    # JSON is YAML, too.
    text = json.dumps(document, ensure_ascii=False)
    (folder / "stream_project.yml").write_text(text, encoding="utf-8")
    options = {**NAMESPACES, "project_dir": str(folder), "env": env}
    return CompileProject({})({"options": options})


def refusal(folder: Path, **lists: Any) -> tuple[str, str, str]:
    with pytest.raises(StreamtOlError) as caught:
        compiled(folder, **lists)
    return caught.value.code, str(caught.value.location), caught.value.message


class TestFrom:
    A, B = {"source": "a"}, {"source": "b"}

    @pytest.mark.parametrize(
        "names",
        [{"from": [A]}, {"from_": [A]}, {"from": [A], "from_": [A]}, {"from": None, "from_": [A]},
         {"from": [A], "from_": None}],
    )  # fmt: skip
    def test_has_two_names(self, names: dict[str, Any], tmp_path: Path) -> None:
        state = compiled(tmp_path, models=[{"name": "m", **names}])
        [job] = resolve_identities(state)["jobs"]
        assert [one["name"] for one in job["inputs"]] == ["a.v1"]

    @pytest.mark.parametrize("names", [{"from": [A], "from_": [B]}, {"from": [A], "from_": []}])
    def test_under_both_names_says_one_thing(self, names: dict[str, Any], tmp_path: Path) -> None:
        code, location, message = refusal(tmp_path, models=[{"name": "m", **names}])
        assert (code, location) == (INVALID, "stream_project.yml:1 /models/0/from")
        assert message == "`from` and `from_` say different things"


@pytest.mark.parametrize("item", [5, None, True, ["a"]])
def test_an_item_of_another_type_is_an_error_at_it(item: object, tmp_path: Path) -> None:
    for lists, place in (
        ({"models": [{"name": "m", "from": ["a", item]}]}, "/models/0/from/1"),
        ({"sources": [{"name": "s", "topic": "t", "columns": [item]}]}, "/sources/0/columns/0"),
        (
            {"sources": [{"name": "s", "topic": "t", "schema": {"fields": [item]}}]},
            "/sources/0/columns/0",
        ),
    ):
        code, location, message = refusal(tmp_path, **lists)
        assert (code, location) == (PARSE, f"stream_project.yml:1 {place}")
        assert message.startswith("must be of type object, not ")


def test_models_that_are_read_over_many_ways_are_gone_over_once(tmp_path: Path) -> None:
    """Each of 60 levels reads the next one twice: over a quintillion ways lead to the last."""
    names = [(f"a{level}", f"b{level}") for level in range(61)]
    models: list[dict[str, Any]] = [{"name": name} for name in names[-1]]
    for level, both in enumerate(names[:-1]):
        sql = "SELECT x FROM " + ", ".join(f"{{{{ ref('{n}') }}}}" for n in names[level + 1])
        models += [{"name": name, "materialized": "topic", "sql": sql} for name in both]
    projection = resolve_identities(compiled(tmp_path, models=models))
    assert [len(job["inputs"]) for job in projection["jobs"]] == [2] * 120


def test_the_name_of_a_virtual_topic_is_not_that_of_a_kafka_topic(tmp_path: Path) -> None:
    virtual = {"virtual_topic": {"name": "virtual"}}
    models = [
        {"name": "m", "materialized": "flink", "sql": "SELECT 1", "gateway": virtual},
        {"name": "n", "materialized": "virtual_topic", "from": "a", "gateway": virtual},
    ]
    artifacts = compiled(tmp_path, models=models)["manifest"]["artifacts"]
    assert [topic["name"] for topic in artifacts["topics"]] == ["m"]
    assert [rule["virtualTopic"] for rule in artifacts["gateway_rules"]] == ["virtual"]


def test_an_executor_decides_the_process(tmp_path: Path) -> None:
    sql = 'SELECT * FROM {{ source("a") }}'
    models = [{"name": name, "executor": name, "sql": sql} for name in ("kafka_streams", "flink")]
    artifacts = compiled(tmp_path, models=models)["manifest"]["artifacts"]
    assert [job["name"] for job in artifacts["kafka_streams_jobs"]] == ["kafka_streams"]
    assert [job["name"] for job in artifacts["flink_jobs"]] == ["flink"]


def test_only_files_in_the_folder_itself_are_environments(tmp_path: Path) -> None:
    (tmp_path / "environments" / "deep").mkdir(parents=True)
    (tmp_path / "environments" / "deep" / "dev.yml").touch()
    with pytest.raises(StreamtOlError, match="there is no environment 'dev'"):
        compiled(tmp_path, env="dev")
    assert compiled(tmp_path)["manifest"]["project"] == "p"


@pytest.mark.parametrize("key", ["schema", "schema_"])
def test_the_fields_of_a_schema_are_the_columns_of_a_source(key: str, tmp_path: Path) -> None:
    source = {"name": "s", "topic": "t", key: {"fields": [{"name": "id", "type": "INT"}]}}
    state = compiled(tmp_path, sources=[source])
    [dataset] = resolve_identities(state)["datasets"]
    assert dataset["columns"] == [{"name": "id", "type": "INT"}]


@pytest.mark.parametrize(
    "name",
    ["größe", "注文", "😀", 'a"b', "a\\b", "a\nb", "{{ x }}", "a}}b", "{% x %}", "{# x #}", "it's"],
)
def test_any_name_comes_back_from_the_compiled_sql(name: str, tmp_path: Path) -> None:
    (tmp_path / "macros").mkdir()
    (tmp_path / "macros" / "read.sql.j2").write_text("SELECT * FROM {{ source(name) }}")
    model = {"name": "m", "macro": "read", "params": {"name": name}}
    state = compiled(tmp_path, sources=[{"name": name, "topic": "t"}], models=[model])
    [job] = resolve_identities(state)["jobs"]
    assert [one["name"] for one in job["inputs"]] == ["t"]


@pytest.mark.parametrize("name", ["größe", "注文", "😀", "it's", "a b/c"])
def test_a_name_in_any_script_is_read_without_jinja(name: str, tmp_path: Path) -> None:
    """A process that renders takes longer than the whole export."""
    sql = f'SELECT * FROM {{{{ source("{name}") }}}}'
    sources = [{"name": name, "topic": "t"}]
    state = compiled(tmp_path, sources=sources, models=[{"name": "m", "sql": sql}])
    assert plain_calls(state["manifest"]["models"][0]["sql"]) == [("source", name)]


def test_warnings_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    unknown: dict[str, Any] = {f"x{number * 37 % 50}": 1 for number in range(50)}
    found = compiled(tmp_path, **unknown)["warnings"]
    assert [warning["message"].split("'")[1] for warning in found] == list(unknown)


class TestNamesOfFiles:
    ODD = "a\x1b[31m token=hunter2"
    SHOWN = "a\\x1b[31m token=***"

    def test_are_safe_in_a_warning(self, tmp_path: Path) -> None:
        (tmp_path / "environments").mkdir()
        (tmp_path / "environments" / f"{self.ODD}.yml").touch()
        (tmp_path / f".env.{self.ODD}").write_text("A=1\nnot a setting\n")
        [warning] = compiled(tmp_path, env=self.ODD)["warnings"]
        assert (warning["location"], warning["file"]) == (
            f".env.{self.SHOWN}:2",
            f".env.{self.SHOWN}",
        )

    @pytest.mark.parametrize(
        ("target", "reason"),
        [
            ("nowhere", "it is gone, or a link that leads nowhere"),
            (f"{ODD}.yml", "Too many levels of symbolic links"),
        ],
    )
    def test_are_safe_in_an_error(self, target: str, reason: str, tmp_path: Path) -> None:
        (tmp_path / "models").mkdir()
        (tmp_path / "models" / f"{self.ODD}.yml").symlink_to(target)
        assert refusal(tmp_path) == (
            PARSE, f"models/{self.SHOWN}", f"the file cannot be read: {reason}",
        )  # fmt: skip
