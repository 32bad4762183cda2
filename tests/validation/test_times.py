"""Event times: numbers and spellings, and what reads the usual ones by parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streamt_ol.openlineage.formats import is_date_time
from streamt_ol.validation.stream import times

CLOCK = times.Clock()
_DAYS = ["2026-01-31", "2024-02-29", "2026-02-29", "0000-01-01", "9999-12-31", "2026-13-01"]
_TIMES = ["T00:00", "T23:59", "t12:30", "T24:00", " 12:30", "T1\u0663:30"]
_ENDS = ["", "Z", "z", "+00:00", "-00:00", "+05:30", "-23:59", "+24:00", "0", "+0000"]


@given(
    st.sampled_from(_DAYS),
    st.sampled_from(_TIMES),
    st.sampled_from([":00", ":59", ":60", ":6", ""]),
    st.one_of(
        st.just(""),
        st.integers(0, 10**9).map(lambda n: f".{n}"),
        st.sampled_from([".", ".\u06613"]),
    ),
    st.sampled_from(_ENDS),
)
def test_a_clock_reads_what_ticks_reads(
    day: str, minute: str, second: str, fraction: str, zone: str
) -> None:
    text = f"{day}{minute}{second}{fraction}{zone}"
    valid = is_date_time(text)
    for _ in range(2):  # unknown, then known
        found = CLOCK.ticks(text)
        assert found == (times.ticks(text) if valid and second != ":60" else None)
