"""Strict JSON: what counts as plain, and the faults of what does not."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

import pytest

from streamt_ol.reading.faults import Fault, FaultKind
from streamt_ol.reading.json_scan import compact
from streamt_ol.reading.strict_json import WRITABLE, JsonFaultError, is_plain, loads, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

DUPLICATE = "the key 'a' is duplicated in this object; the last one counts"

PLAIN = [
    (b'{"a":1,"b":[1.5,null,"x:y"]}', True),
    (b'{ "a" : 1,\t"b": "x: y" }\r', True),
    (b'{"a":"\\u00e9\\/"}', True),
    (b'{"a":1,"a":1}', False),
    (b'{"a": 1, "a": 1}', False),
    (b'{"a":1,"a":"\\u003a"}', False),
    (b'{"a":1,"a":1e5}', False),
    (b'{"a":18446744073709551616}', False),
    (b'{"a":{"b":1,"b":1}}', False),
]


@pytest.mark.parametrize(("data", "plain"), PLAIN)
def test_a_line_is_plain_only_when_nothing_can_be_wrong_with_it(data: bytes, plain: bool) -> None:
    import orjson

    assert is_plain(data, orjson.loads(data)) is plain


def pairs(random: Random, depth: int = 0) -> Iterator[str]:
    for _ in range(random.randrange(4)):
        key = random.choice(['"a"', '"b"', '"a:"', '"\\u003a"', '"\\u0061"'])
        value = random.choice(["1", '"x:y"', '"\\u003a"', "1e5", "123456789012345678901", "[]"])
        if depth < 3 and random.random() < 0.3:
            value = "{" + ",".join(pairs(random, depth + 1)) + "}"
        yield key + random.choice([":", ": ", " :"]) + value


def doubled(text: str) -> bool:
    """Tell by the standard library whether a key is duplicated, or a number has too many digits."""
    found = []

    def look(members: list[tuple[str, object]]) -> None:
        found.append(len({key for key, _ in members}) != len(members))

    json.loads(text, object_pairs_hook=look)
    return any(found) or "123456789012345678901" in text


@pytest.mark.parametrize("seed", range(4))
def test_what_counts_as_plain_repeats_no_key(seed: int) -> None:
    import orjson

    random = Random(seed)
    for _ in range(2000):
        text = "{" + ",".join(pairs(random)) + "}"
        if is_plain(text.encode(), orjson.loads(text)):
            assert not doubled(text), text


FAULTS = [
    (b'{"a":1,"a":2}', [Fault(FaultKind.DUPLICATE_KEY, DUPLICATE, "/a")]),
    (
        b'{"a":[1e999]}',
        [Fault(FaultKind.NUMBER, "the number '1e999' does not fit a finite double", "/a/0")],
    ),
    (
        b'{"a":18446744073709551616}',
        [Fault(FaultKind.NUMBER, "the integer '18446744073709551616' does not fit 64 bits", "/a")],
    ),
    (b"\xef\xbb\xbf{}", []),
    (b'{"a":18446744073709551615,"b":-9223372036854775808}', []),
    (b"[" * 1000 + b"]" * 1000, []),
    (b"[" * 1001 + b"]" * 1001, [Fault(FaultKind.DEPTH, "nested more than 1000 deep")]),
]


@pytest.mark.parametrize(("data", "faults"), FAULTS)
def test_a_text_with_faults_has_a_value(data: bytes, faults: list[Fault]) -> None:
    parsed = parse(data)
    assert (parsed.readable, list(parsed.faults)) == (True, faults)


def test_a_number_beyond_doubles_reads_as_the_largest_one() -> None:
    value = parse(b'{"a":-1e999,"b":"1e999"}').value
    assert value == {"a": -1.7976931348623157e308, "b": "1e999"}


@pytest.mark.parametrize(
    ("data", "kind", "line", "column"),
    [
        (b'{"a":\n\xff}', FaultKind.ENCODING, 1, 1),
        (b'{"a":\n x}', FaultKind.SYNTAX, 1, 2),
        (b'{"a": "\\ud800"}', FaultKind.SURROGATE, 0, 8),
        (b'{"a": 1e999, x}', FaultKind.SYNTAX, 0, 0),
        (b"[" * 1025 + b"]" * 1025, FaultKind.DEPTH, 0, 1026),
        (b"", FaultKind.SYNTAX, 0, 1),
        (b"NaN", FaultKind.SYNTAX, 0, 1),
    ],
)
def test_a_text_without_a_value(data: bytes, kind: FaultKind, line: int, column: int) -> None:
    parsed = parse(data)
    assert not parsed.readable
    [fault] = parsed.faults
    assert (fault.kind, fault.line) == (kind, line)
    assert column in (0, fault.column)


def test_a_document_is_refused_for_a_duplicate_key_and_depth() -> None:
    with pytest.raises(JsonFaultError) as caught:
        loads(b'{"a":{"b":1,\n"b":2}}')
    assert (caught.value.pointer, caught.value.line) == ("/a/b", None)
    with pytest.raises(JsonFaultError, match="nested too deeply"):
        loads(b"[" * 300 + b"]" * 300, WRITABLE)
    assert loads(b"[" * 254 + b"]" * 254, WRITABLE)


def test_compact_text_keeps_numbers_and_escapes() -> None:
    text = b'{\n "a" : [1.0, 1E5,\t"\\u00e9 \\" x"],\r\n "b": {}}'
    assert compact(text) == b'{"a":[1.0,1E5,"\\u00e9 \\" x"],"b":{}}'
