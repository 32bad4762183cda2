"""The examples are executed as their readers would: the steps of the workflow, the nightly script.

``examples/vast_dataengine`` has its tests in ``tests/runs/test_example.py``.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.commands import PROGRAM, clean_environment
from support.delivery.servers import Server
from support.pages import ROOT

EXAMPLES = ROOT / "examples"
SCRIPT = EXAMPLES / "scheduled_validation" / "validate-lineage.sh"
VALID = (ROOT / "fixtures" / "manifests" / "demo.expected.jsonl").read_bytes()
BROKEN = (ROOT / "fixtures" / "events" / "broken.jsonl").read_bytes()


def run(command: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, cwd=cwd, env=clean_environment(PATH=path, **environment), check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
    )  # fmt: skip


def test_each_has_a_row_in_the_readme() -> None:
    rows = re.findall(r"^\| \[(\w+)\]", (EXAMPLES / "README.md").read_text("utf-8"), re.MULTILINE)
    assert rows == sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())


class TestWorkflow:
    @pytest.fixture
    def workflow(self) -> dict[str, Any]:
        loaded: dict[str, Any] = yaml.safe_load(
            (EXAMPLES / "ci_of_a_project" / "lineage.yml").read_bytes()
        )
        return loaded

    @pytest.fixture
    def steps(self, workflow: dict[str, Any]) -> dict[str, str]:
        steps = workflow["jobs"]["lineage"]["steps"]
        return {step["name"]: step["run"] for step in steps if "run" in step}

    @pytest.fixture
    def project(self, tmp_path: Path, workflow: dict[str, Any]) -> Path:
        shutil.copytree(ROOT / "fixtures" / "projects" / "demo", tmp_path / "project")
        command = ["streamt-ol", "export", "--project-dir", ".", "--output-file", "lineage.jsonl"]
        assert run(command, tmp_path / "project", **workflow["env"]).returncode == 0
        return tmp_path / "project"

    def test_the_steps_pass_for_a_current_export(
        self, workflow: dict[str, Any], steps: dict[str, str], project: Path, tmp_path: Path
    ) -> None:
        assert steps.pop("Install") == "pip install streamt-ol"  # see test_install.py
        with Server(tmp_path / "server") as server:
            environment = {**workflow["env"], "MARQUEZ_URL": server.url}
            for step in steps.values():
                ran = run(["bash", "-e", "-c", step], project, **environment)
                assert ran.returncode == 0, ran.stdout
            assert len(server.bodies()) == 6

    def test_a_changed_project_fails(
        self, workflow: dict[str, Any], steps: dict[str, str], project: Path
    ) -> None:
        file = project / "stream_project.yml"
        file.write_text(file.read_text("utf-8").replace("dispatch-team", "fleet-team"))
        check = steps["The committed lineage is what the project declares"]
        ran = run(["bash", "-e", "-c", check], project, **workflow["env"])
        assert ran.returncode == 1
        assert "'dispatch-team' -> 'fleet-team'" in ran.stdout


class TestScheduledValidation:
    def night(self, folder: Path) -> tuple[int, str]:
        ran = run([str(SCRIPT), "events of the day", "state"], folder)
        return ran.returncode, ran.stdout

    def test_valid_events_once_and_nothing_new(self, tmp_path: Path) -> None:
        events = tmp_path / "events of the day"
        events.mkdir()
        (events / "a.jsonl.gz").write_bytes(gzip.compress(VALID))
        (events / "b c.jsonl").write_bytes(VALID)
        status, text = self.night(tmp_path)
        assert status == 0
        assert text.startswith("valid: 12 events")
        assert self.night(tmp_path) == (0, "no new events in events of the day\n")
        assert {path.name for path in (tmp_path / "state").iterdir()} == {
            "report.xml", "stamp", "summary.txt"
        }  # fmt: skip

    def test_faults_are_printed_until_they_are_gone(self, tmp_path: Path) -> None:
        events = tmp_path / "events of the day"
        events.mkdir()
        (events / "broken.jsonl").write_bytes(BROKEN)
        for _night in range(2):
            status, text = self.night(tmp_path)
            assert status == 1
            assert "events of the day/broken.jsonl:4: error OL-R012 /job/name" in text
        assert b"OL-R012" in (tmp_path / "state" / "report.xml").read_bytes()
        (events / "broken.jsonl").unlink()
        assert self.night(tmp_path)[0] == 0
