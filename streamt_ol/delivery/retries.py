"""Try again, where that can help: exponentially later, as the receiver asks, up to a bound."""

from __future__ import annotations

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


@dataclass(frozen=True)
class RetryPolicy:
    """``retries``: attempts after the first; ``deadline``: of the whole delivery, None for none.

    ``jitter`` returns a number from 0 to 1; ``max_retry_after`` bounds what ``Retry-After`` asks.
    """

    retries: int
    jitter: Callable[[], float]
    deadline: Deadline | None = None
    max_retry_after: float = MAX_RETRY_AFTER

    def pause(self, attempt: int, retry_after: float | None) -> float:
        """Return how many seconds to wait after the ``attempt``-th failure (from 0)."""
        if retry_after is not None:
            return min(retry_after, self.max_retry_after)
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**attempt)
        # Never less than half: a crowd of senders spreads, and yet every one of them waits.
        return longest * (1 + self.jitter()) / 2

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
    while len(outcomes) < len(items):
        if stop.is_set() or not policy.allows(0):
            outcomes += tried
            return outcomes + [Outcome("unsent")] * (len(items) - len(outcomes))
        got = sender.deliver(items[len(outcomes) :])
        again = next((i for i, outcome in enumerate(got) if outcome.may_retry), len(got))
        attempt = 0 if again else attempt
        outcomes += got[:again]
        tried = got[again:]
        if again == len(got):
            continue
        pause = policy.pause(attempt, got[again].retry_after)
        if attempt >= policy.retries or not policy.allows(pause) or stop.wait(pause):
            outcomes.append(tried.pop(0))
            attempt = 0
        else:
            attempt += 1
    return outcomes
