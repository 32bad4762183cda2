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
    derived = {"STREAMT_OPENLINEAGE_KAFKA_NAMESPACE": "UNSET"}
    return subprocess.run(
        [PROGRAM, command, "--streamt", str(place.streamt), *EMIT, *words],
        capture_output=True,
        env=place.environment(plan, **derived, **more),
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
    text = PROJECT.replace("{name: a, model: clean,", "{name: a, model: lake,")
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
