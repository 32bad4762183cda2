"""The one way to fail: locations with their parts, and what an envelope shows of them."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamt_ol.codes import GENERIC_WARNING
from streamt_ol.problems import (
    INVALID,
    Location,
    StreamtOlError,
    pointer,
    warning,
)

# Each row of the grammar, written out by hand.
GRAMMAR: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    ({"pointer": "/models/0/sql"}, "/models/0/sql"),
    ({"file": "models/a.yml"}, "models/a.yml"),
    ({"file": "models/a.yml", "line": 3}, "models/a.yml:3"),
    ({"file": "a.yml", "line": 3, "pointer": "/models/0"}, "a.yml:3 /models/0"),
    ({"file": "m.json", "pointer": "/dag"}, "m.json /dag"),
    ({"option": "job_namespace"}, "job_namespace"),
    ({"field": "transport.retry.total"}, "transport.retry.total"),
    ({"file": "p.yml", "line": 4, "field": "runtime.kafka"}, "p.yml:4 runtime.kafka"),
    ({"option": "kafka_config", "file": "k.yml", "line": 2}, "kafka_config: k.yml:2"),
    ({"stage": "emit"}, "stage emit"),
    ({"stage": "emit", "pointer": "/lines"}, "stage emit /lines"),
    ({"line": 3}, ""),  # a line of nothing says nothing
]


@pytest.mark.parametrize(("parts", "text"), GRAMMAR)
def test_a_location_is_the_text_of_its_parts(parts: dict[str, Any], text: str) -> None:
    location = Location(**parts)
    assert location == text
    assert str(location) == text
    assert {k: getattr(location, k) for k in parts} == parts


def test_a_location_may_be_a_name_without_parts() -> None:
    location = Location("run 7")
    assert location == "run 7"
    assert location.fields() == {}


def test_what_stands_below_a_location_keeps_its_file_and_line() -> None:
    location = Location(file="a.yml", line=3, pointer="/models/0").below("columns", 1, "a/b~c")
    assert location == "a.yml:3 /models/0/columns/1/a~1b~0c"
    assert (location.file, location.line) == ("a.yml", 3)


def test_a_location_does_not_change() -> None:
    location: Any = Location(file="a.yml")
    for part in ("line", "_parts", "other"):
        with pytest.raises(AttributeError):
            setattr(location, part, 3)


_PARTS = st.fixed_dictionaries(
    {},
    optional={
        "file": st.text(min_size=1),
        "line": st.integers(1),
        "pointer": st.lists(st.text(), min_size=1).map(lambda parts: pointer(*parts)),
        "field": st.text(min_size=1),
        "option": st.text(min_size=1),
        "stage": st.text(min_size=1),
    },
)


@given(_PARTS)
def test_a_location_goes_to_another_process_with_its_parts(parts: dict[str, Any]) -> None:
    location = Location(**parts)
    for same in (pickle.loads(pickle.dumps(location)), copy.deepcopy(location)):
        assert same == location
        assert same.fields() == location.fields()
        assert same.stage == location.stage


@given(_PARTS)
def test_an_error_and_a_warning_show_the_same_location(parts: dict[str, Any]) -> None:
    location = Location(**parts)
    error = StreamtOlError(INVALID, "it is wrong", location=location)
    shown: dict[str, Any] = dict(warning(INVALID, "it is wrong", location))
    assert json.loads(json.dumps(error.record())) == shown
    if "field" in parts:
        parts.setdefault("option", parts["field"])
    stable = {key: parts[key] for key in ("file", "line", "pointer", "option") if key in parts}
    if str(location):
        assert shown.pop("location") == str(location)
        assert shown == {"code": INVALID, "message": "it is wrong"} | stable


def test_a_plain_text_is_a_location_without_parts() -> None:
    error = StreamtOlError(INVALID, "it is wrong", location="stdout", suggestion="try")
    assert error.record() == {
        "code": INVALID,
        "message": "it is wrong",
        "location": "stdout",
        "suggestion": "try",
    }
    assert str(error) == f"{INVALID} stdout: it is wrong"


def test_a_warning_without_a_location_has_no_field_for_it() -> None:
    assert warning(GENERIC_WARNING, "odd") == {"code": GENERIC_WARNING, "message": "odd"}
