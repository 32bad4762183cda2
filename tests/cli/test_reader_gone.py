"""A reader of our output that goes away, as `head` does, changes no exit status."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment
from support.manifests import FIXTURES

DEMO = str(FIXTURES / "manifests" / "demo.json")
NAMESPACES = ["--job-namespace", "jobs", "--kafka-namespace", "kafka://b.example:9092"]


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the name of a file of as many faulty events as no pipe holds the report of."""
    path = tmp_path_factory.mktemp("events") / "faulty.jsonl"
    path.write_text("{}\n" * 5_000)
    return str(path)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the name of a file of many valid datasets."""
    template = json.loads(
        (FIXTURES / "manifests" / "demo.expected.jsonl").read_text().split("\n")[0]
    )
    path = tmp_path_factory.mktemp("events") / "many.jsonl"
    with path.open("w") as file:
        for number in range(3_000):
            template["dataset"]["name"] = f"dataset-{number}"
            file.write(json.dumps(template) + "\n")
    return str(path)


def ended(*arguments: str) -> tuple[int, bytes]:
    """Return the status and stderr of a command whose stdout nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ran = subprocess.run(
            [PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.PIPE,
            env=clean_environment(), timeout=120, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    return ran.returncode, ran.stderr


@pytest.mark.parametrize("form", ["text", "jsonl", "sarif", "junit", "github", "json"])
def test_validate_tells_invalid_from_valid(faulty: str, many: str, form: str) -> None:
    assert ended("validate", faulty, "-f", form, "--max-problems", "9999") == (1, b"")
    assert ended("validate", many, "-f", form) == (0, b"")


def test_the_envelope_too(faulty: str) -> None:
    assert ended("--output", "json", "validate", faulty, "--max-problems", "9999") == (1, b"")
    assert ended("--output", "json", "check", faulty, "--for", "marquez") == (1, b"")
    assert ended("--output", "json", "export", "absent.json") == (1, b"")


@pytest.mark.parametrize("receiver", ["marquez", "all"])
def test_check_judges_the_last_event_too(many: str, tmp_path: Path, receiver: str) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text(Path(many).read_text() + "{}\n")
    assert ended("check", str(events), "--for", receiver) == (1, b"")
    assert ended("check", many, "--for", "marquez") == (0, b"")


def test_diff_says_why_it_fails(many: str) -> None:
    status, told = ended("diff", many, os.devnull, "--fail-on", "dataset-removed")
    assert (status, told) == (
        1, b"E506_OPENLINEAGE_INVALID --fail-on: 3,000 changes: 3,000 dataset-removed\n",
    )  # fmt: skip
    assert ended("diff", many, os.devnull, "--fail-on", "job-removed") == (0, b"")
    assert ended("--output", "json", "diff", many, os.devnull, "--exit-code") == (1, b"")


def test_check_of_an_export_says_that_it_is_not_current(many: str) -> None:
    status, told = ended("export", DEMO, *NAMESPACES, "--check", many)
    assert status == 1
    assert b"the export is not current" in told


def test_what_has_no_verdict_is_done(many: str) -> None:
    assert ended("export", DEMO, *NAMESPACES, "--quiet") == (0, b"")
    assert ended("stage", "load-manifest", DEMO) == (0, b"")
    assert ended("graph", many, "--format", "json") == (0, b"")
    assert ended("schemas") == (0, b"")
    assert ended("--help") == (0, b"")
    assert ended("--version") == (0, b"")
