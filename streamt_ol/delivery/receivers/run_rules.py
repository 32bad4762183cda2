"""Rules of receivers that take RunEvents only, as a table: what each is known to take and refuse.

After the vendors' pages. What is said there to be taken is accepted; ``others`` tells what becomes
of the rest, "refused" also where no answer of the server is known: it is not sent. Whether any
refuses events of this core schema is stated nowhere, so it is not a rule here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamt_ol.delivery.outcome import ACCEPTED, DEPENDS, IGNORED, PLAIN, REFUSED, Status, Verdict
from streamt_ol.delivery.receivers.acceptance import datasets
from streamt_ol.openlineage.events import RUN_EVENT, identity_of

if TYPE_CHECKING:
    from streamt_ol.delivery.receivers.acceptance import Candidate

SIDES = ("inputs", "outputs")
AS_RUNS = "see --as-run-events"
Texts = Callable[[Mapping[str, Any]], Iterator[str]]


@dataclass(frozen=True)
class RunRules:
    """The rules of a receiver of RunEvents, as a table that is called with a candidate.

    - ``only_complete``: COMPLETE events with an input and an output; what becomes of others, of
      static events too, is ``others``;
    - ``max_bytes``: of the event; ``refuses``, ``ignores``, ``asks``, ``notes`` yield reasons:
      why it is refused, makes no lineage, depends on what the server has, and what to know.
    """

    only_complete: bool = False
    others: Status = REFUSED
    max_bytes: int | None = None
    refuses: Texts | None = None
    ignores: Texts | None = None
    asks: Texts | None = None
    notes: Texts | None = None

    def __call__(self, candidate: Candidate) -> Verdict:
        """Return what becomes of an event."""
        if candidate.kind != RUN_EVENT:
            return Verdict(self.others, (f"it takes RunEvents only ({AS_RUNS})",))
        if self.only_complete and (missing := tuple(_incomplete(candidate.event))):
            return Verdict(self.others, missing)
        if self.max_bytes is not None and candidate.size > self.max_bytes:
            size = f"{candidate.size:,} bytes are more than the limit of {self.max_bytes:,}"
            return Verdict(REFUSED, (size,))
        if self.refuses is self.ignores is self.asks is self.notes is None:
            return PLAIN
        if reasons := _texts(self.refuses, candidate):
            return Verdict(REFUSED, reasons)
        if reasons := _texts(self.ignores, candidate):
            return Verdict(IGNORED, reasons)
        asked, notes = _texts(self.asks, candidate), _texts(self.notes, candidate)
        return Verdict(DEPENDS if asked else ACCEPTED, asked, notes)


def _texts(rule: Texts | None, candidate: Candidate) -> tuple[str, ...]:
    """Return what ``rule`` says of an event, which is parsed only where there is a rule."""
    return () if rule is None else tuple(rule(candidate.event))


def _incomplete(event: Mapping[str, Any]) -> Iterator[str]:
    if event.get("eventType") != "COMPLETE":
        yield "its eventType is not COMPLETE"
    for side in SIDES:
        if not datasets(event, side):
            yield f"it has no {side}"


def entities(event: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield namespace and name of the job and of every dataset."""
    yield identity_of(event.get("job"))
    for side in SIDES:
        yield from map(identity_of, datasets(event, side))


def links(event: Mapping[str, Any]) -> int:
    """Return how many pairs of an input and an output there are."""
    return len(datasets(event, "inputs")) * len(datasets(event, "outputs"))
