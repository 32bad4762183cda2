"""Merge a group of partitions: join its shares of the state, and judge the stream by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.scale.blobs import blob_range, split, table_range
from streamt_ol.scale.check import collector_of
from streamt_ol.scale.pieces import Across, KeySet, Outcome, damaged, decoded, encoded, state_piece
from streamt_ol.scale.plan import LINE_BITS
from streamt_ol.scale.state import state_of
from streamt_ol.validation.stream.rules import repeated, stream_findings
from streamt_ol.validation.stream.state import StreamState

if TYPE_CHECKING:
    from streamt_ol.scale.pieces import Group
    from streamt_ol.scale.plan import Plan
    from streamt_ol.scale.work_dir import WorkDir


def merge_group(work: WorkDir, plan: Plan, number: int) -> Outcome:
    """Merge the group ``number`` of partitions and leave its findings as ``merged-NUMBER``."""
    across = decoded(work.read("across"), Across)
    group = across.groups[number]
    collector = collector_of(plan)
    state = StreamState()
    state.names = dict(across.names)
    for at, (first, parts) in enumerate(zip(across.firsts, across.parts, strict=True)):
        # Only the window measures distances, so only it counts lines as one process does.
        shift = first - (at << LINE_BITS)
        for part in range(parts):
            later = state_of(split(_shares(work, plan, state_piece(at, part), group)), shift)
            window, later.window = later.window, type(later.window)()
            state.absorb(later)
            state.repeated += [at - shift for at in state.window.absorb(window)]
            collector.add(repeated(state))
    collector.add(stream_findings(state, KeySet(across.continuous)))
    work.write(f"merged-{number}", encoded(collector.counts()))
    return Outcome(number)


def _shares(work: WorkDir, plan: Plan, piece: str, group: Group) -> bytes:
    """Return the bytes of the shares of ``group`` in a piece of state."""
    table = work.read(piece, *table_range(group.first, group.last))
    start, end = blob_range(table, group.first, plan.partitions)
    shares = work.read(piece, start, end) if end > start else b""
    if len(shares) != end - start:
        raise damaged()
    return shares
