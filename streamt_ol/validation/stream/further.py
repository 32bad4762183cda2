"""Further STARTs and ends: those of a run that has one already, each under a key of its own.

A run may have any number of them, in archives whose producer repeats a run id, so nothing here
looks through all of them to add one.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from itertools import groupby
from typing import TYPE_CHECKING

from streamt_ol.validation.stream.facts import END, START, Moment, unpacked_moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_KEY = struct.Struct(">QQQ?I")  # the run in two halves, the job, whether it is an end, checksum
_RUN_BYTES = 16
_PART_BYTES = 25  # of a key: they name the run, the job and the part
_LOW = (1 << 64) - 1


def further_key(run: int, job: int, part: str, checksum: int = 0) -> bytes:
    """Return the key of the START or end with ``checksum`` of a run by a job."""
    return _KEY.pack(run >> 64, run & _LOW, job, part == END, checksum)


def run_of(key: bytes) -> tuple[int, int, str]:
    """Return the run, the job and the part of a key."""
    high, low, job, is_end, _ = _KEY.unpack(key)
    return high << 64 | low, job, END if is_end else START


class FurtherMoments:
    """The further STARTs and ends of a stream by their runs: ``packed`` moments by their keys."""

    def __init__(self, packed: Mapping[bytes, bytes]) -> None:
        self._packed = packed
        self._keys = sorted(packed)

    def runs(self) -> Iterator[int]:
        """Yield each run that has some, once."""
        for run, _ in groupby(self._keys, lambda key: key[:_RUN_BYTES]):
            yield int.from_bytes(run)

    def of(self, run: int, job: int, part: str) -> Iterator[Moment]:
        """Yield the further STARTs, or ends, of a run by a job."""
        start = further_key(run, job, part)[:_PART_BYTES]
        keys = self._keys
        at = bisect_left(keys, start)
        while at < len(keys) and keys[at].startswith(start):
            yield unpacked_moment(self._packed[keys[at]])
            at += 1
