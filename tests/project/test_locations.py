"""The locations that a compiled project hands on, and what later stages make of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streamt_ol.contracts import LOADED
from streamt_ol.manifest.locations import Locations
from streamt_ol.manifest.shape import check_against
from streamt_ol.problems import pointer
from streamt_ol.stages.compile_project import CompileProject

MAIN = """\
project:
  version: 1
  name: located
runtime:
  kafka:
    bootstrap_servers: broker.example:9092
    password: hunter2
sources:
  - name: orders
    topic: orders.v1
    schema:
      fields:
        - name: id
          description: the id
        - {name: at, type: TIMESTAMP(3)}
models:
  - name: clean
    description: |
      two
      lines
    sql: SELECT * FROM {{ source("orders") }}
    contract:
      columns:
        - name: id
          type: INT
  - {name: lake, from: [
      {ref: clean},
      orders]}
tests:
  - name: t
    model: clean
"""


def compiled(folder: Path, text: str = MAIN) -> dict[str, Any]:
    (folder / "stream_project.yml").write_text(text)
    state = CompileProject({})({"options": {"project_dir": str(folder), "job_namespace": "jobs"}})
    check_against(LOADED, state)
    copied: dict[str, Any] = json.loads(json.dumps(state))
    return copied


def test_each_part_stands_where_the_file_has_it(tmp_path: Path) -> None:
    locations = Locations(compiled(tmp_path)["locations"])
    lines = {
        "/project": 3,
        "/sources/0": 9,
        "/sources/0/name": 9,
        "/sources/0/topic": 10,
        "/sources/0/owner": 9,
        "/sources/0/columns/0/name": 13,
        "/sources/0/columns/0/description": 14,
        "/sources/0/columns/1/type": 15,
        "/models/0/description": 18,
        "/models/0/sql": 21,
        "/models/0/contract/columns/0": 24,
        "/models/0/contract/columns/0/type": 25,
        "/models/1/from/0": 27,
        "/models/1/from/0/ref": 27,
        "/models/1/from/1": 28,
        "/tests/0/model": 31,
        "/artifacts/topics/0/name": 17,
        "/artifacts/flink_jobs/0/ownership/name": 17,
        "/artifacts/connectors/0": 26,
    }
    found = {text: locations.of(text) for text in lines}
    assert {text: location.line for text, location in found.items()} == lines
    assert {location.file for location in found.values()} == {"stream_project.yml"}
    assert str(found["/models/0/sql"]) == "stream_project.yml:21 /models/0/sql"
    broker = locations.field("runtime", "kafka", "bootstrap_servers")
    assert broker == "stream_project.yml:6 runtime.kafka.bootstrap_servers"
    assert broker.fields() == {
        "file": "stream_project.yml",
        "line": 6,
        "option": "runtime.kafka.bootstrap_servers",
    }


def test_what_is_nowhere_has_a_pointer_only(tmp_path: Path) -> None:
    location = Locations(compiled(tmp_path)["locations"]).of("/dag/nodes/0")
    assert (location, location.file, location.line) == ("/dag/nodes/0", None, None)


def test_no_part_that_is_not_read_is_in_them(tmp_path: Path) -> None:
    assert "password" not in json.dumps(compiled(tmp_path)["locations"])


def test_aliases_in_what_is_not_read_cost_nothing(tmp_path: Path) -> None:
    """Each level stands for ten of the one before: a million values, at a few lines."""
    levels = [f"  - &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 6)]
    text = "\n".join(["bombs:", "  - &l0 [x]", *levels]) + (
        "\nproject: p\nruntime: {kafka: {bootstrap_servers: 'b:1'}}\nmodels:\n"
        "  - name: m\n    contract:\n      rules: *l5\n      columns: [{name: id, tags: *l5}]\n"
        "tests: [{name: *l5}]\n"
    )
    locations = compiled(tmp_path, text)["locations"]
    assert len(json.dumps(locations)) < 2_000
    assert Locations(locations).of("/models/0/contract/columns/0/name").line == 14


def test_a_file_is_named_as_a_message_may_show_it() -> None:
    """Whoever wrote the state: a stage of the user's own, or somebody else's pipe."""
    locations = Locations({"/models/0": {"file": "a\x1b[31m token=hunter2\n.yml", "line": 3}})
    for location in (locations.of("/models/0/sql"), locations.field("models", "0")):
        assert location.file == "a\\x1b[31m token=***"
        assert "hunter2" not in location


KEYS = st.lists(st.sampled_from(["a", "b", "~", "/", "0"]), min_size=1, max_size=4)


@given(st.lists(KEYS), KEYS)
def test_the_deepest_part_that_is_known_decides(known: list[list[str]], wanted: list[str]) -> None:
    lines = {pointer(*keys): number for number, keys in enumerate(known, start=2)}
    prefixes = (pointer(*wanted[:depth]) for depth in range(len(wanted), 0, -1))
    expected = next((lines[prefix] for prefix in prefixes if prefix in lines), 1)
    locations = Locations({"": {"file": "f", "line": 1, "lines": lines}})
    assert locations.at(*wanted).line == expected
