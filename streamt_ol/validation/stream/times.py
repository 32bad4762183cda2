"""Event times as numbers and in one spelling, so that two of them can be compared."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from streamt_ol.openlineage.formats import instant
from streamt_ol.validation.caching import LONGEST, remembering

TICKS = 10_000_000  # a second in ticks of 100 ns: 9,999 years of them fit 64 bits
_DIGITS = 7  # of a second that ticks tell apart
_REMEMBERED = 8192
_UTC, _SIGNS = ("Z", "z"), ("+", "-")  # what a zone is, or begins with
_MINUTE = "0000-01-01T00:00"
_WITHOUT_MILLIS = len(f"{_MINUTE}:00+00:00")  # the most characters; a few have milliseconds, too


@lru_cache(maxsize=4096)
def _minute(prefix: str, zone: str) -> int:
    """Return the ticks of a full minute, ``2026-01-31T23:59`` and its zone."""
    found = instant(f"{prefix}:00{zone}")
    assert found is not None
    return found.seconds * TICKS


def is_time(text: str) -> bool:
    """Tell whether ``text`` is a valid ``date-time``, sooner than ``instant`` for a usual one."""
    if text[-1:] not in _UTC and text[-6:-5] not in _SIGNS:
        return False  # a time without a zone is the most frequent fault
    return _clock.ticks(text) is not None or instant(text) is not None


def ticks(text: str) -> int:
    """Return the instant of a valid ``date-time`` in ticks of 100 ns, what is finer cut off."""
    zone = "Z" if text[-1] in "Zz" else text[-6:]
    second = int(text[17:19])
    minute = _minute(text[:16], zone)
    if second == 60:  # noqa: PLR2004 - a leap second is later than all of the second before it
        return minute + 60 * TICKS - 1
    fraction = text[20 : -len(zone)]
    return minute + second * TICKS + (int(fraction.ljust(7, "0")[:7]) if fraction else 0)


@remembering(4096)
def in_utc(text: str) -> str:
    """Return the one spelling that all spellings of a valid ``date-time``'s instant share."""
    found = instant(text)
    assert found is not None
    zone = 1 if text[-1] in "Zz" else 6
    if zone == 1:
        minute = text[:16].upper()
    else:
        try:
            moment = datetime.fromisoformat(f"{text[:10]}T{text[11:16]}{text[-6:]}")
            minute = moment.astimezone(UTC).isoformat()[:16]
        except (ValueError, OverflowError):  # years that the standard library does not have
            return str(found)
    fraction = f".{found.fraction}" if found.fraction else ""
    return f"{minute}:{text[17:19]}{fraction}Z"


class Clock:
    """Reads usual event times, those without a leap second, by parts that it has seen before."""

    def __init__(self) -> None:
        self._minutes: dict[str, int] = {}
        self._days: dict[str, int] = {}
        self._minutes_of_day: dict[str, int] = {}
        self._seconds = {f":{second:02}": second * TICKS for second in range(60)}
        self._millis = {f".{milli:03}": milli * TICKS // 1000 for milli in range(1000)}
        # What follows the seconds; or the milliseconds, where more than a Z follows those.
        self._ends: dict[str, int] = {}
        self._more: dict[str, int] = {}

    def ticks(self, text: str) -> int | None:
        """Return what the function ``ticks`` returns for ``text``; None if it is not usual."""
        minutes, seconds = self._minutes, self._seconds
        try:
            if len(text) <= _WITHOUT_MILLIS:
                return minutes[text[:16]] + seconds[text[16:19]] + self._ends[text[19:]]
            milli = self._millis[text[19:23]]
            return minutes[text[:16]] + seconds[text[16:19]] + milli + self._more[text[23:]]
        except KeyError:
            return self._unseen(text)

    def _unseen(self, text: str) -> int | None:
        """Return what ``ticks`` does, and remember the parts."""
        minute = self._minute(text[:16])
        second = self._seconds.get(text[16:19])
        milli = self._millis.get(text[19:23]) if len(text) > _WITHOUT_MILLIS else None
        if milli is None:
            milli, end = 0, _remembered(self._ends, text[19:], f"{_MINUTE}:00")
        else:
            end = _remembered(self._more, text[23:], f"{_MINUTE}:00.000")
        if minute is None or second is None or end is None:
            return None
        return minute + second + milli + end

    def _minute(self, text: str) -> int | None:
        day = _remembered(self._days, text[:10], "", f"{_MINUTE[10:]}:00Z")
        of_day = _remembered(self._minutes_of_day, text[10:], _MINUTE[:10], ":00Z")
        if day is None or of_day is None:
            return None
        if len(self._minutes) >= _REMEMBERED:
            self._minutes.clear()
        self._minutes[text] = day + of_day
        return day + of_day


def _remembered(known: dict[str, int], text: str, before: str, after: str = "") -> int | None:
    """Return the ticks that ``text`` adds to those of ``_MINUTE``, None if it is not valid."""
    if text in known:
        return known[text]
    whole = f"{before}{text}{after}"
    if instant(whole) is None:
        return None
    if len(known) >= _REMEMBERED:
        known.clear()
    added = ticks(whole) - ticks(f"{_MINUTE}:00Z")
    if len(text) <= LONGEST:  # a fraction has any number of digits
        known[text] = added
    return added


_clock = Clock()
