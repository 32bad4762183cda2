"""Properties of the export that hold for every project, however it is declared and compiled."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import fastjsonschema
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.exporting import after, exported
from support.inprocess import Ran, streamt_ol_here
from support.manifests import OPTIONS, manifest, model, owned, source
from support.strategies import (
    SECRET,
    Dataset,
    Json,
    Project,
    broken,
    compiled_sql,
    projects,
    reordered,
    spoiled,
)

from streamt_ol import contracts
from streamt_ol.openlineage import schemas
from streamt_ol.openlineage.facets import DATASET, JOB, by_place
from streamt_ol.problems import StreamtOlError
from streamt_ol.validation.events import check_event
from streamt_ol.validation.explain.generated import explain
from streamt_ol.validation.explain.registry import reference_validator

RANDOMS = st.randoms(use_true_random=False)
PROJECTION = fastjsonschema.compile(contracts.PROJECTION)
# No time limit: how long an example takes is not what is asserted here.
PATIENT = settings(max_examples=80)
# SQL as a macro is compiled to it, and as a model declares it.
COMPILED = compiled_sql([Dataset("source", "orders", "kafka", "orders.v1")], "m", SECRET)
DECLARED = f"SELECT '{SECRET}' FROM {{{{ source('orders') }}}} -- {SECRET}"
FLAGS = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]


def outcome(manifest: Json) -> bytes | str:
    """Return the bytes of an export, or the code that it is refused with."""
    try:
        return exported(manifest)
    except StreamtOlError as error:
        return error.code


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exports")


def commanded(content: bytes, folder: Path, envelope: bool, to_file: bool) -> tuple[Ran, bytes]:
    """Run ``streamt-ol export`` on ``content``; return also what it has written to files."""
    manifest, target = folder / "manifest.json", folder / "lineage.jsonl"
    manifest.write_bytes(content)
    target.unlink(missing_ok=True)
    output = ["--output", "json"] if envelope else []
    to = ["--output-file", str(target)] if to_file else []
    ran = streamt_ol_here(*output, "export", str(manifest), *FLAGS, *to)
    assert {path.name for path in folder.iterdir()} <= {manifest.name, target.name}
    return ran, target.read_bytes() if target.exists() else b""


class TestOrder:
    @PATIENT
    @given(projects(), RANDOMS)
    def test_no_order_of_declarations_keys_or_artifacts_changes_a_byte(
        self, project: Project, random: Random
    ) -> None:
        assert exported(reordered(project.manifest, random)) == exported(project.manifest)

    @PATIENT
    @given(broken(), RANDOMS)
    def test_what_is_refused_is_refused_in_every_order(
        self, manifest: Json, random: Random
    ) -> None:
        assert outcome(reordered(manifest, random)) == outcome(manifest)

    @PATIENT
    @given(projects())
    def test_lines_are_canonical_by_another_writer(self, project: Project) -> None:
        lines = exported(project.manifest).decode().split("\n")
        assert lines.pop() == ""  # one final newline, or nothing at all
        for line in lines:
            event = json.loads(line)
            again = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            assert line == again


class TestLineage:
    @PATIENT
    @given(projects())
    def test_every_declared_dataset_and_process_is_there_with_its_edges(
        self, project: Project
    ) -> None:
        events = [json.loads(line) for line in exported(project.manifest).splitlines()]
        datasets = [identity(event["dataset"]) for event in events if "dataset" in event]
        jobs = {
            event["job"]["name"]: (
                [identity(one) for one in event.get("inputs", ())],
                [identity(one) for one in event.get("outputs", ())],
            )
            for event in events
            if "job" in event
        }
        assert datasets == project.datasets
        assert jobs == project.jobs
        assert list(jobs) == list(project.jobs)
        assert len(events) == len(datasets) + len(jobs)


def identity(entity: Json) -> tuple[str, str]:
    return entity["namespace"], entity["name"]


class TestValidity:
    @settings(PATIENT, max_examples=40)
    @given(projects())
    def test_events_pass_the_core_their_facets_and_the_local_rules(self, project: Project) -> None:
        for line in exported(project.manifest).splitlines():
            event = json.loads(line)
            kind, place = ("DatasetEvent", DATASET) if "dataset" in event else ("JobEvent", JOB)
            reference_validator(schemas.CORE, kind).validate(event)
            for key, facet in event[place]["facets"].items():
                standard = by_place()[place][key]
                reference_validator(standard.document, standard.definition).validate(facet)
            assert check_event(event) == []
            assert explain(kind, event) == []

    @PATIENT
    @given(projects())
    def test_the_projection_keeps_its_contract(self, project: Project) -> None:
        projection = after("resolve_identities", project.manifest)
        assert PROJECTION(projection) is projection
        assert set(projection) == {"project", "event_time", "datasets", "jobs", "warnings"}


class TestSecrets:
    @PATIENT
    @given(projects())
    def test_none_passes_into_the_projection(self, project: Project) -> None:
        assert SECRET in repr(project.manifest)
        assert SECRET not in repr(after("resolve_identities", project.manifest))

    @PATIENT
    @given(projects(), st.booleans(), st.booleans())
    def test_none_comes_out_of_an_export(
        self, folder: Path, project: Project, envelope: bool, to_file: bool
    ) -> None:
        ran, written = commanded(orjson.dumps(project.manifest), folder, envelope, to_file)
        assert ran.status == 0
        assert SECRET.encode() not in ran.stdout + ran.stderr + written
        assert written == (exported(project.manifest) if to_file else b"")

    @PATIENT
    @given(broken(), st.booleans())
    def test_none_comes_out_of_a_refused_export(
        self, folder: Path, manifest: Json, envelope: bool
    ) -> None:
        ran, written = commanded(json.dumps(manifest).encode(), folder, envelope, to_file=True)
        assert SECRET.encode() not in ran.stdout + ran.stderr + written
        refused = isinstance(outcome(manifest), str)
        assert ran.status == refused
        assert not (refused and written)

    @settings(PATIENT, max_examples=300)
    @given(spoiled(COMPILED), spoiled(DECLARED))
    def test_none_comes_out_of_spoiled_sql(self, compiled: str, declared: str) -> None:
        for declaration, sql in (
            (model("m", macro="m"), compiled),
            (model("m", sql=declared), COMPILED),
        ):
            artifacts = {"topics": [owned("m")], "flink_jobs": [owned("m", sql=sql)]}
            document = manifest([source("orders")], [declaration], **artifacts)
            try:
                said = repr(after("resolve_identities", document))
            except StreamtOlError as error:
                said = repr((error.message, error.location, error.suggestion))
            assert SECRET not in said

    @PATIENT
    @given(projects(), st.data())
    def test_none_comes_out_of_a_manifest_that_is_not_json(
        self, folder: Path, project: Project, data: st.DataObject
    ) -> None:
        content = orjson.dumps(project.manifest, option=orjson.OPT_INDENT_2)
        at = data.draw(st.integers(0, len(content) - 2))
        inserted = data.draw(st.sampled_from([b"", b'"', b"{", b"\x00", b"\xff", b"\\"]))
        rest = data.draw(st.sampled_from([content[at + 1 :], b""]))
        ran, _ = commanded(content[:at] + inserted + rest, folder, False, to_file=True)
        assert SECRET.encode() not in ran.stdout + ran.stderr
        assert ran.status == (not ran.stdout)
