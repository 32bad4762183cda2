"""The file of `--output-file` is never one that the command reads, by whatever name."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment
from support.inprocess import streamt_ol_here
from support.manifests import FIXTURES

KAFKA = ["--kafka-namespace", "kafka://b.example:9092"]
JOBS = ["--job-namespace", "jobs"]
LINES = [
    # The command line, and what must stay as it is: the output is to be written there.
    (["export", "demo.json", *KAFKA, *JOBS], "demo.json"),
    (["export", "./demo.json", *KAFKA, *JOBS], "link.json"),
    (["export", "demo.json", *KAFKA, *JOBS], "same.json"),
    (["export", "--project-dir", "demo", *JOBS], "demo/stream_project.yml"),
    (["export", "--project-dir", "demo", *JOBS], "demo/models/more.yaml"),
    (["export", "--project-dir", "demo", *JOBS], "demo/macros/a.sql.j2"),
    (["export", "--project-dir", "demo", *JOBS], "demo/.env.dev"),
    (["graph", "demo"], "demo/stream_project.yml"),
    (["graph", "demo/stream_project.yml"], "demo/models/more.yaml"),
    (["graph", "--project-dir", "demo"], "demo/.env.dev"),
    (["graph", "demo.json", *KAFKA], "same.json"),
    (["graph", "events.jsonl"], "events.jsonl"),
    (["diff", "events.jsonl", "demo.json", *KAFKA], "demo.json"),
    (["diff", "events.jsonl", "demo"], "events.jsonl"),
    (["diff", "events.jsonl", "demo"], "demo/stream_project.yml"),
    (["validate", "events.jsonl"], "events.jsonl"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working directory with a manifest under three names, events, and a project."""
    shutil.copy(FIXTURES / "manifests" / "demo.json", tmp_path)
    shutil.copy(FIXTURES / "manifests" / "demo.expected.jsonl", tmp_path / "events.jsonl")
    shutil.copytree(FIXTURES / "projects" / "demo", tmp_path / "demo")
    for name, text in (
        ("models/more.yaml", "models: []"),
        ("macros/a.sql.j2", ""),
        (".env.dev", ""),
    ):
        (tmp_path / "demo" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "demo" / name).write_text(text)
    os.link(tmp_path / "demo.json", tmp_path / "same.json")
    (tmp_path / "link.json").symlink_to("demo.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("words", "target"), LINES, ids=str)
def test_an_input_is_not_replaced(folder: Path, words: list[str], target: str) -> None:
    before = (folder / target).read_bytes()
    ran = streamt_ol_here(*words, "--output-file", target)
    assert ran.status == 2
    assert ran.stderr.startswith(b"E500_USAGE_ERROR --output-file: ")
    assert b" is an input, and the output would replace it\n" in ran.stderr
    assert (folder / target).read_bytes() == before


@pytest.mark.parametrize("words", [["export", *KAFKA, *JOBS], ["stage", "emit"]], ids=" ".join)
def test_nor_is_standard_input(folder: Path, words: list[str]) -> None:
    state = "demo.json"
    if words[0] == "stage":
        ran = streamt_ol_here("stage", "load-manifest", "demo.json")
        state = "state.json"
        (folder / state).write_bytes(ran.stdout)
    before = (folder / state).read_bytes()
    with Path(state).open("rb") as stdin:
        done = subprocess.run(
            [PROGRAM, *words, "--output-file", state], stdin=stdin, capture_output=True,
            env=clean_environment(), check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(b"E500_USAGE_ERROR --output-file: ")
    assert (folder / state).read_bytes() == before


@pytest.mark.parametrize(
    "target", ["demo/lineage.jsonl", "demo/lineage.html", "demo/new.yml", "elsewhere.yml"]
)
def test_any_other_file_is_written(folder: Path, target: str) -> None:
    (folder / "elsewhere.yml").write_text("old")
    (folder / "demo" / "lineage.jsonl").write_text("old")
    words = ["export", "--project-dir", "demo", *KAFKA, *JOBS, "--output-file", target]
    assert streamt_ol_here(*words).status == 0
    assert (folder / target).read_text().startswith('{"dataset":')
