"""`streamt-ol test` and `apply` on a project instead of a compiled manifest."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.commands import PROGRAM
from support.streamt.place import EMIT, KAFKA, NAMESPACE, Json, Place

PROJECT = """
project:
  name: shop
runtime:
  kafka:
    bootstrap_servers: broker.example:9092
sources:
  - name: orders
    topic: orders.v1
models:
  - name: clean
    sql: SELECT id FROM {{ source("orders") }}
    materialized: topic
    topic: {name: clean.v1}
  - name: lake
    from: [{ref: clean}]
    sink: {connector: s3}
tests:
  - {name: a, model: clean, type: sample, assertions: []}
  - {name: b, model: clean, type: schema, assertions: []}
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    (tmp_path / "stream_project.yml").write_text(PROJECT)
    return place


def run(
    place: Place, command: str, *words: str, plan: Json | None = None, **more: str
) -> subprocess.CompletedProcess[bytes]:
    variables = {"STREAMT_OPENLINEAGE_KAFKA_NAMESPACE": "UNSET", **more}
    return subprocess.run(
        [PROGRAM, command, "--streamt", str(place.streamt), *EMIT, *words],
        capture_output=True,
        env=place.environment(place.seen(plan), **variables),
        cwd=place.folder,
        check=False,
    )


def test_the_selection_and_topics_of_the_project(place: Place) -> None:
    done = run(place, "test")
    assert (done.returncode, done.stderr) == (0, b"")
    start, _ = place.events()
    assert start["job"]["name"] == "streamt/shop/commands/test"
    assert start["inputs"] == [{"namespace": KAFKA, "name": "clean.v1"}]


def test_a_project_elsewhere(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (place.folder / "stream_project.yml").rename(other / "stream_project.yml")
    assert run(place, "test", "-p", str(other)).returncode == 0
    assert run(place, "apply", "-p", str(other)).returncode == 0
    assert (other / ".streamt/state/default.control.json").exists()
    assert place.kinds() == ["START", "COMPLETE"] * 2


def test_no_project_is_refused_before_the_child_runs(place: Place) -> None:
    (place.folder / "stream_project.yml").unlink()
    for command in ("test", "apply"):
        done = run(place, command, plan={"out": b"ran".hex()})
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.startswith(b"E501_PARSE_ERROR .: ")


def test_a_fault_of_a_test_has_its_line(place: Place) -> None:
    text = PROJECT.replace("{name: a, model: clean,", "{name: a, model: nobody,")
    (place.folder / "stream_project.yml").write_text(text)
    done = run(place, "test", plan={"out": b"ran".hex()})
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"E506_OPENLINEAGE_INVALID stream_project.yml:19 /tests/0" in done.stderr


@pytest.mark.parametrize(
    ("environments", "words", "variables", "expected"),
    [
        ([], [], {}, "default"),
        (["default", "prod"], [], {}, "default"),
        (["prod"], [], {}, "prod"),
        (["dev", "prod"], ["-e", "dev"], {}, "dev"),
        (["dev", "prod"], [], {"STREAMT_ENV": "prod"}, "prod"),
        (["dev", "prod"], ["--", "--env=dev"], {"STREAMT_ENV": "prod"}, "dev"),
    ],
)
def test_apply_watches_the_environment_that_streamt_chooses(
    place: Place, environments: list[str], words: list[str], variables: Json, expected: str
) -> None:
    folder = place.folder / "environments"
    folder.mkdir()
    for name in environments:
        (folder / f"{name}.yml").write_text(f"environment: {{name: {name}}}\n")
    marker = str(place.marker(expected))
    address = f"streamt-state://local/shop/{expected}"
    plan = {"path": marker, "marker": {"address": address}}
    done = run(place, "apply", *words, plan=plan, **variables)
    assert (done.returncode, done.stderr) == (0, b"")
    assert place.kinds() == ["START", "COMPLETE"]


def test_apply_needs_the_projects_name_only(place: Place) -> None:
    """A model that cannot be compiled here is streamt's affair, not a reason to refuse."""
    text = PROJECT.replace("SELECT id FROM", "SELECT {{ undefined_thing() }} FROM")
    (place.folder / "stream_project.yml").write_text(text)
    assert run(place, "apply").returncode == 0
    assert place.kinds() == ["START", "COMPLETE"]
    assert place.events()[0]["job"]["name"] == "streamt/shop/commands/apply"


def test_namespaces_may_come_from_the_projects_env_file(place: Place) -> None:
    (place.folder / ".env").write_text(f"OPENLINEAGE_NAMESPACE={NAMESPACE}/env-file\n")
    for command in ("test", "apply"):
        line = [PROGRAM, command, "--streamt", str(place.streamt), "--emit-openlineage"]
        environment = place.environment(STREAMT_OPENLINEAGE_KAFKA_NAMESPACE="UNSET")
        done = subprocess.run(
            line, env=environment, cwd=place.folder, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
    assert {event["job"]["namespace"] for event in place.events()} == {f"{NAMESPACE}/env-file"}


class TestWhereTheStateIsKept:
    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("deployment_state: postgres", "postgres"),
            ("deployment_state: {backend: postgres, url: secret-url}", "postgres"),
            ("deployment_state: {type: s3}", "s3"),
            ("deployment_state: {kind: postgres}", "postgres"),
            ("deployment_state: {postgres: {url: secret-url}}", "postgres"),
        ],
    )
    def test_another_backend_is_refused_before_the_start(
        self, place: Place, text: str, named: str
    ) -> None:
        (place.folder / "stream_project.yml").write_text(f"{text}\n{PROJECT}")
        done = run(place, "apply", plan={"out": b"ran".hex()})
        assert (done.returncode, done.stdout) == (1, b"")
        said = done.stderr.decode().splitlines()
        assert said[0].startswith("E506_OPENLINEAGE_INVALID stream_project.yml:1 /deployment_state")
        assert f"by the backend '{named}'" in said[0]
        assert b"secret-url" not in done.stderr
        assert not place.marker().exists()

    def test_the_environments_own_counts(self, place: Place) -> None:
        folder = place.folder / "environments"
        folder.mkdir()
        (folder / "prod.yml").write_text("environment: {name: prod}\ndeployment_state: postgres\n")
        (folder / "dev.yml").write_text("environment: {name: dev}\n")
        assert run(place, "apply", "-e", "prod").returncode == 1
        assert run(place, "apply", "-e", "dev").returncode == 0

    @pytest.mark.parametrize("text", ["local", "{backend: local}", "{url: a, user: b}", "[a]", "3"])
    def test_the_local_one_and_what_names_none_is_not(self, place: Place, text: str) -> None:
        (place.folder / "stream_project.yml").write_text(f"deployment_state: {text}\n{PROJECT}")
        done = run(place, "apply")
        assert (done.returncode, done.stderr) == (0, b"")
        assert place.kinds() == ["START", "COMPLETE"]

    def test_beside_a_manifest_too(self, place: Place) -> None:
        (place.folder / "stream_project.yml").write_text(f"deployment_state: postgres\n{PROJECT}")
        assert run(place, "apply", "--manifest", str(place.manifest)).returncode == 1

    def test_a_marker_that_is_named_is_watched(self, place: Place) -> None:
        (place.folder / "stream_project.yml").write_text(f"deployment_state: postgres\n{PROJECT}")
        marker = str(place.folder / "op.control.json")
        plan = {"path": marker, "marker": {"address": "streamt-state://postgres/shop/default"}}
        done = run(place, "apply", "--operation-file", marker, plan=plan)
        assert (done.returncode, done.stderr) == (0, b"")
        assert place.kinds() == ["START", "COMPLETE"]

    @pytest.mark.parametrize("words", [["--dry-run"], ["--", "--dry-run"]])
    def test_a_dry_run_is_not_refused(self, place: Place, words: list[str]) -> None:
        (place.folder / "stream_project.yml").write_text(f"deployment_state: postgres\n{PROJECT}")
        assert run(place, "apply", *words).returncode == 0
        assert not place.events_file.exists()


