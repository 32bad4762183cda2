"""Several senders at work: events of one job stay in order, everything else runs abreast."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from streamt_ol.delivery.items import lane_of
from streamt_ol.delivery.outcome import Outcome
from streamt_ol.delivery.retries import deliver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from streamt_ol.delivery.items import Item
    from streamt_ol.delivery.retries import RetryPolicy
    from streamt_ol.delivery.senders.sender import Sender

    Chunks = queue.Queue[list[Item] | None]

GIVE_UP_AFTER = 3
_WAIT = 0.1
_CHUNK = 32
_UNKNOWN = Outcome("unknown", "it was on its way when the delivery was interrupted")


@final
class CircuitBreaker:
    """Decides when to stop: a receiver that fails several events in a row is not there."""

    def __init__(self, stop: threading.Event, *, fail_fast: bool) -> None:
        self._stop = stop
        self._fail_fast = fail_fast
        self._failures = 0
        self._lock = threading.Lock()
        self.reason = ""

    def note(self, outcome: Outcome) -> None:
        """Take one outcome into account."""
        with self._lock:
            if outcome.state == "failed":
                self._failures += 1
            elif outcome.state != "unsent":
                self._failures = 0
            if outcome.is_fatal:
                self._stop_for(f"no event can be delivered: {outcome.detail}")
            elif self._failures >= GIVE_UP_AFTER:
                self._stop_for(f"{GIVE_UP_AFTER} events in a row could not be delivered")
            elif self._fail_fast and outcome.state not in ("sent", "unsent"):
                self._stop_for("an event was not delivered (--fail-fast)")

    def _stop_for(self, reason: str) -> None:
        self.reason = self.reason or reason
        self._stop.set()


@dataclass
class _Worker:
    """A sender with its thread's queue; ``on_its_way``: what it is delivering, not yet settled.

    ``lock`` is held while that changes and while outcomes are settled. ``is_done`` is plain, and
    not asked of the thread: an interrupt within ``Thread.join`` marks a running thread as ended.
    """

    sender: Sender
    waiting: Chunks = field(default_factory=lambda: queue.Queue(maxsize=2))
    on_its_way: Sequence[Item] = ()
    is_done: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class Engine:
    """Delivers items through ``senders``, one thread each, and settles what was delivered.

    ``settle(item, outcome)`` is called from the threads, in the order of delivery within a job.
    ``is_abandoned``: threads were left behind at work, so their senders are not to be closed.
    ``is_live``: an item is not held back until more of them are there.
    """

    senders: Sequence[Sender]
    policy: RetryPolicy
    settle: Callable[[Item, Outcome], None]
    stop: threading.Event
    breaker: CircuitBreaker
    is_abandoned: bool = False
    is_live: bool = False
    _failure: list[BaseException] = field(default_factory=list)
    _ends: queue.SimpleQueue[None] = field(default_factory=queue.SimpleQueue)

    def run(self, items: Iterable[Item]) -> None:
        """Deliver ``items`` until their end, or until ``stop`` is set; return when all is quiet.

        An interrupt stops the delivery: what is on its way is finished (each attempt within its
        own timeout) and settled, then the interrupt is raised again. A second one does not wait:
        what is on its way is settled as ``unknown``. Items never tried are not settled, or as
        ``unsent``.
        """
        workers = [_Worker(sender) for sender in self.senders]
        for worker in workers:
            # A daemon: after a second interrupt the process does not wait for it.
            threading.Thread(target=self._work, args=(worker,), name="send", daemon=True).start()
        try:
            self._feed(items, workers)
            self._finish(workers)
        except BaseException:  # an interrupt too: what is on its way is finished first
            self.stop.set()
            try:
                self._finish(workers)
            except BaseException:  # a second interrupt: the outcome stays unknown
                self._abandon(workers)
                raise
            raise
        if self._failure:
            raise self._failure[0]

    def _feed(self, items: Iterable[Item], workers: Sequence[_Worker]) -> None:
        """Deal the items out in chunks: one hand-over between threads for many of them."""
        size = 1 if self.is_live else max(_CHUNK, *(s.batch_size for s in self.senders))
        chunks: list[list[Item]] = [[] for _ in workers]
        for item in items:
            if self.stop.is_set():
                return
            lane = lane_of(item.outline) if item.lane is None else item.lane
            index = lane % len(workers)
            chunks[index].append(item)
            if len(chunks[index]) == size:
                self._put(workers[index], chunks[index])
                chunks[index] = []
        for worker, chunk in zip(workers, chunks, strict=True):
            self._put(worker, chunk)

    def _put(self, worker: _Worker, chunk: list[Item]) -> None:
        while chunk and not self.stop.is_set():
            try:
                worker.waiting.put(chunk, timeout=_WAIT)
            except queue.Full:
                continue
            return

    def _finish(self, workers: Sequence[_Worker]) -> None:
        """Tell the workers that nothing more comes, and wait until they are done."""
        for worker in workers:
            while not worker.is_done:
                with suppress(queue.Full):
                    worker.waiting.put(None, timeout=_WAIT)
                    break
        while not all(worker.is_done for worker in workers):
            with suppress(queue.Empty):
                self._ends.get(timeout=_WAIT)

    def _abandon(self, workers: Sequence[_Worker]) -> None:
        self.is_abandoned = True
        for worker in workers:
            with worker.lock:
                for item in worker.on_its_way:
                    self.settle(item, _UNKNOWN)
                worker.on_its_way = ()

    def _work(self, worker: _Worker) -> None:
        size = worker.sender.batch_size
        while (chunk := worker.waiting.get()) is not None:
            try:
                for start in range(0, len(chunk), size):
                    self._deliver(worker, chunk[start : start + size])
            except BaseException as error:  # noqa: BLE001 - raised again by run(), in its thread
                self._failure.append(error)
                self.stop.set()
        worker.is_done = True
        self._ends.put(None)

    def _deliver(self, worker: _Worker, batch: Sequence[Item]) -> None:
        with worker.lock:
            if self.stop.is_set():
                return
            worker.on_its_way = batch
        outcomes = deliver(worker.sender, batch, self.policy, self.stop)
        failures: list[Exception] = []
        with worker.lock:
            if self.is_abandoned:
                return
            worker.on_its_way = ()
            for item, outcome in zip(batch, outcomes, strict=True):
                self.breaker.note(outcome)
                try:
                    self.settle(item, outcome)
                except Exception as error:  # noqa: BLE001 - the rest was delivered all the same
                    failures.append(error)
        if failures:
            raise failures[0]
