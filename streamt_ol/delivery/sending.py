"""One delivery from beginning to end: survey, deliver, settle; used by the command `send`."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streamt_ol.delivery.engine import CircuitBreaker, Engine
from streamt_ol.delivery.report import TRIED
from streamt_ol.delivery.validity import InvalidEvents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from streamt_ol.delivery.files.checkpoint import Checkpoint
    from streamt_ol.delivery.files.dead_letter import DeadLetters
    from streamt_ol.delivery.items import Item
    from streamt_ol.delivery.outcome import Outcome
    from streamt_ol.delivery.plan import Decision, Plan
    from streamt_ol.delivery.receivers.receiver import Watch
    from streamt_ol.delivery.report import Report
    from streamt_ol.delivery.retries import RetryPolicy
    from streamt_ol.delivery.routes.route import Route
    from streamt_ol.delivery.senders.sender import Sender
    from streamt_ol.problems import WarningRecord
    from streamt_ol.transport.base import Deadline


@dataclass
class Delivery:
    """The parts of one delivery. ``tick`` is called after every settled event."""

    plan: Plan
    report: Report
    policy: RetryPolicy
    checkpoint: Checkpoint | None = None
    dead_letters: DeadLetters | None = None
    fail_fast: bool = False
    tick: Callable[[], None] = lambda: None
    watch: Watch | None = None
    invalid: InvalidEvents = field(default_factory=InvalidEvents)
    _kept_back: int = 0

    def survey(self) -> None:
        """Decide about every event: count, report and keep what is not sent.

        Raises ``StreamtOlError`` when the input or a file beside it fails.
        """
        for decision in self.plan.survey():
            self._take(decision)

    def warnings(self) -> list[WarningRecord]:
        """Return what is to be known of the events that are sent, all of them together."""
        return [*self.invalid.warnings(), *(self.watch.warnings() if self.watch else ())]

    def _take(self, decision: Decision) -> None:
        if decision.choice == "refused":
            item = decision.item
            self._kept_back += 1
            self.report.refuse(item.line, item.name, decision.reason, decision.rules)
            if self.dead_letters:
                self.dead_letters.add(item)
        elif decision.choice == "send":
            self.invalid.add(decision.faults)
            if self.watch is not None:
                self.watch.add(decision.item.event)
        else:
            self.report.count(decision.choice)

    def run(self, route: Route, stop: threading.Event) -> str:
        """Deliver what the survey found; return why it was stopped, "" if it was not.

        ``stop`` is set where the delivery ends early: what is on its way is finished.
        What was not tried is counted as unsent, also after an interrupt, which is raised on.
        """
        if self.fail_fast and not self.report.is_done:
            self.report.count("unsent", self.plan.to_send)
            return "an event was refused (--fail-fast)"
        workers = max(1, min(route.workers, self.plan.to_send))
        return self._run(route, workers, self.plan.items(), stop)

    def stream(self, route: Route, stop: threading.Event) -> str:
        """Deliver events as they come, one after the other; return why it was stopped, or "".

        Nothing is judged beforehand: what is refused is counted and kept when it comes.
        """
        with _stopping_at(self.policy.deadline, stop):
            return self._run(route, 1, self._live_items(stop), stop, is_live=True)

    def _live_items(self, stop: threading.Event) -> Iterator[Item]:
        for decision in self.plan.survey():
            self._take(decision)
            if decision.choice == "send":
                yield decision.item
            elif decision.choice == "refused" and self.fail_fast:
                stop.set()
                return

    def _run(
        self,
        route: Route,
        workers: int,
        items: Iterable[Item],
        stop: threading.Event,
        *,
        is_live: bool = False,
    ) -> str:
        breaker = CircuitBreaker(stop, fail_fast=self.fail_fast)
        senders: list[Sender] = []
        settled_before = self._settled()
        engine = Engine(senders, self.policy, self._settle, stop, breaker, is_live=is_live)
        try:
            senders += [route.make() for _ in range(workers)]
            engine.run(items)
        finally:
            # A sender that was left at work would fail, or worse, when closed by another thread.
            for sender in senders if not engine.is_abandoned else ():
                sender.close()
            unsent = self.plan.to_send - (self._settled() - settled_before)
            self.report.count("unsent", unsent)
        if is_live and self.fail_fast and not self.report.is_done:
            return breaker.reason or "an event was refused (--fail-fast)"
        is_late = unsent or (is_live and not self.policy.allows(0))
        return breaker.reason or ("the deadline has passed" if is_late else "")

    def close(self) -> None:
        """Close the file of refused lines. The checkpoint file belongs to who opened it."""
        if self.dead_letters:
            self.dead_letters.close()

    def _settled(self) -> int:
        counts = self.report.counts
        return sum(counts[name] for name in TRIED) - self._kept_back

    def _settle(self, item: Item, outcome: Outcome) -> None:
        # Counted first: what was acknowledged stays so when it cannot be recorded.
        self.report.settle(item.line, lambda: item.name, outcome)
        if outcome.state == "sent" and self.checkpoint:
            self.checkpoint.add(item.number, item.part, item.digest)
        if outcome.state == "refused" and self.dead_letters:
            self.dead_letters.add(item)
        self.tick()


@contextmanager
def _stopping_at(deadline: Deadline | None, stop: threading.Event) -> Iterator[None]:
    """Set ``stop`` when ``deadline`` passes within the block: a silent pipe may never end."""
    seconds = 0.0
    if deadline is not None:
        with suppress(TimeoutError):
            seconds = deadline.left()
    timer = threading.Timer(seconds, stop.set)
    timer.daemon = True
    if deadline is not None:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
