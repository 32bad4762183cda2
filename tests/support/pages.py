"""The pages of the documentation as a reader meets them: blocks, in order, to be executed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from support.manifests import FIXTURES

ROOT = FIXTURES.parent
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
    ],
    key=lambda page: page.relative_to(ROOT).as_posix(),
)
FENCE = re.compile(
    r"^(?:<!-- (?P<comment>[^\n]*?) -->\n)?```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
INSTALLS = ("pip install ", "pipx install ", "uv tool install ")


class Block(NamedTuple):
    """A fenced block: its language and flags, its text, the comment before it, what follows."""

    language: str
    flags: tuple[str, ...]
    text: str
    comment: str
    after: str

    @property
    def is_install(self) -> bool:
        return self.language == "sh" and self.text.startswith(INSTALLS)

    @property
    def file(self) -> str:
        """Return the name of the file that the block is to be written to, or ``""``."""
        return self.comment.removeprefix("file: ") if self.comment.startswith("file: ") else ""


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in FENCE.finditer(text):
        language, *flags = found["info"].split() or [""]
        after = text[found.end() :].lstrip("\n").partition("\n\n")[0]
        yield Block(language, tuple(flags), found["text"], found["comment"] or "", after)
