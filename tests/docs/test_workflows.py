"""The workflows are valid YAML whose commands, options, versions and files exist."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.pages import PAGES, ROOT, blocks, name

WORKFLOWS = [
    *sorted((ROOT / ".github" / "workflows").glob("*.yml")),
    ROOT / "examples" / "ci_of_a_project" / "lineage.yml",
]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PINNED = re.compile(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# Whoever runs it chooses where packages come from.
HOSTS = re.compile(r"\b(pypi\.org|pythonhosted\.org|npmjs\.(com|org)|crates\.io|golang\.org)\b")


def read(workflow: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load(workflow.read_bytes(), yaml.BaseLoader)
    return loaded


def steps(workflow: Path) -> Iterator[dict[str, Any]]:
    for job in read(workflow)["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=name)
class TestWorkflows:
    def test_has_the_form_of_a_workflow(self, workflow: Path) -> None:
        loaded = read(workflow)
        assert {"name", "on", "jobs", "permissions"} <= loaded.keys()
        for job in loaded["jobs"].values():
            assert job["runs-on"]
            assert set(job.get("needs", "").split()) <= loaded["jobs"].keys()
            for step in job["steps"]:
                assert ("run" in step) != ("uses" in step), step

    def test_actions_are_pinned(self, workflow: Path) -> None:
        for step in steps(workflow):
            if "uses" in step:
                assert PINNED.fullmatch(step["uses"]), step["uses"]

    def test_targets_exist(self, workflow: Path) -> None:
        for step in steps(workflow):
            for target in re.findall(r"^make (\S+)$", step.get("run", ""), re.MULTILINE):
                assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
            if step.get("run", "").startswith("."):
                assert os.access(ROOT / step["run"], os.X_OK), step["run"]

    def test_options_exist(self, workflow: Path) -> None:
        for step in steps(workflow):
            for command, rest in re.findall(r"streamt-ol (\w+)\b(.*)", step.get("run", "")):
                text = streamt_ol(command, "--help", environment={"COLUMNS": "200"}).stdout.decode()
                for option in re.findall(r"--[a-z][a-z-]+", rest):
                    assert option in text, (command, option)


def test_every_supported_python_is_tested() -> None:
    supported = [row.rpartition(" ")[2] for row in PROJECT["classifiers"]
                 if re.search(r":: 3\.\d+$", row)]  # fmt: skip
    assert read(WORKFLOWS[0])["jobs"]["test"]["strategy"]["matrix"]["python"] == supported
    assert read(WORKFLOWS[1])["jobs"]["test-wheel"]["strategy"]["matrix"]["python"] == supported


def test_only_the_publishing_job_has_an_identity_and_none_has_a_secret() -> None:
    release = read(WORKFLOWS[1])
    identified = [job for job, row in release["jobs"].items() if "permissions" in row]
    assert identified == ["publish"]
    assert release["jobs"]["publish"]["needs"] == "test-wheel"
    for workflow in WORKFLOWS:
        assert "secrets." not in workflow.read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_snippets_of_the_pages_are_yaml(page: Path) -> None:
    for block in blocks(page):
        if block.language == "yaml":
            yaml.safe_load(block.text)


def test_no_registry_is_named() -> None:
    named = [ROOT / "Makefile", ROOT / "action.yml", ROOT / "pyproject.toml", ROOT / "mkdocs.yml"]
    for file in [*PAGES, *WORKFLOWS, *named]:
        assert not HOSTS.search(file.read_text("utf-8")), file


class TestAction:
    """The step of ``action.yml`` that validates, run as GitHub runs it."""

    def validate(self, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
        action = yaml.safe_load((ROOT / "action.yml").read_bytes())
        [step] = [step for step in action["runs"]["steps"] if step["name"] == "Validate"]
        program = folder / "temp" / "streamt-ol" / "bin"
        program.mkdir(parents=True, exist_ok=True)
        if not (program / "streamt-ol").exists():
            (program / "streamt-ol").symlink_to(PROGRAM)
        given = {name: str(row.get("default", "")) for name, row in action["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        environment = {
            variable: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: given[m[1]], value)
            for variable, value in step["env"].items()
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder, env=clean_environment(RUNNER_TEMP=str(folder / "temp"), **environment),
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def test_patterns_options_and_annotations(self, tmp_path: Path) -> None:
        events = tmp_path / "lineage" / "deep"
        events.mkdir(parents=True)
        valid = (ROOT / "fixtures" / "manifests" / "demo.expected.jsonl").read_bytes()
        (events / "a.jsonl").write_bytes(valid)
        (events / "b.jsonl").write_bytes(valid)
        ran = self.validate(tmp_path, files="lineage/**/*.jsonl", strict="true")
        assert ran.returncode == 0, ran.stderr
        shutil.copy(ROOT / "fixtures" / "events" / "broken.jsonl", events / "b.jsonl")
        ran = self.validate(tmp_path, files="lineage/**/*.jsonl")
        assert ran.returncode == 1
        assert "::error file=lineage/deep/b.jsonl,line=4," in ran.stdout
        ran = self.validate(tmp_path, files="lineage/deep/b.jsonl", ignore="OL-R012 OL-R013",
                            format="jsonl", output_file="report.jsonl")  # fmt: skip
        assert ran.returncode == 1
        report = (tmp_path / "report.jsonl").read_text("utf-8")
        assert "OL-R030" in report
        assert "OL-R012" not in report
