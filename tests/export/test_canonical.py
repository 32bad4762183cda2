"""Export as a use case: options become canonical events, in this process."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest
from support.manifests import FIXTURES

from streamt_ol.export.canonical import canonical_state, write
from streamt_ol.export.options import ExportOptions
from streamt_ol.problems import INVALID, PARSE, USAGE, StreamtOlError
from streamt_ol.stages.canonicalize import canonicalize

DEMO = str(FIXTURES / "manifests" / "demo.json")
GOLDEN = (FIXTURES / "manifests" / "demo.expected.jsonl").read_bytes()
NAMESPACES = {
    "job_namespace": "https://lineage.example/ns/fixtures",
    "kafka_namespace": "kafka://broker.example:9092",
}
PROJECT = """
project: {name: p}
runtime: {kafka: {bootstrap_servers: "b.example:9092"}}
sources: [{name: orders, topic: orders.v1}]
"""


class TestCanonicalState:
    def test_its_lines_are_the_golden_ones_with_their_events_counts_and_warnings(self) -> None:
        state = canonical_state(ExportOptions(manifest=DEMO, **NAMESPACES), {})
        lines = GOLDEN.decode().splitlines()
        assert state["lines"] == lines
        assert state["events"] == [json.loads(line) for line in lines]
        assert state["counts"] == {"total": 6, "datasets": 3, "jobs": 3}
        assert [w["code"] for w in state["warnings"]] == ["W111_OPENLINEAGE_SINK_OUTPUT_OMITTED"]

    def test_a_variable_stands_in_for_an_option_and_an_error_names_it(self) -> None:
        options = ExportOptions(manifest=DEMO, kafka_namespace="kafka://broker.example:9092")
        variable = "OPENLINEAGE_NAMESPACE"
        state = canonical_state(options, {variable: "https://lineage.example/ns/fixtures"})
        assert state["lines"] == GOLDEN.decode().splitlines()
        with pytest.raises(StreamtOlError) as caught:
            canonical_state(options, {variable: ""})
        assert (caught.value.code, caught.value.location) == (INVALID, "job_namespace")
        assert variable in str(caught.value.suggestion)

    def test_a_project_is_read_with_the_environment_given(self, tmp_path: Path) -> None:
        text = PROJECT.replace("b.example:9092", "${BROKERS}")
        (tmp_path / "stream_project.yml").write_text(text)
        options = ExportOptions(project_dir=str(tmp_path), job_namespace="jobs")
        state = canonical_state(options, {"BROKERS": "b.example:9092"})
        [event] = state["events"]
        assert event["dataset"]["namespace"] == "kafka://b.example:9092"
        assert event["dataset"]["name"] == "orders.v1"
        [warning] = state["warnings"]
        assert warning["location"].startswith("stream_project.yml:4 ")

    def test_a_fault_has_its_location(self, tmp_path: Path) -> None:
        file = tmp_path / "m.json"
        file.write_text("{}\n{")
        with pytest.raises(StreamtOlError) as caught:
            canonical_state(ExportOptions(manifest=str(file), **NAMESPACES), {})
        assert (caught.value.code, caught.value.location) == (PARSE, f"{file}:2")

    def test_a_stage_is_replaced_by_a_callable(self) -> None:
        def nothing(state: dict[str, Any]) -> dict[str, Any]:
            return {"events": [], "warnings": []}

        options = ExportOptions(manifest=DEMO, **NAMESPACES)
        assert canonical_state(options, {}, {"build_facets": nothing})["lines"] == []

    @pytest.mark.parametrize("enabled", [True, False])
    def test_the_collector_is_left_as_it_was(self, enabled: bool) -> None:
        (gc.enable if enabled else gc.disable)()
        try:
            canonical_state(ExportOptions(manifest=DEMO, **NAMESPACES), {})
            assert gc.isenabled() is enabled
        finally:
            gc.enable()


class TestCanonicalize:
    @pytest.mark.parametrize("value", [2**64, {1, 2}, "\ud800", {5: 1}])
    def test_what_json_has_no_form_for_is_an_error_at_its_event(self, value: object) -> None:
        """Only a user's own stage in this process could hand it on."""
        found = [event(name, value if name == "a" else 1) for name in ("b", "a", "c")]
        with pytest.raises(StreamtOlError) as caught:
            canonicalize({"events": found, "warnings": []})
        assert (caught.value.code, caught.value.location) == (INVALID, "/events/1")

    def test_order_and_keys_are_those_of_code_points(self) -> None:
        """No collation: capitals first, and what UTF-16 would turn round as UTF-8 has it."""
        names = ["b", "Z", "é", "\U00010000", "\uffff", "a"]
        state = canonicalize({"events": [event(name, 1) for name in names], "warnings": []})
        expected = ["Z", "a", "b", "é", "\uffff", "\U00010000"]
        assert [one["dataset"]["name"] for one in state["events"]] == expected
        keyed = canonicalize({"events": [event("a", dict.fromkeys(names, 1))], "warnings": []})
        found = json.loads(keyed["lines"][0])["dataset"]["facets"]["x"]
        assert list(found) == expected


def event(name: str, value: object) -> dict[str, Any]:
    return {"dataset": {"namespace": "n", "name": name, "facets": {"x": value}}}


class TestWrite:
    def test_to_a_file_or_a_sink_or_only_counted(self, tmp_path: Path) -> None:
        state = canonical_state(ExportOptions(manifest=DEMO, **NAMESPACES), {})
        written: list[bytes] = []
        assert write(state, written.extend)["output_file"] is None
        assert b"".join(written) == GOLDEN
        file = tmp_path / "lines.jsonl"
        assert write(state, None, file)["output_file"] == str(file)
        assert file.read_bytes() == GOLDEN
        assert write(state, None)["bytes"] == len(GOLDEN)


class TestOptions:
    @pytest.mark.parametrize(
        ("given", "location"),
        [
            ({}, "manifest"),
            ({"manifest": "m.json", "project_dir": "p"}, "project_dir"),
            ({"manifest": "m.json", "env": "dev"}, "env"),
        ],
    )
    def test_exactly_one_source_is_given(self, given: dict[str, str], location: str) -> None:
        with pytest.raises(StreamtOlError) as caught:
            ExportOptions(**given)
        assert (caught.value.code, caught.value.location) == (USAGE, location)
