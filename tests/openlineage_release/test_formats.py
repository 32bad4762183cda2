"""The three formats: values worked out by hand from RFC 3339, RFC 3986 and RFC 9562."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator, RegexOptions

from streamt_ol.openlineage import formats

GOOD_TIMES = [
    "2026-01-31T23:59:59Z",
    "2026-01-31t23:59:59z",
    "2026-01-31T23:59:59.000000000000000000001Z",
    "2026-01-31T23:59:59+23:59",
    "2026-01-31T23:59:59-00:00",
    "2024-02-29T00:00:00Z",
    "2000-02-29T00:00:00Z",
    "0000-02-29T00:00:00Z",
    "9999-12-31T23:59:59.999Z",
    "1990-12-31T23:59:60Z",
    "1990-12-31T15:59:60.5-08:00",
    "1991-01-01T08:29:60+08:30",
    "2016-06-30T23:59:60Z",
]
BAD_TIMES = [
    "",
    "2026-01-31",
    "2026-01-31T23:59:59",
    "2026-01-31 23:59:59Z",
    "2026-01-31T23:59:59+0200",
    "2026-01-31T23:59:59+02",
    "2026-01-31T24:00:00Z",
    "2026-01-31T23:60:00Z",
    "2026-01-31T23:59:61Z",
    "2026-01-31T23:59:59.Z",
    "2026-01-31T23:59:59,5Z",
    "2026-01-31T23:59:59Z\n",
    "\n2026-01-31T23:59:59Z",
    "2026-01-31T23:59:59+24:00",
    "2026-01-31T23:59:59+01:60",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-W05-1T00:00:00Z",
    "2026-031T00:00:00Z",
    "20260131T235959Z",
    "+2026-01-31T23:59:59Z",
    "2026-01-31T23:59:5\u0669Z",
    "\u0662026-01-31T23:59:59Z",
    "1990-12-31T22:59:60Z",
    "1990-12-31T23:58:60Z",
    "1990-12-31T23:59:60-08:00",
    "1990-12-30T23:59:60Z",
    "2026-01-31T23:59:59\N{MINUS SIGN}01:00",
]
GOOD_URIS = [
    "https://github.com/conduktor/streamt",
    "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "urn:isbn:0451450523",
    "mailto:a@example.com",
    "kafka://user:p%40ss@broker.example:9092/x?y=1#z",
    "http://[2001:db8::1]:80/",
    "http://[::ffff:192.0.2.1]/",
    "http://[v1.fe80::a+en1]/",
    "file:///etc/hosts",
    "a:",
    "x+y-z.1://",
    "http://example.com:",
]
BAD_URIS = [
    "",
    "github.com/conduktor/streamt",
    "//example.com/",
    "1http://example.com",
    "http://exa mple.com",
    "http://example.com/\n",
    "http://example.com/%zz",
    "http://example.com/%a",
    "http://example.com:80a/",
    "http://ex\u00e4mple.com/",
    "http://example.com/<x>",
    "http://example.com/#a#b",
    "http://[2001:db8::1",
    "http://[fe80::1%25en0]/",
    "http://[fe80::1%en0]/",
    "http://[1:2:3:4:5:6:7:8:9]/",
    "http://[]/",
    "http://a@b@c/",
    "http://example.com/[x]",
    ":x",
    "\\\\server\\share",
]
GOOD_UUIDS = [
    "d46e465b-d358-4d32-83d4-df660ff614dd",
    "D46E465B-D358-4D32-83D4-DF660FF614DD",
    "00000000-0000-0000-0000-000000000000",
]
BAD_UUIDS = [
    "",
    "d46e465bd3584d3283d4df660ff614dd",
    "{d46e465b-d358-4d32-83d4-df660ff614dd}",
    "urn:uuid:d46e465b-d358-4d32-83d4-df660ff614dd",
    "d46e465b-d358-4d32-83d4-df660ff614d",
    "d46e465b-d358-4d32-83d4-df660ff614ddd",
    "d46e465b-d358-4d32-83d4-df660ff614dg",
    "d46e465b-d358-4d32-83d4-df660ff614dd\n",
    "d46e465-bd358-4d32-83d4-df660ff614dd",
]
CASES = [
    ("date-time", GOOD_TIMES, BAD_TIMES),
    ("uri", GOOD_URIS, BAD_URIS),
    ("uuid", GOOD_UUIDS, BAD_UUIDS),
]


def pattern_accepts(name: str, text: str) -> bool:
    schema = {"pattern": formats.PATTERNS[name]}
    return Draft202012Validator(schema, pattern_options=RegexOptions()).is_valid(text)


@pytest.mark.parametrize(("name", "good", "bad"), CASES)
def test_each_format_accepts_and_refuses_by_its_rfc(
    name: str, good: list[str], bad: list[str]
) -> None:
    accepts = formats.FORMATS[name]
    assert [text for text in good if not accepts(text)] == []
    assert [text for text in bad if accepts(text)] == []


@pytest.mark.parametrize(("name", "good", "bad"), CASES)
def test_a_pattern_never_says_yes_where_the_function_says_no(
    name: str, good: list[str], bad: list[str]
) -> None:
    assert [text for text in bad if pattern_accepts(name, text)] == []


def test_the_patterns_are_exact_but_for_leap_seconds_and_ip_literals() -> None:
    refused = [text for name, good, _ in CASES for text in good if not pattern_accepts(name, text)]
    assert refused == [
        *(text for text in GOOD_TIMES if ":60" in text),
        *(text for text in GOOD_URIS if "[" in text),
    ]


NEAR_TIMES = re.compile(
    r"[0-9]{4}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{0,3})?"
    r"([Zz]|[+-][0-2][0-9]:?[0-6][0-9])\n?"
)


@given(st.from_regex(NEAR_TIMES, fullmatch=True))
def test_the_time_pattern_is_a_subset_on_generated_near_misses(text: str) -> None:
    if pattern_accepts("date-time", text):
        assert formats.instant(text) is not None
    elif formats.instant(text) is not None:
        assert text[17:19] == "60"


@given(st.from_regex(re.compile(r"[a-z][a-z0-9+]*:(//)?[a-z@:%/?#\[\]0-9.\n -]*"), fullmatch=True))
def test_the_uri_pattern_is_a_subset_on_generated_near_misses(text: str) -> None:
    if pattern_accepts("uri", text):
        assert formats.is_uri(text)
    elif formats.is_uri(text):
        assert "[" in text


@given(
    st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)),
    st.integers(-1439, 1439),
)
def test_instants_agree_with_the_standard_library(moment: datetime, minutes: int) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    found = formats.instant(aware.isoformat())
    assert found is not None
    epoch = datetime(1, 1, 1, tzinfo=UTC)
    since = aware - epoch
    days_before_year_one = 366
    assert found.seconds == (days_before_year_one + since.days) * 86400 + since.seconds
    assert float("0." + (found.fraction or "0")) == moment.microsecond / 1e6


def test_instants_compare_as_time_does() -> None:
    ordered = [
        "1990-12-31T23:59:59.99Z",
        "1990-12-31T23:59:60Z",
        "1990-12-31T23:59:60.5Z",
        "1991-01-01T00:00:00Z",
        "1991-01-01T00:00:00.09Z",
        "1991-01-01T00:00:00.1Z",
        "1991-01-01T02:00:01+01:59",
    ]
    instants = [formats.instant(text) for text in ordered]
    assert all(one is not None for one in instants)
    assert instants == sorted(instants, key=lambda one: one or (0, False, ""))
    assert formats.instant("2026-01-01T01:00:00+01:00") == formats.instant("2026-01-01T00:00:00.0Z")


def test_utc_means_a_zero_offset_that_is_known() -> None:
    yes = ["2026-01-31T23:59:59Z", "2026-01-31T23:59:59z", "2026-01-31T23:59:59.5+00:00"]
    no = ["2026-01-31T23:59:59-00:00", "2026-01-31T23:59:59+01:00", "2026-02-30T00:00:00Z", "Z"]
    assert [text for text in yes if not formats.is_utc_date_time(text)] == []
    assert [text for text in no if formats.is_utc_date_time(text)] == []
    assert [text for text in no if pattern_accepts("utc-date-time", text)] == []


def test_the_format_checker_knows_exactly_the_three_formats() -> None:
    checker = formats.format_checker()
    assert set(checker.checkers) == {"date-time", "uri", "uuid"}
    assert checker.conforms("2026-01-31T23:59:59Z", "date-time")
    assert not checker.conforms("2026-01-31", "date-time")
    assert checker.conforms(3, "uuid")


@given(st.text())
def test_what_the_pattern_finds_not_blank_is_not_blank(text: str) -> None:
    validator = Draft202012Validator({"pattern": formats.NOT_BLANK})
    assert not (validator.is_valid(text) and formats.is_blank(text))


def test_no_white_space_of_unicode_counts_as_a_name() -> None:
    spaces = "".join(chr(code) for code in range(0x110000) if chr(code).isspace())
    validator = Draft202012Validator({"pattern": formats.NOT_BLANK})
    assert formats.is_blank(spaces)
    assert not validator.is_valid(spaces)
    assert validator.is_valid(spaces + "\u6ce8\u6587")
