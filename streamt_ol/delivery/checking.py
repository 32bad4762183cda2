"""What each of several receivers would do with each event of an input; nothing is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.delivery.items import DATASET
from streamt_ol.delivery.judging import Judged
from streamt_ol.delivery.outcome import IGNORED, REFUSED, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streamt_ol.delivery.reading import Events
    from streamt_ol.delivery.receivers import Receiver
    from streamt_ol.delivery.settings import OpenMetadataSettings


class Checked(NamedTuple):
    """One event (``name`` is safe to show) and the verdict of each receiver, by its name."""

    line: int
    name: str
    verdicts: dict[str, Verdict]


def check(
    events: Events, receivers: Sequence[Receiver], settings: OpenMetadataSettings
) -> Iterator[Checked]:
    """Yield the verdicts about every event, in the order of the input.

    A line that holds no valid event is refused by every receiver.
    """
    for line in events.lines():
        if line.fault:
            invalid = Verdict(REFUSED, (line.fault,))
            yield Checked(line.number, "invalid event", {r.name: invalid for r in receivers})
        for item in line.items:
            judged = Judged(item.event, len(item.body), settings, names_facets=True)
            verdicts = {receiver.name: receiver.judge(judged) for receiver in receivers}
            if events.as_runs and line.kind == DATASET:
                verdicts = {name: _as_part_of_runs(v) for name, v in verdicts.items()}
            yield Checked(line.number, item.name, verdicts)


def _as_part_of_runs(verdict: Verdict) -> Verdict:
    """Return the verdict about a DatasetEvent whose facets went into the runs that read it."""
    if verdict.status != REFUSED:
        return verdict
    return Verdict(IGNORED, ("it is sent as facets of the runs' inputs and outputs",))
