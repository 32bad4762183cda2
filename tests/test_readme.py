"""The README is executed: its command blocks run, its tables and its output are the program's."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment, streamt_ol
from support.manifests import FIXTURES

from streamt_ol.cli.app import COMMANDS
from streamt_ol.problems import ERRORS, WARNINGS

ROOT = FIXTURES.parent
README = (ROOT / "README.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BASH = [text for language, text in BLOCK.findall(README) if language == "bash"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder like the root of the repository, with the README's own module in it."""
    for name in ("fixtures", "examples", "docs"):
        if (ROOT / name).exists():
            (tmp_path / name).symlink_to(ROOT / name)
    [module] = [text for language, text in BLOCK.findall(README) if "with_tags" in text
                and language == "python"]  # fmt: skip
    (tmp_path / "tagged.py").write_text(module)
    return tmp_path


def run(block: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block], cwd=folder, capture_output=True, text=True,
        env=clean_environment(PATH=path), timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("block", BASH, ids=[block.split("\n")[0][:60] for block in BASH])
def test_command_blocks_run(block: str, folder: Path) -> None:
    ran = run(block, folder)
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_worked_example_prints_what_the_readme_shows(folder: Path) -> None:
    ran = run(BASH[0], folder)
    assert ran.stderr in README
    [shown] = [text for language, text in BLOCK.findall(README) if language == "json"
               and '"streamt/ride-hailing/models/trips_clean"' in text]  # fmt: skip
    last = (folder / "lineage.jsonl").read_text("utf-8").splitlines()[-1]
    assert json.loads(shown) == json.loads(last)
    assert "".join(line.strip() for line in shown.splitlines()) == last


def test_the_tables_of_codes_are_those_of_the_program() -> None:
    rows = re.findall(
        r"^\| `([EW]\d\d\d_\w+)` \| (.*?) \| (\d+) \| (.*?) \|$", README, re.MULTILINE
    )
    table = {**ERRORS, **WARNINGS}
    assert {code: (meaning, int(status), remedy) for code, meaning, status, remedy in rows} == {
        code: tuple(row) for code, row in table.items()
    }
    assert len(rows) == len(table)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_stands_in_it(command: str) -> None:
    assert f"### `streamt-ol {command}" in README
    section = README.split(f"### `streamt-ol {command}")[1].split("\n##")[0]
    environment = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    text = streamt_ol(command, "--help", environment=environment).stdout.decode()
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {"--help"}
    assert {option for option in options if option not in section} == set()


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [e for name, e in project["optional-dependencies"].items() if name != "dev"]
    needed = [*project["dependencies"], *(one for extra in extras for one in extra)]
    section = README.split("## Dependencies")[1].split("\n## ")[0]
    for dependency in needed:
        name = re.match(r"[\w-]+", dependency)
        assert name is not None
        assert re.search(rf"^\|[^|]*\b{name[0]}\b", section, re.MULTILINE), name[0]
