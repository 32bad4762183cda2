"""Outcomes of an event: what a receiver would do with it, and what it did."""

from __future__ import annotations

from typing import Literal, NamedTuple

ACCEPTED: Literal["accepted"] = "accepted"
IGNORED: Literal["ignored"] = "ignored"
REFUSED: Literal["refused"] = "refused"
DEPENDS: Literal["depends"] = "depends"


Status = Literal["accepted", "ignored", "refused", "depends"]


class Verdict(NamedTuple):
    """The verdict of a receiver on an event, as far as that can be told offline.

    ``status``: the receiver takes the event; takes it and makes no lineage of it; answers an
    error; or it depends on its catalog or release, for what ``reasons`` (safe to show) say that it
    looks for. ``notes`` are what to know although it is accepted;
    ``edges``: how many lineage edges to expect, None where the receiver makes none of its own;
    ``reads`` and ``ignores`` are names of facets; ``rules``: those of `validate` that the status
    rests on.
    """

    status: Status
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    edges: int | None = None
    reads: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    @property
    def is_taken(self) -> bool:
        """Whether the event is worth sending: accepted, or left to the server to decide."""
        return self.status in (ACCEPTED, DEPENDS)


PLAIN = Verdict(ACCEPTED)  # nothing more to say: that of most events, so made once
State = Literal["sent", "no-edges", "refused", "failed", "unknown", "unsent"]


class Outcome(NamedTuple):
    """The outcome of sending an event.

    - ``sent``: acknowledged, and done as far as the receiver says;
    - ``no-edges``: answered with success, but without any lineage edge;
    - ``refused``: an answer that another attempt would not change;
    - ``failed``: no acknowledgement, after every attempt that was allowed;
    - ``unknown``: on its way when delivery was broken off: it may have arrived;
    - ``unsent``: not tried, or not again, since delivery was stopped.

    ``detail`` is safe to show. ``may_retry`` and ``retry_after`` (seconds) are for the sender's
    caller; ``is_fatal`` means that no other event would fare better.
    """

    state: State
    detail: str = ""
    status: int | None = None
    edges: int = 0
    unresolved_datasets: tuple[str, ...] = ()
    unresolved_jobs: tuple[str, ...] = ()
    may_retry: bool = False
    retry_after: float | None = None
    is_fatal: bool = False
