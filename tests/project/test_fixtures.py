"""Every project under fixtures/projects: the lineage or the error that its case file tells.

Adding a folder ``NAME/`` and a ``NAME.case.json`` adds a test; a ``NAME.manifest.json`` beside
them is the manifest, written by hand, that the project must compile to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.manifests import FIXTURES

from streamt_ol.contracts import LOADED, State
from streamt_ol.manifest.shape import check_against, check_shape
from streamt_ol.problems import StreamtOlError
from streamt_ol.stages.compile_project import CompileProject
from streamt_ol.stages.resolve_identities import resolve_identities

PROJECTS = FIXTURES / "projects"
GATEWAY = "gateway:"
SECRET = "hunter2"


def cases(*, bad: bool) -> Iterator[Any]:
    for file in sorted(PROJECTS.glob("*.case.json")):
        if file.name.startswith("bad_") is bad:
            name = file.name.removesuffix(".case.json")
            yield pytest.param(name, json.loads(file.read_text()), id=name)


def clock() -> datetime:
    return datetime(2026, 3, 14, 9, 26, 53, 589793, tzinfo=UTC)


def compiled(name: str, case: dict[str, Any]) -> State:
    options = {"job_namespace": "jobs", "project_dir": str(PROJECTS / name)}
    stage = CompileProject(case.get("environ", {}), clock)
    return stage({"options": {**options, **case.get("options", {})}})


def short(identity: dict[str, str]) -> str:
    prefix = GATEWAY if "gateway" in identity["namespace"] else ""
    return prefix + identity["name"]


def flow(job: dict[str, Any]) -> str:
    inputs = " ".join(sorted(map(short, job["inputs"])))
    return f"{inputs} -> {' '.join(map(short, job['outputs']))}".strip()


def written(columns: list[dict[str, str]]) -> str:
    return ", ".join(f"{column['name']} {column.get('type', '')}".strip() for column in columns)


def test_there_are_enough_of_them() -> None:
    folders = {path.name for path in PROJECTS.iterdir() if path.is_dir()}
    assert len(folders) >= 20
    assert folders == {
        file.name.removesuffix(".case.json") for file in PROJECTS.glob("*.case.json")
    }
    assert len(list(PROJECTS.glob("*.manifest.json"))) >= 5


@pytest.mark.parametrize(("name", "case"), list(cases(bad=False)))
class TestGoodProjects:
    def test_lineage(self, name: str, case: dict[str, Any]) -> None:
        projection = resolve_identities(compiled(name, case))
        found = {model.rpartition("/")[2]: flow(job) for model, job in named(projection["jobs"])}
        expected = case["lineage"]
        assert sorted(map(short, projection["datasets"])) == sorted(expected["datasets"])
        assert found == {
            model: " ".join(words.split()) for model, words in expected["jobs"].items()
        }
        if "warnings" in expected:
            warnings = projection["warnings"]
            assert sorted(f"{w['code']} {w['location']}" for w in warnings) == expected["warnings"]
        if "namespaces" in case:
            assert sorted({d["namespace"] for d in projection["datasets"]}) == case["namespaces"]
        if "columns" in case:
            columns = {d["name"]: written(d.get("columns", [])) for d in projection["datasets"]}
            assert columns == case["columns"]

    def test_effective_materializations(self, name: str, case: dict[str, Any]) -> None:
        nodes = compiled(name, case)["manifest"]["dag"]["nodes"]
        found = {node["name"]: node["materialized"] for node in nodes if node["type"] == "model"}
        assert found == case["materialized"]

    def test_the_result_keeps_the_contract_and_the_shape_of_a_manifest(
        self, name: str, case: dict[str, Any]
    ) -> None:
        state = compiled(name, case)
        check_against(LOADED, state)
        assert check_shape(json.loads(json.dumps(state["manifest"])))["project"]


@pytest.mark.parametrize("file", sorted(PROJECTS.glob("*.manifest.json")), ids=lambda f: f.name)
def test_a_project_compiles_to_the_manifest_written_by_hand(file: Path) -> None:
    name = file.name.removesuffix(".manifest.json")
    case = json.loads((PROJECTS / f"{name}.case.json").read_text())
    assert compiled(name, case)["manifest"] == json.loads(file.read_text())


def named(jobs: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [(job["name"], job) for job in jobs]


@pytest.mark.parametrize(("name", "case"), list(cases(bad=True)))
def test_bad_projects(name: str, case: dict[str, Any]) -> None:
    with pytest.raises(StreamtOlError) as caught:
        resolve_identities(json.loads(json.dumps(compiled(name, case))))
    error = caught.value
    assert (error.code, error.location) == (case["error"]["code"], case["error"]["location"])
    assert case["error"]["says"] in error.message
    assert SECRET not in error.message