@pytest.mark.parametrize(
    "variables",
    [{}, {"OPENLINEAGE__TRANSPORT__TYPE": "UNSET"}, {"OPENLINEAGE_DISABLED": "true"}],
)
@pytest.mark.parametrize(
    "words", [["-m", "nobody"], ["--type", "continuous"], ["--coverage"], ["--deploy"], ["--help"]]
)
@pytest.mark.parametrize("sql", ["SELECT id FROM", "SELECT {{ undefined_thing() }} FROM"])
def test_what_runs_no_test_is_never_refused(
    place: Place, words: list[str], variables: Json, sql: str
) -> None:
    """Not even where the models could not be read here."""
    text = PROJECT.replace("SELECT id FROM", sql).replace("broker.example:9092", "a:1,b:2")
    (place.folder / "stream_project.yml").write_text(text)
    line = [PROGRAM, "test", "--streamt", str(place.streamt), "--emit-openlineage", "--", *words]
    environment = place.environment({"exit": 5}, **variables)
    done = subprocess.run(line, env=environment, cwd=place.folder, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (5, b"")
    assert not place.events_file.exists()


def test_a_virtual_topic_and_a_sink_are_sampled_from_kafka(place: Place) -> None:
    more = """
  - {name: masked, sql: 'SELECT id FROM {{ source("orders") }}',
     gateway: {virtual_topic: {name: v}}}
  - {name: named, sql: 'SELECT id FROM {{ source("orders") }}', materialized: virtual_topic,
     topic: {name: named.v1}, gateway: {virtual_topic: {name: w}}}
tests:
  - {name: c, model: masked, type: sample}
  - {name: d, model: lake, type: sample}
  - {name: e, model: named, type: sample}
  - {name: f, model: orders, type: sample}
"""
    text = PROJECT.replace("tests:\n", more.lstrip("\n"))
    text = text.replace("runtime:", "runtime:\n  conduktor: {gateway: {proxy_bootstrap: 'g:1'}}")
    (place.folder / "stream_project.yml").write_text(text)
    done = run(place, "test", "--type", "sample", STREAMT_OPENLINEAGE_GATEWAY_NAMESPACE="UNSET")
    assert (done.returncode, done.stderr) == (0, b"")
    names = ["clean.v1", "lake", "masked", "named.v1", "orders.v1"]
    for event in place.events():
        assert event["inputs"] == [{"namespace": KAFKA, "name": name} for name in names]
