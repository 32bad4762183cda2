"""Raw events of an input: the same whatever its form, its compression and its blocks."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from streamt_ol.reading import blocks
from streamt_ol.reading.chunks import chunks, raw_events
from streamt_ol.reading.faults import Fault, FaultKind
from streamt_ol.reading.raw import RawEvent

if TYPE_CHECKING:
    from collections.abc import Callable

BOM = b"\xef\xbb\xbf"


def events(data: bytes, limit: int = 1000) -> list[RawEvent]:
    return list(raw_events(chunks(blocks.blocks(io.BytesIO(data)), limit), limit))


def test_lines_have_their_numbers_and_offsets() -> None:
    data = b'{"a": 1}\n\n  {"b": 2}\r\n' + BOM + b'{"c": 3}'
    assert events(data) == [
        RawEvent(b'{"a": 1}', 1, 0),
        RawEvent(b'{"b": 2}', 3, 12),
        RawEvent(b'{"c": 3}', 4, 25),
    ]


def test_a_byte_order_mark_is_no_part_of_an_event_wherever_a_text_begins() -> None:
    assert events(BOM + b'{"a": 1}\n' + BOM + b"\n" + BOM + b' {"b": 2}\n') == [
        RawEvent(b'{"a": 1}', 1, 0),
        RawEvent(b'{"b": 2}', 3, 17),
    ]
    assert events(BOM + b'[{"a": 1}]') == [RawEvent(b'{"a": 1}', 1, 1, "/0")]


@pytest.mark.parametrize("form", ["lines", "array", "pretty array", "pretty events"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
@pytest.mark.parametrize("size", [4, 7, 1 << 20])
def test_the_form_of_an_input_does_not_matter(
    form: str, pack: Callable[[bytes], bytes], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", size)
    values = [{"a": [1, {"b": "]\n\\"}]}, {}, {"c": "é", "d": None}]
    indent = 2 if form.startswith("pretty") else None
    texts = [json.dumps(value, indent=indent) for value in values]
    text = json.dumps(values, indent=indent) if "array" in form else "\n".join(texts)
    found = events(pack(text.encode()))
    assert [json.loads(event.data) for event in found] == values
    assert [event.fault for event in found] == [None] * 3
    pointers = ["/0", "/1", "/2"] if "array" in form else [""] * 3
    assert [event.pointer for event in found] == pointers
    for event in found:
        assert text.encode()[event.offset :].startswith(event.data)
        assert event.line == 1 + text.encode().count(b"\n", 0, event.offset)


def test_a_long_line_is_a_fault_and_reading_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 16)
    fault = Fault(FaultKind.LENGTH, "longer than 20 bytes")
    data = b'{"a": 1}\n' + b'"' + b"x" * 100 + b'"\n{"b": 2}\n'
    assert events(data, 20) == [
        RawEvent(b'{"a": 1}', 1, 0),
        RawEvent(b"", 2, 9, fault=fault),
        RawEvent(b'{"b": 2}', 3, 112),
    ]


def test_what_comes_before_damage_is_read() -> None:
    packed = gzip.compress(b'{"a": 1}\n{"b": 2}\n')[:-10]
    found = events(packed)
    assert found[0] == RawEvent(b'{"a": 1}', 1, 0)
    assert found[-1].fault == Fault(FaultKind.DAMAGED, "the compressed data ends too early")


def test_a_long_window_of_zstd_is_read() -> None:
    options: dict[int, int] = {zstd.CompressionParameter.window_log: 30}
    compressor = zstd.ZstdCompressor(options=options)
    packed = compressor.compress(b'{"a": 1}\n') + compressor.flush()
    assert events(packed) == [RawEvent(b'{"a": 1}', 1, 0)]


@given(
    st.lists(
        st.sampled_from(
            [b'{"a":1}', b"[", b"]", b",", b"\n", b"\r\n", b" ", b'"', b"{", b"}", BOM, b"x"]
        ),
        max_size=12,
    ).map(b"".join),
    st.integers(1, 9),
)
def test_blocks_never_matter(data: bytes, size: int) -> None:
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    whole = list(raw_events(chunks(iter([data]))))
    assert list(raw_events(chunks(iter(parts)))) == whole
    for event in whole:
        if event.fault is None:
            assert data[event.offset : event.offset + len(event.data)] == event.data


@pytest.mark.parametrize("text", [b'{"a": 1}\n{"b": 2}\n', b'[{"a": 1},\n{"b": 2}]'])
def test_damage_follows_the_events_before_it(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 4)
    first, second, damage = events(gzip.compress(text)[:-4])
    assert [first.data, second.data] == [b'{"a": 1}', b'{"b": 2}']
    assert damage.fault == Fault(FaultKind.DAMAGED, "the compressed data ends too early")
    assert (damage.line, damage.offset) == (text.count(b"\n") + 1, len(text))


class Trickling(io.BytesIO):
    """A pipe that gives one byte at a time, as a slow writer does."""

    read1 = None  # type: ignore[assignment]

    def read(self, size: int | None = -1) -> bytes:
        return super().read(1)


@pytest.mark.parametrize("text", [b'{"a": 1}\n', b"\xef\xbb\xbf{}\n", b"\x1f\n", b"\xef\n", b""])
def test_an_input_that_comes_byte_by_byte_is_told_by_what_it_is(text: bytes) -> None:
    plain = text.removeprefix(b"\xef\xbb\xbf")
    for packed in (text, gzip.compress(text), zstd.compress(text)):
        assert b"".join(blocks.blocks(Trickling(packed))) == plain
