"""The three string formats of OpenLineage, written out once and shared by every validator.

``is_date_time``, ``is_uri`` and ``is_uuid`` decide. ``PATTERNS`` holds for each of
them a regular expression for validators that cannot call Python: what it matches is a subset of
what the function accepts, so that its yes can be trusted and its no asks the function.
Implements "event times are timezone-aware RFC 3339 values" and "run IDs pass UUID format
validation" of the specification's "Offline validation boundary".
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonschema import FormatChecker

_LEAP_YEAR = r"(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = (
    r"(?:[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    rf"|{_LEAP_YEAR}-02-29)"
)
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?"
_OFFSET = r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_HEX = "[0-9A-Fa-f]"
_PLAIN = r"\-A-Za-z0-9._~!$&'()*+,;="
_PCT = rf"%{_HEX}{{2}}"
_PCHAR = rf"(?:[{_PLAIN}:@]|{_PCT})"
_REG_NAME = rf"(?:[{_PLAIN}]|{_PCT})*"
_TAIL = rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:#(?:{_PCHAR}|[/?])*)?"


def _uri(host: str) -> str:
    """Return the RFC 3986 ``URI`` production with ``host`` for its host."""
    authority = rf"(?:(?:[{_PLAIN}:]|{_PCT})*@)?{host}(?::[0-9]*)?"
    path = rf"(?://{authority}(?:/{_PCHAR}*)*|/?(?:{_PCHAR}+(?:/{_PCHAR}*)*)?)"
    return rf"[A-Za-z][A-Za-z0-9+.-]*:{path}{_TAIL}"


PATTERNS: dict[str, str] = {
    "date-time": rf"^{_DATE}[Tt]{_TIME}{_OFFSET}$",
    "utc-date-time": rf"^{_DATE}[Tt]{_TIME}(?:[Zz]|\+00:00)$",
    "uri": rf"^{_uri(_REG_NAME)}$",
    "uuid": rf"^{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}$",
}
# A character that no notion of white space contains: enough to know that a text is not blank.
NOT_BLANK = "[!-~\u00a1-\u167f\u3001-\ud7ff]"

_DATE_TIME = (
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_URI = _uri(rf"(?:\[(?P<literal>[^\]]*)\]|{_REG_NAME})")
_USUAL_TIME = PATTERNS["date-time"][1:-1]
_UUID = PATTERNS["uuid"][1:-1]
_IP_FUTURE = rf"[vV]{_HEX}+\.[{_PLAIN}:]+"
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Instant(NamedTuple):
    """A point in time that compares rightly: seconds of a proleptic day count, then digits.

    ``fraction`` holds the digits of the second's fraction without trailing zeros, of any
    length; as text they compare like the numbers they stand for. A leap second compares as
    later than every fraction of the second before it.
    """

    seconds: int
    leap: bool
    fraction: str


def instant(text: str) -> Instant | None:
    """Return the instant that an RFC 3339 ``date-time`` names, or None where it is none.

    Stricter than ``datetime.fromisoformat``: the calendar's real days, no hour 24, no blank
    for the ``T``, a zone of ``Z`` or ``+hh:mm``, and a second 60 only as the last second of a
    month in UTC, where a leap second may stand (RFC 3339, section 5.7).
    """
    match = _compiled(_DATE_TIME).fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    offset_hour, offset_minute = int(match[9] or 0), int(match[10] or 0)
    if not (1 <= month <= 12 and 1 <= day <= _days_in(year, month)):
        return None
    if hour > 23 or minute > 59 or offset_hour > 23 or offset_minute > 59:
        return None
    offset = (offset_hour * 60 + offset_minute) * (-1 if match[8] == "-" else 1)
    minute_of_day = hour * 60 + minute - offset
    leap = second == 60
    if second > 60 or (leap and not _ends_a_month(year, month, day, minute_of_day)):
        return None
    seconds = (_day_count(year, month, day) * 24 * 60 + minute_of_day) * 60 + second - leap
    return Instant(seconds, leap, (match[7] or "").rstrip("0"))


def is_date_time(text: str) -> bool:
    """Tell whether ``text`` is a ``date-time`` of RFC 3339, strictly (see ``instant``)."""
    return _compiled(_USUAL_TIME).fullmatch(text) is not None or instant(text) is not None


def is_utc_date_time(text: str) -> bool:
    """Tell whether ``text`` is an RFC 3339 ``date-time`` whose zone is ``Z`` or ``+00:00``.

    ``-00:00`` says that the local offset is unknown (RFC 3339, section 4.3), so it is not UTC.
    """
    return text.endswith(("Z", "z", "+00:00")) and is_date_time(text)


def is_uri(text: str) -> bool:
    """Tell whether ``text`` is a ``URI`` by the grammar of RFC 3986: absolute, ASCII only."""
    match = _compiled(_URI).fullmatch(text)
    if match is None:
        return False
    literal: str | None = match["literal"]
    return literal is None or _is_ip_literal(literal)


def is_uuid(text: str) -> bool:
    """Tell whether ``text`` is a UUID in its canonical 8-4-4-4-12 form, in any case."""
    return _compiled(_UUID).fullmatch(text) is not None


def is_blank(text: str) -> bool:
    """Tell whether ``text`` holds nothing but white space, or nothing at all."""
    return not text.strip()


@cache
def format_checker() -> FormatChecker:
    """Return jsonschema's format checker with exactly the three formats of this module."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name, accepts in FORMATS.items():
        checker.checks(name)(_for_strings(accepts))
    return checker


FORMATS = {"date-time": is_date_time, "uri": is_uri, "uuid": is_uuid}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile when first asked: whoever trusts the compiled validator's yes never asks."""
    return re.compile(pattern)


def _for_strings(accepts: Callable[[str], bool]) -> Callable[[object], bool]:
    """Return a format's function for any JSON value: what is not a string has no format."""
    return lambda value: not isinstance(value, str) or accepts(value)


def _is_ip_literal(text: str) -> bool:
    """Tell whether ``text`` may stand between the brackets of an RFC 3986 ``IP-literal``."""
    if _compiled(_IP_FUTURE).fullmatch(text):
        return True
    from ipaddress import AddressValueError, IPv6Address

    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return "%" not in text  # RFC 3986 knows no zones


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year: int, month: int) -> int:
    return 29 if month == 2 and _is_leap(year) else _DAYS[month - 1]


def _day_count(year: int, month: int, day: int) -> int:
    """Return the days since 0000-01-01 of the proleptic Gregorian calendar."""
    past = year - 1
    leaps = past // 4 - past // 100 + past // 400 + 1
    return year * 365 + leaps + sum(_days_in(year, m) for m in range(1, month)) + day - 1


def _ends_a_month(year: int, month: int, day: int, minute_of_day: int) -> bool:
    """Tell whether a minute of a local day, given as UTC minutes, is a month's last in UTC."""
    shift, minute = divmod(minute_of_day, 24 * 60)
    return minute == 24 * 60 - 1 and day + shift in (0, _days_in(year, month))
