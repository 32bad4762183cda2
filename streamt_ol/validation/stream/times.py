"""Event times as numbers and in one spelling, so that two of them can be compared."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from streamt_ol.openlineage.formats import instant

TICKS = 10_000_000  # a second in ticks of 100 ns: 9,999 years of them fit 64 bits
_DIGITS = 7  # of a second that ticks tell apart
_REMEMBERED = 8192
_TAILS = 4096


@lru_cache(maxsize=4096)
def _minute(prefix: str, zone: str) -> int:
    """Return the ticks of a full minute, ``2026-01-31T23:59`` and its zone."""
    found = instant(f"{prefix}:00{zone}")
    assert found is not None
    return found.seconds * TICKS


def ticks(text: str) -> int:
    """Return the instant of a valid ``date-time`` in ticks of 100 ns, what is finer cut off."""
    zone = "Z" if text[-1] in "Zz" else text[-6:]
    second = int(text[17:19])
    minute = _minute(text[:16], zone)
    if second == 60:  # noqa: PLR2004 - a leap second is later than all of the second before it
        return minute + 60 * TICKS - 1
    fraction = text[20 : -len(zone)]
    return minute + second * TICKS + (int(fraction.ljust(7, "0")[:7]) if fraction else 0)


@lru_cache(maxsize=4096)
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


class UtcClock:
    """Reads the usual event times, in UTC and without a leap second, by parts seen before."""

    def __init__(self) -> None:
        self._minutes: dict[str, int] = {}
        self._seconds = {f":{second:02}": second * TICKS for second in range(60)}
        self._fractions = {"Z": 0}

    def ticks(self, text: str) -> int:
        """Return what the function ``ticks`` returns for ``text``; -1 if it is not a usual time."""
        minute = self._minutes.get(text[:16])
        second = self._seconds.get(text[16:19], -1)
        fraction = self._fractions.get(text[19:])
        if minute is None:
            minute = self._minute(text[:16])
        if fraction is None:
            fraction = self._fraction(text[19:])
        if minute < 0 or second < 0 or fraction < 0:
            return -1
        return minute + second + fraction

    def _minute(self, text: str) -> int:
        found = instant(f"{text}:00Z")
        if found is None or text[10] != "T":
            return -1
        if len(self._minutes) == _REMEMBERED:
            self._minutes.clear()
        ticks = self._minutes[text] = found.seconds * TICKS
        return ticks

    def _fraction(self, text: str) -> int:
        digits = text[1:-1]
        if not (text.startswith(".") and text.endswith("Z") and digits.isdecimal()):
            return -1
        if not digits.isascii():
            return -1
        ticks = int(digits[:_DIGITS].ljust(_DIGITS, "0"))
        if len(self._fractions) < _TAILS:
            self._fractions[text] = ticks
        return ticks
