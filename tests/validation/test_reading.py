"""Reading: how bytes are cut must not matter, and nothing is held that need not be."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import zlib
from contextlib import AbstractContextManager, nullcontext
from random import Random
from typing import TYPE_CHECKING, BinaryIO

import pytest
from backports import zstd
from support.openlineage_events import dataset_event, job_event, mutated, random_event, run_event

from streamt_ol.problems import PARSE
from streamt_ol.reading import blocks
from streamt_ol.reading.documents import is_document
from streamt_ol.validation.options import Options, Settings
from streamt_ol.validation.run import validate

if TYPE_CHECKING:
    from streamt_ol.validation.report.collector import Report

LIMIT = 1 << 20


def report_of(data: bytes, *more: bytes, limit: int = LIMIT, shown: int = 100) -> Report:
    inputs = [
        (f"input {number}", lambda content=content: nullcontext(io.BytesIO(content)))
        for number, content in enumerate((data, *more))
    ]
    return validate(inputs, Options(Settings(limit), shown, False), lambda size, events: None)


def places(report: Report) -> list[tuple[str, int, str]]:
    return [(one.rule, one.line, one.pointer) for one in report.problems]


def messy(random: Random, count: int) -> bytes:
    lines = []
    for _ in range(count):
        kind = random.randrange(10)
        if kind == 0:
            lines.append(random.choice([b"", b"  ", b"{", b"[]", b"\xff", b"{}", b"x" * 300]))
        else:
            event = random_event(random)
            event = mutated(random, event) if kind < 4 else event
            lines.append(json.dumps(event, separators=random.choice([(",", ":"), None])).encode())
            if kind == 9:
                lines.append(lines[-1])
    return random.choice([b"\n", b"\r\n"]).join(lines) + random.choice([b"", b"\n"])


@pytest.mark.parametrize("seed", range(6))
def test_blocks_do_not_change_the_report(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    for _ in range(12):
        inputs = [messy(random, random.randrange(12)) for _ in range(random.randrange(1, 4))]
        whole = report_of(*inputs, limit=2000)
        with monkeypatch.context() as patched:
            patched.setattr(blocks, "BLOCK", random.choice([1, 64, 1000]))
            if not any(is_document(one) for one in inputs):
                assert report_of(*inputs, limit=2000) == whole


def test_places_in_pretty_printed_input_are_lines_of_the_file() -> None:
    good, bad = dataset_event(), job_event()
    bad["job"]["name"] = ""
    array = json.dumps([good, bad], indent=2).encode()
    line = array.split(b"\n").index(b"  {", 2) + 1
    report = report_of(array)
    assert ("OL-R012", line, "/1/job/name") in places(report)
    broken = json.dumps(good, indent=1).encode().replace(b'"name":', b"name:")
    (one,) = report_of(broken).problems
    assert (one.rule, one.line) == ("OL-R002", broken.split(b" name:")[0].count(b"\n") + 1)


def test_a_long_line_is_an_error_and_reading_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [json.dumps(dataset_event(name)).encode() for name in ("a", "b" * 5000, "c")]
    data = b"\n".join([*lines, b"x" * 9000])
    for size in (100, 1 << 20):
        monkeypatch.setattr(blocks, "BLOCK", size)
        report = report_of(data, limit=1000)
        assert places(report) == [("OL-R007", 2, ""), ("OL-R007", 4, "")]


def test_one_report_covers_all_inputs_with_their_places() -> None:
    good = json.dumps(dataset_event()).encode()
    report = report_of(good + b"\n", b"", b"{}\n" + good)
    assert [(one.file, one.line, one.rule) for one in report.problems] == [
        ("input 1", 1, "OL-R009"),
        ("input 2", 1, "OL-R010"),
        ("input 2", 2, "OL-R035"),
    ]
    assert report.files == ("input 0", "input 1", "input 2")


def test_the_problems_shown_are_the_first_and_all_are_counted() -> None:
    start = json.dumps(run_event("START")).encode()
    report = report_of(start + b"\n" + b"{}\n" * 3000, shown=2)
    assert [(one.line, one.rule) for one in report.problems] == [(1, "OL-R058"), (2, "OL-R010")]
    assert report.rules == {"OL-R010": 3000, "OL-R058": 1}
    assert report.events == 3001


@pytest.mark.parametrize("compress", [gzip.compress, zstd.compress])
def test_a_bomb_is_streamed(compress: object) -> None:
    assert callable(compress)
    bomb = compress(b" " * (200 << 20))
    tracemalloc.start()
    try:
        report = report_of(bomb)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert report.rules == {"OL-R007": 1}
    assert peak < 20 << 20


@pytest.mark.parametrize("compress", [gzip.compress, zstd.compress])
def test_what_comes_before_damage_is_checked(compress: object) -> None:
    assert callable(compress)
    random = Random(1)
    data = b"".join(json.dumps(random_event(random)).encode() + b"\n" for _ in range(3000))
    packed = bytearray(compress(data))
    packed[-2000:-1000] = bytes(1000)
    report = report_of(bytes(packed))
    assert report.rules["OL-R060"] == 1
    assert report.events > 0


def test_several_members_of_each_kind_are_one_input() -> None:
    line = json.dumps(dataset_event("a")).encode() + b"\n"
    other = json.dumps(dataset_event("b")).encode() + b"\n"
    for compress in (gzip.compress, zstd.compress):
        report = report_of(compress(line) + compress(other))
        assert (report.events, report.valid) == (2, True)


@pytest.mark.parametrize("low", [0x50, 0x5F])
@pytest.mark.parametrize("size", [1 << 20, 64])
def test_zstd_is_known_by_a_skippable_frame_too(
    low: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", size)
    skipped = bytes([low]) + b"\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"
    report = report_of(skipped + zstd.compress(json.dumps(dataset_event()).encode()) + skipped)
    assert (report.events, report.valid) == (1, True)


@pytest.mark.parametrize("size", [1 << 20, 64])
def test_zeros_after_gzip_are_padding_and_anything_else_is_damage(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", size)
    a, b = (gzip.compress(json.dumps(dataset_event(n)).encode() + b"\n") for n in "ab")
    report = report_of(a + bytes(1000) + b + bytes(1000))
    assert (report.events, report.valid) == (2, True)
    assert report_of(a + bytes(1000) + b"x").rules == {"OL-R060": 1}


@pytest.mark.parametrize("blank", [b"\x0c", b"\x0b", b" \x0c "])
def test_only_the_white_space_of_json_makes_a_blank_line(blank: bytes) -> None:
    report = report_of(b"{}\n" + blank + b"\n{}\n")
    assert ("OL-R002", 2, "") in places(report)
    assert report.blank == 0
    assert report_of(blank).rules == {"OL-R002": 1}
    assert report_of(b" \t\r\n").blank == 1


def test_a_missing_zstd_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(blocks, "import_module", missing)
    report = report_of(zstd.compress(b"{}"), b"{}")
    assert [(one.file, one.rule) for one in report.problems] == [
        ("input 0", "OL-R061"),
        ("input 1", "OL-R010"),
    ]
    (failure,) = report.failures
    assert (failure.code, failure.location) == (PARSE, "input 0")
    assert failure.suggestion == "pip install 'streamt-ol[zstd]'"


def test_what_comes_before_a_reading_error_is_checked() -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            if not data:
                raise OSError(5, "Input/output error")
            return data

        read1 = read

    def opened() -> AbstractContextManager[BinaryIO]:
        return nullcontext(Failing(b"{}\n"))

    def empty() -> AbstractContextManager[BinaryIO]:
        return nullcontext(io.BytesIO())

    inputs = [("a", opened), ("b", empty)]
    options = Options(Settings(LIMIT), 100, False)
    report = validate(inputs, options, lambda size, events: None)
    assert [(one.file, one.line, one.rule) for one in report.problems] == [
        ("a", 1, "OL-R010"),
        ("a", 2, "OL-R061"),
        ("b", 1, "OL-R009"),
    ]


def test_zlib_errors_are_what_the_reader_takes_them_for() -> None:
    assert zlib.error.__name__ == "error"
    assert zstd.ZstdError.__name__ == "ZstdError"


def test_a_form_feed_in_an_array_is_no_blank() -> None:
    assert report_of(b"[\x0c]").rules == {"OL-R002": 1}
    assert report_of(b"[ \t\r\n]").valid


@pytest.mark.parametrize("inputs", [True, None, 1, "x", {}, {"a": 1}, [1], [[]], [None]])
def test_inputs_of_any_shape_are_faults_of_a_run_of_streamt(inputs: object) -> None:
    lines = [json.dumps(run_event(step, inputs=inputs)).encode() for step in ("START", "COMPLETE")]
    assert {one.rule for one in report_of(b"\n".join(lines)).problems} >= {"OL-R011"}
