"""Check each event of an input against the rules of several receivers; nothing is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.delivery.judgement import judge
from streamt_ol.delivery.outcome import IGNORED, REFUSED, Verdict
from streamt_ol.delivery.receivers.acceptance import Candidate
from streamt_ol.openlineage.events import DATASET_EVENT as DATASET

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from streamt_ol.delivery.reading import Events
    from streamt_ol.delivery.receivers.receiver import Receiver, Watch
    from streamt_ol.delivery.validity import Validity


class EventCheck(NamedTuple):
    """One event (``name`` is safe to show) and the verdict of each receiver, by its name."""

    line: int
    name: str
    verdicts: dict[str, Verdict]


def check(
    events: Events,
    receivers: Sequence[Receiver],
    validity: Validity,
    watches: Mapping[str, Watch] | None = None,
) -> Iterator[EventCheck]:
    """Yield the verdicts about every event, in the order of the input.

    What is not an event is refused by every receiver. ``watches``, by the receiver's name, look at
    the events that it takes.
    """
    for item in events.items():
        if item.fault:
            invalid = Verdict(REFUSED, (item.fault,))
            yield EventCheck(item.line, item.name, {r.name: invalid for r in receivers})
            continue
        faults = validity.faults(item)
        verdicts = {}
        for receiver in receivers:
            candidate = Candidate(item, len(receiver.adapted(item)), is_explained=True)
            verdict = judge(receiver, candidate, faults, validity)
            verdicts[receiver.name] = verdict
            if watches and receiver.name in watches and verdict.is_taken:
                watches[receiver.name].add(item.event)
        if events.as_runs and item.outline.kind == DATASET:
            verdicts = {name: _as_part_of_runs(v) for name, v in verdicts.items()}
        yield EventCheck(item.line, item.name, verdicts)


def _as_part_of_runs(verdict: Verdict) -> Verdict:
    """Return the verdict about a DatasetEvent whose facets went into the runs that read it."""
    if verdict.status != REFUSED:
        return verdict
    return Verdict(IGNORED, ("the dataset is sent as facets of the runs' inputs and outputs",))
