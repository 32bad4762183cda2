"""Files and objects under one name: measured, opened from an offset, listed, refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from streamt_ol.problems import PARSE, StreamtOlError
from streamt_ol.reading import storage
from streamt_ol.reading.expansion import expanded
from streamt_ol.reading.opening import open_input

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("s3://bucket/a.jsonl", "s3"),
        ("S3://bucket/a.jsonl", "s3"),
        ("gs://bucket/a", "gs"),
        ("abfss://box@account.dfs.core.windows.net/a", "abfss"),
        ("events.jsonl", None),
        ("/data/events.jsonl", None),
        ("C:\\events.jsonl", None),
        ("://", None),
        ("-", None),
    ],
)
def test_a_scheme_makes_an_object(name: str, scheme: str | None) -> None:
    assert storage.scheme_of(name) == scheme


def test_an_unknown_store_is_refused_by_name() -> None:
    with pytest.raises(StreamtOlError) as caught:
        storage.scheme_of("ftp://user:secret@host/a.jsonl")
    assert caught.value.code == PARSE
    assert "ftp://" in caught.value.message
    assert "secret" not in str(caught.value.record())


def test_a_file_is_opened_from_an_offset(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"0123456789")
    with open_input(str(file), 4) as stream:
        assert stream.read() == b"456789"


def test_the_mark_changes_when_a_file_is_written(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"one")
    before = storage.version(str(file))
    file.write_bytes(b"two")
    os.utime(file, ns=(1, 1))
    after = storage.version(str(file))
    assert (before.size, after.size, after.mark) == (3, 3, f"{file.stat().st_ino}:1")
    assert not storage.is_same(before, after)
    file.write_bytes(b"and more")
    assert storage.is_same(before, storage.version(str(file)))


def test_a_relative_name_becomes_absolute_and_an_object_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert storage.absolute("a.jsonl") == str(tmp_path / "a.jsonl")
    assert storage.absolute("s3://b/a.jsonl") == "s3://b/a.jsonl"


class TestExpanded:
    """The files that a folder, a pattern or a name means, and their order."""

    @pytest.fixture
    def archive(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        for name in (
            *("b.jsonl", "a.jsonl.gz", "x/c.ndjson.zst", "x/_tmp/d.jsonl", "notes.txt"),
            *(".hidden.jsonl", "_SUCCESS", "x/_part.jsonl", "z.json", "odd[1].jsonl"),
        ):
            file = tmp_path / "archive" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"{}\n")
        (tmp_path / "empty").mkdir()
        monkeypatch.chdir(tmp_path)
        return tmp_path

    @pytest.mark.parametrize(
        ("names", "expected"),
        [
            (
                ["archive"],
                ["archive/a.jsonl.gz", "archive/b.jsonl", "archive/odd[1].jsonl",
                 "archive/x/c.ndjson.zst", "archive/z.json"],
            ),
            (["archive/"], ["archive/a.jsonl.gz", "archive/b.jsonl", "archive/odd[1].jsonl",
                            "archive/x/c.ndjson.zst", "archive/z.json"]),
            (["archive/*.jsonl"], ["archive/b.jsonl", "archive/odd[1].jsonl"]),
            (["archive/**/*.zst"], ["archive/x/c.ndjson.zst"]),
            (["archive/odd[1].jsonl"], ["archive/odd[1].jsonl"]),
            (["archive/notes.txt", "-"], ["archive/notes.txt", "-"]),
            (["archive/_SUCCESS"], ["archive/_SUCCESS"]),
            (["absent.jsonl"], ["absent.jsonl"]),
            (["archive/z.json", "archive/b.jsonl"], ["archive/z.json", "archive/b.jsonl"]),
        ],
    )  # fmt: skip
    def test_means(self, archive: Path, names: list[str], expected: list[str]) -> None:
        assert expanded(names) == expected

    @pytest.mark.parametrize(
        ("name", "words"),
        [("empty", "holds no file"), ("archive/*.csv", "no file matches this pattern")],
    )
    def test_nothing_is_an_error(self, archive: Path, name: str, words: str) -> None:
        with pytest.raises(StreamtOlError) as caught:
            expanded([name])
        assert caught.value.code == PARSE
        assert words in caught.value.message
        assert caught.value.location == name
