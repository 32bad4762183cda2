"""The ``Retry-After`` header (RFC 9110, section 10.2.3): seconds, or a date."""

from __future__ import annotations

import re


def parse_retry_after(value: str | None, now: float) -> float | None:
    """Return how many seconds to wait from ``now`` (Unix time), None if the header says nothing.

    Any number of digits is a number: who waits has a bound, and waits that.
    """
    if value is None:
        return None
    if re.fullmatch(r"[0-9]+", value):
        return float(value)
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
