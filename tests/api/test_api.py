"""The commands for Python programs: values out, one kind of exception, nothing loaded early."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.manifests import FIXTURES
from support.openlineage_events import dataset_event, run_event, topic

from streamt_ol import api

MANIFESTS = FIXTURES / "manifests"
DEMO = MANIFESTS / "demo.json"
GOLDEN = (MANIFESTS / "demo.expected.jsonl").read_text("utf-8").splitlines()
NAMESPACES: dict[str, Any] = {
    "job_namespace": "https://lineage.example/ns/fixtures",
    "kafka_namespace": "kafka://broker.example:9092",
}


class TestPublic:
    def test_every_name_exists_and_no_other_is_shown(self) -> None:
        assert sorted(api.__all__) == api.__all__
        assert all(hasattr(api, name) for name in api.__all__)

    def test_the_docs_list_the_public_names(self) -> None:
        text = (FIXTURES.parent / "docs" / "python.md").read_text("utf-8")
        assert all(f"`{name}`" in text for name in api.__all__)

    def test_nothing_of_a_use_case_is_imported_before_it_is_called(self) -> None:
        script = (
            "import sys, streamt_ol.api\n"
            "print([n for n in sys.modules if n.startswith('streamt_ol.')])\n"
            "print([n for n in ('orjson', 'yaml', 'typer', 'jsonschema') if n in sys.modules])"
        )
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
        assert ran.stdout.decode().splitlines() == [
            "['streamt_ol.problems', 'streamt_ol.api']",
            "[]",
        ]

    def test_the_command_line_does_not_import_it(self) -> None:
        script = "import sys, streamt_ol.cli.export; print('streamt_ol.api' in sys.modules)"
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
        assert ran.stdout == b"False\n"


class TestExport:
    @pytest.mark.parametrize("manifest", [str(DEMO), DEMO, json.loads(DEMO.read_text())])
    def test_a_manifest_by_name_or_as_parsed(self, manifest: Any) -> None:
        exported = api.export(manifest, environ={}, **NAMESPACES)
        assert exported.lines == GOLDEN
        assert exported.events == [json.loads(line) for line in GOLDEN]
        assert exported.counts["total"] == len(GOLDEN)
        assert [w["code"] for w in exported.warnings] == ["W111_OPENLINEAGE_SINK_OUTPUT_OMITTED"]

    def test_a_project(self) -> None:
        exported = api.export(project_dir=FIXTURES / "projects" / "demo", environ={}, **NAMESPACES)
        assert exported.counts == {"total": 6, "datasets": 3, "jobs": 3}

    @pytest.mark.parametrize(
        ("arguments", "code", "location"),
        [
            ({}, "E500_USAGE_ERROR", "manifest"),
            ({"manifest": "m", "project_dir": "p"}, "E500_USAGE_ERROR", "project_dir"),
            ({"manifest": "absent.json"}, "E501_PARSE_ERROR", "absent.json"),
            ({"manifest": {"project": 1}}, "E501_PARSE_ERROR", "/project"),
            ({"manifest": "a\0b"}, "E501_PARSE_ERROR", "a\\x00b"),
            ({"project_dir": "a\0b"}, "E501_PARSE_ERROR", "a\\x00b"),
            ({"manifest": "/dev/zero"}, "E501_PARSE_ERROR", "/dev/zero"),
            ({"manifest": {"a": object()}}, "E501_PARSE_ERROR", "<manifest>"),
            ({"manifest": DEMO, "job_namespace": ""}, "E506_OPENLINEAGE_INVALID", "job_namespace"),
        ],
    )
    def test_what_is_wrong_is_one_exception(
        self, arguments: dict[str, Any], code: str, location: str
    ) -> None:
        with pytest.raises(api.StreamtOlError) as caught:
            api.export(environ={}, **{**NAMESPACES, **arguments})
        assert (caught.value.code, caught.value.location) == (code, location)


class TestValidate:
    def test_events_lines_and_files_are_the_same(self, tmp_path: Path) -> None:
        events = [dataset_event(), {**dataset_event("b"), "eventTime": "yesterday"}]
        lines = [json.dumps(event) for event in events]
        (file := tmp_path / "e.jsonl").write_text("\n".join(lines))
        sources: list[Any] = [events, iter(lines), [line.encode() for line in lines], file]
        found = [api.validate(source) for source in sources]
        for one in found:
            assert (one.valid, one.events, one.counts["error"]) == (False, 2, 1)
            [finding] = [f for f in one.findings if f.severity == "error"]
            assert (finding.location.line, finding.location.pointer) == (2, "/eventTime")
        assert [str(one.findings[0].location.file) for one in found] == [
            *["<events>"] * 3,
            str(file),
        ]

    def test_sources_are_one_stream(self) -> None:
        start, end = run_event("START"), run_event("COMPLETE")
        assert api.validate([start], [end]).valid
        assert api.validate([start], [end]).findings == ()
        alone = api.validate([start])
        assert [(f.rule, f.location.pointer) for f in alone.findings] == [("OL-R058", "/run/runId")]

    def test_rules_are_switched_off_and_warnings_taken_for_errors(self) -> None:
        wrong = {**dataset_event("b"), "eventTime": "yesterday"}
        [finding] = api.validate([wrong]).findings
        assert api.validate([wrong], ignore=[finding.rule]).valid

    def test_an_unknown_rule_and_a_missing_file_are_exceptions(self, tmp_path: Path) -> None:
        with pytest.raises(api.StreamtOlError) as caught:
            api.validate([], ignore=["OL-R999"])
        assert (caught.value.code, caught.value.location) == ("E500_USAGE_ERROR", "ignore")
        with pytest.raises(api.StreamtOlError) as caught:
            api.validate(tmp_path / "absent")
        assert caught.value.code == "E501_PARSE_ERROR"
        with pytest.raises(api.StreamtOlError) as caught:
            api.validate([{"a": object()}])
        assert caught.value.location == "<events>:1"


class TestCheck:
    def test_each_event_has_an_answer(self, tmp_path: Path) -> None:
        events: list[Any] = [dataset_event("a"), run_event("START"), "nonsense"]
        answers = api.check(events, "openmetadata")
        assert [(one.line, one.status) for one in answers] == [
            (1, "refused"),
            (2, answers[1].status),
            (3, "refused"),
        ]
        assert answers[0].reasons[0].startswith("it takes RunEvents only")
        assert [one.status for one in api.check(events[:2], "marquez")] == ["accepted", "accepted"]
        (file := tmp_path / "e.jsonl").write_text(json.dumps(events[0]))
        assert api.check(file, "marquez") == api.check(events[:1], "marquez")

    def test_what_the_events_mean_together_is_a_warning(self) -> None:
        """DataHub knows a topic by its name alone, whatever cluster it is on."""
        events = [
            run_event("START", inputs=[topic("orders") | {"namespace": f"kafka://{host}:9092"}])
            for host in ("a", "b")
        ]
        for event in events:
            event["producer"] = "https://github.com/apache/airflow/"
        (warning,) = api.check(events, "datahub").warnings
        assert warning["message"].endswith("is one dataset in DataHub: 'orders'")
        assert api.check(events[:1], "datahub").warnings == []
        assert api.check(events, "marquez").warnings == []

    def test_an_unknown_receiver_is_an_exception(self) -> None:
        with pytest.raises(api.StreamtOlError) as caught:
            api.check([], "nobody")
        assert (caught.value.code, caught.value.location) == ("E500_USAGE_ERROR", "receiver")


class TestGraphAndDiff:
    def test_nodes_and_edges_of_an_export(self) -> None:
        exported = api.export(DEMO, environ={}, **NAMESPACES)
        drawn = api.graph(exported.events)
        assert isinstance(drawn, api.Graph)
        jobs = [event for event in exported.events if "job" in event]
        ends = sum(len(e.get("inputs", [])) + len(e.get("outputs", [])) for e in jobs)
        assert len(drawn.edges) == ends
        assert drawn == api.graph(exported.lines)

    def test_a_dataset_that_is_gone(self, tmp_path: Path) -> None:
        old, new = [dataset_event("a"), dataset_event("b")], [dataset_event("a")]
        (file := tmp_path / "old.jsonl").write_text("\n".join(map(json.dumps, old)))
        for one in (old, file, api.graph(old)):
            difference = api.diff(one, new)
            assert isinstance(difference, api.Difference)
            [change] = difference.changes
            assert (change.kind, change.key.name) == ("dataset-removed", "b")
        assert api.diff(new, new).changes == ()

    def test_what_is_not_an_event_is_an_exception_with_its_line(self) -> None:
        with pytest.raises(api.StreamtOlError) as caught:
            api.graph([dataset_event("a"), "{"])
        assert (caught.value.code, caught.value.location) == ("E501_PARSE_ERROR", "<events>:2")
