"""Patterns of files mean what the standard library's say, but for links to folders."""

from __future__ import annotations

import os
from glob import glob
from pathlib import Path

import pytest

from streamt_ol.reading.patterns import files_matching

NAMES = (
    "a.jsonl", "b.json", ".hidden.jsonl", "x/a.jsonl", "x/[1].jsonl", "x/y/b.jsonl",
    "x/y/z/c.jsonl", "x/.git/d.jsonl", "\u00fc/e.jsonl",
)  # fmt: skip
PATTERNS = (
    "*", "*.jsonl", "?.jsonl", "[ab].json*", "[!a].json", "x/*", "*/*.jsonl", "**", "**/*.jsonl",
    "**/*", "x/**", "x/**/b.jsonl", "**/y/**/*.jsonl", ".*", "**/.git/*", "x//*", "./*", "x/../*",
    "no/*", "no/**", "a.jsonl/*", "a.jsonl/**", "x/[[]1].jsonl", "*/", "[", "[a", "**/**",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_what_the_standard_library_says(pattern: str, folder: Path) -> None:
    for given in (pattern, f"{folder}/{pattern}"):
        expected = {name for name in glob(given, recursive=True) if os.path.isfile(name)}
        assert files_matching(given) == sorted(expected)


def test_a_folder_that_cannot_be_listed_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scandir(name: str) -> object:
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(os, "listdir", scandir)
    for pattern in ("*", "x/**"):
        with pytest.raises(PermissionError):
            files_matching(pattern)
