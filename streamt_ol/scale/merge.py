"""Merge one partition: join its shares of the stream state, and judge the stream by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.scale.check import collector_of
from streamt_ol.scale.pieces import (
    Across,
    Outcome,
    blob_range,
    decoded,
    encoded,
    table_range,
)
from streamt_ol.scale.plan import LINE_BITS
from streamt_ol.scale.state import state_of
from streamt_ol.validation.stream.rules import repeated, stream_findings
from streamt_ol.validation.stream.state import StreamState

if TYPE_CHECKING:
    from streamt_ol.scale.plan import Plan
    from streamt_ol.scale.work_dir import WorkDir


def merge_partition(work: WorkDir, plan: Plan, number: int) -> Outcome:
    """Merge the partition ``number`` and leave its findings as ``merged-NUMBER``."""
    across = decoded(work.read("across"), Across)
    collector = collector_of(plan)
    state = StreamState()
    state.names = dict(across.names)
    for split, first in enumerate(across.firsts):
        # Only the window measures distances, so only it counts lines as one process does.
        shift = first - (split << LINE_BITS)
        later = state_of(_share(work, plan, split, number), shift)
        window, later.window = later.window, type(later.window)()
        state.absorb(later)
        state.repeated += [at - shift for at in state.window.absorb(window)]
        collector.add(repeated(state))
    collector.add(stream_findings(state, frozenset(across.continuous)))
    work.write(f"merged-{number}", encoded(collector.counts()))
    return Outcome(number)


def _share(work: WorkDir, plan: Plan, split: int, partition: int) -> bytes:
    piece = f"state-{split}"
    table = work.read(piece, *table_range(partition))
    return work.read(piece, *blob_range(table, partition, plan.partitions))
