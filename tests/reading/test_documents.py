"""Documents are split into events alike, whatever the blocks in which they come."""

from __future__ import annotations

import json
import re
from random import Random
from typing import TYPE_CHECKING

import pytest
from support.openlineage_events import random_event

from streamt_ol.reading import documents
from streamt_ol.reading.documents import Splitter, is_document
from streamt_ol.reading.faults import Fault, FaultKind
from streamt_ol.reading.raw import RawEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 1 << 20


def split(data: bytes, size: int, limit: int = LIMIT) -> list[RawEvent]:
    splitter = Splitter(limit)
    found: list[RawEvent] = []
    for start in range(0, len(data), size):
        found += splitter.feed(data[start : start + size])
    return found + list(splitter.end())


@pytest.mark.parametrize("seed", range(4))
def test_a_document_is_split_alike_in_blocks_of_any_size(seed: int) -> None:
    random = Random(seed)
    for _ in range(30):
        events = [random_event(random) for _ in range(random.randrange(5))]
        data = json.dumps(events, indent=random.choice([None, 1])).encode()
        if random.random() < 0.5:
            at = random.randrange(len(data))
            data = data[:at] + random.choice([b"", b"]", b'"', b"{", b"\\"]) + data[at + 1 :]
        whole = split(data, len(data), 500)
        assert split(data, random.randrange(1, 50), 500) == whole
        for event in whole:
            if event.fault is None:
                assert data[event.offset : event.offset + len(event.data)] == event.data
                assert event.line == 1 + data.count(b"\n", 0, event.offset)


def test_the_elements_of_an_array_have_their_lines_and_pointers() -> None:
    data = b'[\n  {"a": "]"},\n\n  {"b": [1, {"c": "\\""}]}\n, 7]\n'
    assert split(data, 5) == [
        RawEvent(b'{"a": "]"}', 2, 4, "/0"),
        RawEvent(b'{"b": [1, {"c": "\\""}]}', 4, 19, "/1"),
        RawEvent(b"7", 5, 45, "/2"),
    ]


def test_an_element_that_is_too_long_is_dropped_and_reading_goes_on() -> None:
    data = b'[{"a": "' + b"x\\\\" * 5000 + b'"},\n {"b": 1}]'
    long, short = split(data, 64, 1000)
    too_long = Fault(FaultKind.LENGTH, "longer than 1000 bytes")
    assert long == RawEvent(b"", 1, 1, "/0", too_long)
    assert short == RawEvent(b'{"b": 1}', 2, 8 + 15_000 + 5, "/1")


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_what_follows_an_array_is_an_error_and_is_read(size: int) -> None:
    def rows(data: bytes) -> list[tuple[bytes, int, str, FaultKind | None]]:
        found = split(data, size)
        return [(e.data, e.line, e.pointer, e.fault.kind if e.fault else None) for e in found]

    first, second = (b'{"a": 1}', 1, "/0", None), (b'{"b": 2}', 2, "/0", None)
    fault = (b"", 2, "", FaultKind.SYNTAX)
    assert rows(b'[{"a": 1}]\n[{"b": 2}]\n') == [first, fault, second]
    objects = [(b'{"b": 2}', 2, "", None), (b'{"c": 3}', 3, "", None)]
    assert rows(b'[{"a": 1}]\n{"b": 2}\n{"c": 3}\n') == [first, fault, *objects]
    assert rows(b'[{"a": 1}]\nx\n') == [first, fault, (b"x", 2, "", None)]
    assert rows(b'[{"a": 1}]\n\n') == [first]


@pytest.mark.parametrize("blank", [b" ", b"\n", b"\r\n"])
def test_blanks_before_an_element_are_not_held_and_never_too_long(blank: bytes) -> None:
    data = b"[" + blank * 3000 + b'{"a": 1},' + blank * 3000 + b'{"b": 2}]'
    before, newlines = 3000 * len(blank), 3000 * blank.count(b"\n")
    for size in (7, 64, len(data)):
        assert split(data, size, 100) == [
            RawEvent(b'{"a": 1}', 1 + newlines, 1 + before, "/0"),
            RawEvent(b'{"b": 2}', 1 + 2 * newlines, 10 + 2 * before, "/1"),
        ]


@pytest.mark.parametrize("opening", [b"[", b"{", b'{"a": '])
def test_each_byte_of_blanks_is_looked_at_a_bounded_number_of_times(
    opening: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0
    token = documents._TOKEN

    class Counting:
        def finditer(self, text: bytes, start: int) -> Iterator[re.Match[bytes]]:
            nonlocal looked
            looked += len(text) - start
            return token.finditer(text, start)

    monkeypatch.setattr(documents, "_TOKEN", Counting())
    data = opening + b"\n" * 100_000 + b"}"
    split(data, 1000)
    assert looked <= 2 * len(data)


def test_a_document_is_told_from_json_lines() -> None:
    assert is_document(b" \n[1]")
    assert is_document(b'{\n "a": 1\n}')
    assert is_document(b'{"a": {\n "b": 1}}')
    assert not is_document(b'{"a": 1}\n{"b": 2}\n')
    assert not is_document(b'{"a": {\n{"b": 2}\n')
    assert not is_document(b'{"a": "cut\n{"b": 2}\n')
    assert not is_document(b"")
    assert not is_document(b'{"a": 1}')
