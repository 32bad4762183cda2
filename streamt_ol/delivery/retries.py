"""Try again, where that can help: exponentially later, as the receiver asks, up to a bound."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamt_ol.delivery.outcome import Outcome

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    from streamt_ol.delivery.items import Item
    from streamt_ol.delivery.senders.sender import Sender
    from streamt_ol.transport.base import Deadline

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 15.0
MAX_RETRY_AFTER = 60.0
_UNBOUNDED = 1e12  # seconds: no date lies so far ahead
_SERVER_FAILED = 500
_VARYING = re.compile(r"[0-9a-fA-F-]{8,}|[0-9]+")


@dataclass(frozen=True)
class RetryPolicy:
    """``retries``: attempts after the first; ``deadline``: of the whole delivery, None for none.

    ``jitter`` returns a number from 0 to 1. What ``Retry-After`` asks beyond ``max_retry_after``
    is not waited, nor asked again earlier.
    """

    retries: int
    jitter: Callable[[], float]
    deadline: Deadline | None = None
    max_retry_after: float = MAX_RETRY_AFTER

    def pause(self, attempt: int, retry_after: float | None) -> float:
        """Return how many seconds to wait after the ``attempt``-th failure (from 0)."""
        if retry_after is not None:
            return retry_after
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**attempt)
        # Never less than half: a crowd of senders spreads, and yet every one of them waits.
        return longest * (1 + self.jitter()) / 2

    def refuses(self, outcome: Outcome) -> str:
        """Return why what the receiver asks to wait is not waited, "" if it is."""
        asked = outcome.retry_after
        if asked is None or asked <= self.max_retry_after:
            return ""
        time = f"for {asked:,.0f} seconds" if asked < _UNBOUNDED else "for longer than any bound"
        return (
            f"the server asks not to be asked again {time}, "
            f"more than the {self.max_retry_after:g} that are waited (Retry-After)"
        )

    def allows(self, seconds: float) -> bool:
        """Return whether another attempt in ``seconds`` begins within the deadline."""
        return self.deadline is None or self.deadline.allows(seconds)


def deliver(
    sender: Sender, items: Sequence[Item], policy: RetryPolicy, stop: threading.Event
) -> list[Outcome]:
    """Return the last outcome of each item, after as many attempts as ``policy`` allows.

    Items after one that is tried again wait for it, so that their order is kept. When ``stop`` is
    set no attempt is begun; what was not tried at all is ``unsent``.
    """
    outcomes: list[Outcome] = []
    tried: list[Outcome] = []  # what came of those after `outcomes`, which would be tried again
    attempt = 0
    last: Outcome | None = None
    while len(outcomes) < len(items):
        if stop.is_set() or not policy.allows(0):
            outcomes += tried
            return outcomes + [Outcome("unsent")] * (len(items) - len(outcomes))
        got = sender.deliver(items[len(outcomes) :] if outcomes else items)
        again = _settled(got)
        attempt = 0 if again else attempt
        outcomes += got[:again]
        tried = got[again:]
        if again == len(got):
            continue
        if is_over := policy.refuses(got[again]):
            tried[0] = got[again]._replace(detail=f"{got[again].detail}; {is_over}", is_fatal=True)
        is_permanent = attempt > 0 and _is_same_failure(last, got[again])
        last = got[again]
        pause = policy.pause(attempt, last.retry_after)
        may_again = attempt < policy.retries and not is_over and not is_permanent
        if not may_again or not policy.allows(pause) or stop.wait(pause):
            outcomes.append(tried.pop(0))
            attempt = 0
        else:
            attempt += 1
    return outcomes


def _settled(outcomes: Sequence[Outcome]) -> int:
    """Return how many outcomes there are before the first that another attempt may change."""
    for number, outcome in enumerate(outcomes):
        if outcome.may_retry:
            return number
    return len(outcomes)


def _is_same_failure(one: Outcome | None, other: Outcome) -> bool:
    """Return whether a server has failed twice in the same way: the event is what it fails at.

    Times, identifiers and counters within its words may differ.
    """
    if one is None or not one.status == other.status == _SERVER_FAILED:
        return False
    return _VARYING.sub("#", one.detail) == _VARYING.sub("#", other.detail)
