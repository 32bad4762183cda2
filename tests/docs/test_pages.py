"""Every shell block of README and docs is executed, and what it is said to print is compared."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.commands import PROGRAM, clean_environment
from support.delivery.servers import Broker, Server
from support.pages import PAGES, ROOT, Block, blocks, name

from streamt_ol.cli import plain
from streamt_ol.cli.commands import load
from streamt_ol.cli.parameters import declared

# `bash` and the like would be blocks that nothing executes.
LANGUAGES = {"sh", "text", "json", "yaml", "python", "mermaid", "toml", "dockerfile", "ini"}
FLAGS = {(), ("no-run",)}
SAID = re.compile(r"\*(Not run|Run)\b")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that is a streamt project, with this repository's samples in it."""
    shutil.copytree(ROOT / "fixtures" / "projects" / "demo", tmp_path / "project")
    for sample in ("fixtures", "examples"):
        (tmp_path / "project" / sample).symlink_to(ROOT / sample)
    return tmp_path / "project"


class Servers:
    """The servers behind the variables that blocks use, each started when a page names it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stack = ExitStack()
        self.addresses: dict[str, str] = {}

    def environment(self, block: Block) -> dict[str, str]:
        """Return the variables so far, with those that ``block`` names."""
        for variable in set(re.findall(r"\$(\w+_URL|KAFKA_BOOTSTRAP)\b", block.text)):
            if variable not in self.addresses:
                self.addresses[variable] = self.start(variable)
        return self.addresses

    def start(self, variable: str) -> str:
        if variable == "KAFKA_BOOTSTRAP":
            return self.stack.enter_context(Broker()).bootstrap
        # A server that takes whatever it is sent.
        return self.stack.enter_context(Server(self.folder / variable)).url


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    servers = Servers(tmp_path)
    with servers.stack:
        yield servers


def run(block: Block, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        stdin=subprocess.DEVNULL, env=clean_environment(PATH=path, **environment),
        timeout=120, check=False,
    )  # fmt: skip


def runs(block: Block) -> bool:
    return block.language == "sh" and "no-run" not in block.flags and not block.is_install


@pytest.mark.parametrize("page", [p for p in PAGES if any(map(runs, blocks(p)))], ids=name)
def test_the_page_does_what_it_shows(page: Path, folder: Path, servers: Servers) -> None:
    printed = None
    for block in blocks(page):
        if block.file:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text, "utf-8")
        elif block.comment == "output":
            assert printed == block.text
        elif block.comment.startswith("output of: "):
            command = block._replace(text=block.comment.removeprefix("output of: "))
            assert run(command, folder).stdout == block.text
        elif runs(block):
            ran = run(block, folder, **servers.environment(block))
            printed = ran.stdout
            assert ran.returncode == 0, (block.text, printed)
            assert "Traceback" not in printed


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_blocks_have_a_known_form(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, block
        assert block.flags in FLAGS, block
        if "no-run" in block.flags:
            assert SAID.match(block.after), f"nothing says whether this was run: {block.text}"
        if block.language == "json":
            json.loads(block.text)
        if block.language == "python":
            compile(block.text, name(page), "exec")


def shown_only(page: Path) -> list[str]:
    """Return the command lines that a page shows and no test executes."""
    shown = [block for block in blocks(page) if block.language in {"sh", "text"}]
    texts = [block.text.replace("\\\n", " ") for block in shown if not runs(block)]
    return [line for text in texts for line in re.findall(r"streamt-ol ([a-z]+ -?[^|\n]+)", text)]


@pytest.mark.parametrize("page", [p for p in PAGES if shown_only(p)], ids=name)
def test_a_command_line_that_is_only_shown_can_be_read(page: Path) -> None:
    for line in shown_only(page):
        name, *words = shlex.split(line)
        command, parsing = load(name)
        assert plain.read(declared(command), parsing, words) is not None, line


def test_the_export_is_the_one_shown(folder: Path) -> None:
    page = list(blocks(ROOT / "docs" / "commands" / "export.md"))
    [command] = [block for block in page if "export fixtures/manifests/demo.json" in block.text]
    assert run(command, folder).returncode == 0
    [shown] = [block.text for block in page if block.language == "json"
               and '"streamt/ride-hailing/models/trips_clean"' in block.text]  # fmt: skip
    lines = (folder / "lineage.jsonl").read_text("utf-8").splitlines()
    assert "".join(line.strip() for line in shown.splitlines()) in lines
