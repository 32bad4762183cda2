"""The blocks that install: in a fresh home, against the wheel of this repository, no network."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from support import wheelhouse
from support.commands import clean_environment
from support.pages import PAGES, Block, blocks, name

pytestmark = pytest.mark.xdist_group("packaging")
INSTALLS = [
    pytest.param(block, id=f"{name(page)}: {block.text.splitlines()[0]}")
    for page in PAGES for block in blocks(page) if block.is_install
]  # fmt: skip


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wheel = wheelhouse.build(tmp_path_factory.mktemp("wheel"))
    wheelhouse.fill(wheel.parent)
    return wheel.parent


@pytest.fixture
def home(tmp_path: Path, wheels: Path) -> dict[str, str]:
    """The variables of somebody with a fresh environment, with pip, pipx and uv on the path."""
    venv.create(tmp_path / "env", with_pip=True)
    ours = Path(sys.executable).parent
    for tool in ("pipx", "uv", "uvx"):
        (tmp_path / "env" / "bin" / tool).symlink_to(ours / tool)
    own = [tmp_path / "env" / "bin", tmp_path / "pipx" / "bin"]
    return clean_environment(
        HOME=str(tmp_path),
        PATH=os.pathsep.join([*map(str, own), "/usr/bin", "/bin"]),
        PIP_CONFIG_FILE=os.devnull, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels),
        PIPX_HOME=str(tmp_path / "pipx"), PIPX_BIN_DIR=str(tmp_path / "pipx" / "bin"),
        PIPX_DEFAULT_PYTHON=sys.executable,
        UV_NO_CONFIG="1", UV_NO_INDEX="1", UV_FIND_LINKS=str(wheels), UV_OFFLINE="1",
        UV_CACHE_DIR=str(tmp_path / "cache"), UV_PYTHON=sys.executable,
    )  # fmt: skip


def run(script: str, home: dict[str, str]) -> str:
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=home["HOME"], env=home, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=200, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


@pytest.mark.parametrize("block", INSTALLS)
def test_the_command_is_there_afterwards(block: Block, home: dict[str, str]) -> None:
    printed = run(f"{block.text}\nstreamt-ol --version\ncommand -v streamt-ol", home)
    version, where = printed.splitlines()[-2:]
    assert version.startswith("streamt-ol ")
    assert where.startswith(home["HOME"])


def test_uvx_runs_it_without_installing(home: dict[str, str]) -> None:
    assert run("uvx streamt-ol --version", home).splitlines()[-1].startswith("streamt-ol ")
