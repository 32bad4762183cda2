"""The partitions that one merge takes together, so that it stays under 256 MB of memory.

How much state an archive holds is not known before it is read: one of minimal events has forty
times as much for each byte as a usual one. So the plan makes many small partitions, and once
every split is checked, as many of them are merged together as fit.
"""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING

from streamt_ol.scale.blobs import ends_of, table_range
from streamt_ol.scale.pieces import Group, damaged, state_piece

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamt_ol.scale.plan import Plan
    from streamt_ol.scale.work_dir import WorkDir

# Bytes of shares that are merged together. Read and joined, a byte takes up to nine, and a process
# that has checked events before some 100 MB of its own.
GROUP_BYTES = 12 << 20


def groups_of(work: WorkDir, plan: Plan, parts: Sequence[int]) -> list[Group]:
    """Return the groups of partitions; ``parts`` tells how many pieces of state a split has.

    A number of partitions that the user named is the number of groups.
    """
    if plan.fixed:
        return [Group(number, number) for number in range(plan.partitions)]
    ends = [0] * plan.partitions
    for split, count in enumerate(parts):
        for part in range(count):
            table = work.read(state_piece(split, part), *table_range(0, plan.partitions - 1))
            if len(found := ends_of(table)) != plan.partitions:
                raise damaged()
            ends = list(map(add, ends, found))
    return grouped(ends)


def grouped(ends: Sequence[int]) -> list[Group]:
    """Return groups of adjacent partitions, given where each ends in the bytes of all shares."""
    groups = []
    first = before = 0
    for number, end in enumerate(ends):
        if end - before > GROUP_BYTES and number > first:
            groups.append(Group(first, number - 1))
            first, before = number, ends[number - 1]
    return [*groups, Group(first, len(ends) - 1)]
