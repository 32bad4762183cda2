"""Lines and events that a program holds become JSON Lines, or are refused where they cannot."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from streamt_ol.problems import PARSE, StreamtOlError
from streamt_ol.reading.in_memory import text_of


def test_lines_and_events_become_json_lines() -> None:
    moment = datetime(2026, 1, 31, tzinfo=UTC)
    given: list[Any] = ['{"a": 1}\n', b'{"b": 2}', {"c": None}, {"d": moment, "e": None}]
    assert text_of(given) == (
        b'{"a": 1}\n{"b": 2}\n{"c":null}\n{"d":"2026-01-31T00:00:00+00:00","e":null}'
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"a": float("nan")}, {"a": [float("inf")]}, {"a": {"b": -float("inf")}}, {"a": {1}},
        {1: 2}, {"a": object()}, "\ud800",
    ],
)  # fmt: skip
def test_a_value_that_json_has_not_is_refused_at_its_line(wrong: Any) -> None:
    with pytest.raises(StreamtOlError) as raised:
        text_of([{"a": None}, wrong])
    assert raised.value.code == PARSE
    assert raised.value.location is not None
    assert raised.value.location.line == 2
