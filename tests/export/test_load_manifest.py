"""The first stage: every way in which bytes are no manifest, with its code and place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.manifests import shop

from streamt_ol.problems import PARSE, StreamtOlError
from streamt_ol.reading import strict_json
from streamt_ol.stages.load_manifest import LoadManifest

MANIFEST = b'{"project": "p"}'


def load(data: bytes, name: str = "m.json") -> dict[str, Any]:
    return LoadManifest(lambda _: data)({"options": {"manifest": name}})


class TestLoadManifest:
    def test_returns_the_other_options_and_the_manifest_as_parsed(self) -> None:
        state = {"options": {"manifest": "m.json", "job_namespace": "ns"}}
        assert LoadManifest(lambda _: MANIFEST)(state) == {
            "options": {"job_namespace": "ns"},
            "manifest": {"project": "p"},
        }

    def test_reads_the_file_that_the_options_name_and_a_pipe_otherwise(self) -> None:
        asked: list[str] = []
        stage = LoadManifest(lambda name: asked.append(name) or MANIFEST)  # type: ignore[func-returns-value]
        stage({"options": {"manifest": "a.json"}})
        stage({"options": {}})
        assert asked == ["a.json", "-"]

    def test_a_byte_order_mark_is_accepted(self) -> None:
        assert load(b"\xef\xbb\xbf" + MANIFEST)["manifest"] == {"project": "p"}

    def test_unknown_keys_and_nulls_are_accepted_everywhere(self) -> None:
        manifest = shop()
        manifest.update(future={"x": 1}, tests=None, exposures=None, dag=None)
        manifest["models"][0].update(contract=None, from_=None, future=[1.5, True, None])
        assert load(json.dumps(manifest).encode())["manifest"] == manifest

    @pytest.mark.parametrize(
        ("data", "place", "words"),
        [
            (b"", "m.json:1", "empty"),
            (b" \n ", "m.json:1", "empty"),
            (b"project: p\n", "m.json:1", "not JSON"),
            (b'{"project":\n"p",\n}', "m.json:2", "comma"),
            (b'{"project": "p"} {}', "m.json:1", "not JSON"),
            (b'{"project": "p"', "m.json:1", "not JSON"),
            (b"{'project': 'p'}", "m.json:1", "not JSON"),
            (b'{"project": "p"}\n// x', "m.json:2", "not JSON"),
            (b'{"project":\n"\xff"}', "m.json:2", "not UTF-8"),
            ('{"project": "p"}'.encode("utf-16"), "m.json:1", "not UTF-8 but UTF-16"),
            (b"\xfe\xff" + "{}".encode("utf-16-be"), "m.json:1", "not UTF-8 but UTF-16"),
            (b'{"\xff\xfe": 1}', "m.json:1", "not UTF-8 at byte 3"),
            (b'{"project": "p", "x": NaN}', "m.json:1", "not JSON"),
            (b'{"project": "p", "x": -Infinity}', "m.json:1", "not JSON"),
            (b'{"project":\n"\\ud800"}', "m.json:2", "not JSON"),
            (b'{"project": "p", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "m.json:1", ""),
            (b'{"project": "p", "x": ' + b"[" * 300 + b"]" * 300 + b"}", "m.json:1", "deep"),
            (b"[]", "m.json", "array"),
            (b'"project"', "m.json", "string"),
            (b"7", "m.json", "number"),
            (b"null", "m.json", "null"),
        ],
    )
    def test_what_is_no_json_object_is_an_error_at_its_line(
        self, data: bytes, place: str, words: str
    ) -> None:
        with pytest.raises(StreamtOlError) as error:
            load(data)
        assert (error.value.code, error.value.location) == (PARSE, place)
        assert words in error.value.message

    @pytest.mark.parametrize(
        ("data", "place"),
        [
            (b'{"project": "p", "project": "q"}', "/project"),
            (b'{"project": "p", "project" : "p"}', "/project"),
            (b'{"project": "p", "models": [{"name": "m"}, {"name": "m", "name": "n"}]}',
             "/models/1/name"),
            (b'{"project": "p", "x": {"a/b~": 1, "a\\/b~": 2}}', "/x/a~1b~0"),
            (b'{"project": "p", "x": {"\\u0061": 1, "a": 2}}', "/x/a"),
            (b'{"project": "p", "x": {"t": "\\u0022:", "t": 1}}', "/x/t"),
            (b'{"project": "p", "x": {"t": "\\"\\u003a", "t": 1}}', "/x/t"),
            (b'{"project": "p", "x": {"t": "\\"\\u003A", "t": 1}}', "/x/t"),
        ],
    )  # fmt: skip
    def test_a_key_twice_is_an_error_at_its_pointer(self, data: bytes, place: str) -> None:
        with pytest.raises(StreamtOlError) as error:
            load(data)
        assert (error.value.code, error.value.location) == (PARSE, place)

    @pytest.mark.parametrize(
        "text", ['"a\\u0022: b"', '"a\\": b"', '"\\" :"', '"x : y"', '"{\\"k\\": 1, \\"k\\": 2}"']
    )
    def test_text_that_looks_like_a_key_is_no_key(self, text: str) -> None:
        data = f'{{"project" : "p", "x": {text}, "y"\n:\t{text}}}'.encode()
        assert load(data)["manifest"] == json.loads(data)

    @pytest.mark.parametrize(
        ("manifest", "place", "words"),
        [
            ({}, "", "project"),
            ({"project": None}, "/project", "string"),
            ({"project": 7}, "/project", "number"),
            ({"project": "p", "sources": {}}, "/sources", "array"),
            ({"project": "p", "sources": "x"}, "/sources", "array"),
            ({"project": "p", "sources": [{"name": "a", "topic": "t"}, {"name": "b"}]},
             "/sources/1", "topic"),
            ({"project": "p", "sources": [{"topic": "t"}]}, "/sources/0", "name"),
            ({"project": "p", "sources": ["a"]}, "/sources/0", "object"),
            ({"project": "p", "models": [{"name": True}]}, "/models/0/name", "boolean"),
            ({"project": "p", "models": [{"name": "m", "sql": ["SELECT"]}]},
             "/models/0/sql", "string"),
            ({"project": "p", "models": [{"name": "m", "columns": [{"type": "INT"}]}]},
             "/models/0/columns/0", "name"),
            ({"project": "p", "models": [{"name": "m", "contract": {"columns": [{}]}}]},
             "/models/0/contract/columns/0", "name"),
            ({"project": "p", "models": [{"name": "m", "description": 1}]},
             "/models/0/description", "number"),
            ({"project": "p", "artifacts": {"connectors": [{"name": "c"}]}},
             "/artifacts/connectors/0", "topics"),
            ({"project": "p", "artifacts": {"gateway_rules": [{"name": "g", "virtualTopic": "v"}]}},
             "/artifacts/gateway_rules/0", "physicalTopic"),
            ({"project": "p", "dag": {"edges": [{"from": "a"}]}}, "/dag/edges/0", "to"),
        ],
    )  # fmt: skip
    def test_what_is_not_shaped_like_a_manifest_is_an_error_at_its_pointer(
        self, manifest: object, place: str, words: str
    ) -> None:
        with pytest.raises(StreamtOlError) as error:
            load(json.dumps(manifest).encode())
        assert (error.value.code, error.value.location) == (PARSE, place or "m.json")
        assert words in error.value.message

    @pytest.mark.parametrize(
        ("failure", "words"),
        [
            (FileNotFoundError(2, "No such file or directory"), "No such file"),
            (IsADirectoryError(21, "Is a directory"), "directory"),
            (PermissionError(13, "Permission denied"), "Permission denied"),
            (OSError(5, "Input/output error"), "Input/output error"),
        ],
    )
    def test_what_cannot_be_read_is_an_error_at_the_file(
        self, failure: OSError, words: str
    ) -> None:
        def read(_: str) -> bytes:
            raise failure

        with pytest.raises(StreamtOlError) as error:
            LoadManifest(read)({"options": {"manifest": "dir/m\n.json"}})
        assert (error.value.code, error.value.location) == (PARSE, "dir/m\\n.json")
        assert words in error.value.message


def test_a_missing_file_and_a_folder_are_errors_for_the_built_in_reader(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(StreamtOlError) as error:
            LoadManifest()({"options": {"manifest": str(path)}})
        assert (error.value.code, error.value.location) == (PARSE, str(path))


def test_strict_json_reads_what_json_reads() -> None:
    for text in ('{"a": [1, 2.5, "x", null, true]}', "[]", '"a"', "0", '{"a":{"a":{"a":1}}}'):
        assert strict_json.loads(text.encode()) == json.loads(text)
