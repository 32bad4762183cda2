"""The two tasks that an engine maps: check a split, merge a group of partitions.

A task takes the work directory and a number as bytes, leaves its piece in the work directory,
and returns an ``Outcome``. It raises nothing: an engine would try it again.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from streamt_ol.problems import Location, StreamtOlError
from streamt_ol.scale.check import check_split
from streamt_ol.scale.merge import merge_group
from streamt_ol.scale.pieces import Outcome, decoded, encoded
from streamt_ol.scale.plan import Plan
from streamt_ol.scale.work_dir import WorkDir

if TYPE_CHECKING:
    from collections.abc import Callable


class Item(msgspec.Struct, array_like=True):
    """The order that a task is given: where the work directory is, and which split or group.

    ``plan`` is the checksum of the plan. A worker of Spark outlives a run, and another run may have
    the same directory after it.
    """

    where: str
    number: int
    plan: int = 0


def item(work: WorkDir, plan: bytes, number: int) -> bytes:
    """Return the ``Item`` for a task in ``work``, which was claimed for ``plan``."""
    return encoded(Item(work.where, number, crc32(plan)))


def check(item: bytes) -> bytes:
    """Check a split. Takes an ``Item``, returns an ``Outcome``, each as bytes."""
    return _done(item, check_split)


def merge(item: bytes) -> bytes:
    """Merge a group of partitions. Takes an ``Item``, returns an ``Outcome``, each as bytes."""
    return _done(item, merge_group)


def _done(item: bytes, step: Callable[[WorkDir, Plan, int], Outcome]) -> bytes:
    where, number, plan = msgspec.structs.astuple(decoded(item, Item))
    try:
        return encoded(step(WorkDir(where), _plan(where, plan), number))
    except StreamtOlError as error:
        return encoded(Outcome(number, error=_record(error)))


def error_of(outcome: Outcome) -> StreamtOlError | None:
    """Return the error that a task met, or None."""
    if outcome.error is None:
        return None
    code, message, location, suggestion = outcome.error
    place = None if location is None else Location(option=location)
    return StreamtOlError(code, message, location=place, suggestion=suggestion)


def _record(error: StreamtOlError) -> tuple[str, str, str | None, str | None]:
    location = None if error.location is None else str(error.location)
    return error.code, error.message, location, error.suggestion


@lru_cache(maxsize=1)
def _plan(where: str, _checksum: int) -> Plan:
    return decoded(WorkDir(where).plan(), Plan)
