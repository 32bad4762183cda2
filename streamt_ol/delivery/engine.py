"""Several senders at work: events of one job stay in order, everything else runs abreast."""

from __future__ import annotations

import queue
import threading
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from streamt_ol.delivery.retrying import deliver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from streamt_ol.delivery.items import Item
    from streamt_ol.delivery.outcome import Outcome
    from streamt_ol.delivery.retrying import RetryPolicy
    from streamt_ol.delivery.senders import Sender

    Chunks = queue.Queue[list[Item] | None]

GIVE_UP_AFTER = 3
_WAIT = 0.1
_CHUNK = 32


@final
class Health:
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
                self._stop_for("no event can be delivered")
            elif self._failures >= GIVE_UP_AFTER:
                self._stop_for(f"{GIVE_UP_AFTER} events in a row could not be delivered")
            elif self._fail_fast and outcome.state not in ("sent", "unsent"):
                self._stop_for("an event was not delivered (--fail-fast)")

    def _stop_for(self, reason: str) -> None:
        self.reason = self.reason or reason
        self._stop.set()


@dataclass
class Engine:
    """Delivers items through ``senders``, one thread each, and settles what was delivered.

    ``settle(item, outcome)`` is called from the threads, in the order of delivery within a job.
    """

    senders: Sequence[Sender]
    policy: RetryPolicy
    settle: Callable[[Item, Outcome], None]
    stop: threading.Event
    health: Health
    _failure: list[BaseException] = field(default_factory=list)

    def run(self, items: Iterable[Item]) -> None:
        """Deliver ``items`` until their end, or until ``stop`` is set; return when all is quiet.

        An interrupt stops the delivery: what is on its way is finished and settled, then the
        interrupt is raised again. Items that are never tried are not settled, or as ``unsent``.
        """
        queues: list[Chunks] = [queue.Queue(maxsize=2) for _ in self.senders]
        threads = [
            threading.Thread(target=self._work, args=pair, name="send")
            for pair in zip(self.senders, queues, strict=True)
        ]
        for thread in threads:
            thread.start()
        try:
            self._feed(items, queues)
            _finish(queues, threads)
        except BaseException:
            self.stop.set()
            _finish(queues, threads)
            raise
        if self._failure:
            raise self._failure[0]

    def _feed(self, items: Iterable[Item], queues: Sequence[Chunks]) -> None:
        """Deal the items out in chunks: one hand-over between threads for many of them."""
        size = max(_CHUNK, *(sender.batch_size for sender in self.senders))
        chunks: list[list[Item]] = [[] for _ in queues]
        for item in items:
            if self.stop.is_set():
                return
            index = zlib.crc32(item.order.encode(errors="replace")) % len(queues)
            chunks[index].append(item)
            if len(chunks[index]) == size:
                self._put(queues[index], chunks[index])
                chunks[index] = []
        for waiting, chunk in zip(queues, chunks, strict=True):
            self._put(waiting, chunk)

    def _put(self, waiting: Chunks, chunk: list[Item]) -> None:
        while chunk and not self.stop.is_set():
            try:
                waiting.put(chunk, timeout=_WAIT)
            except queue.Full:
                continue
            return

    def _work(self, sender: Sender, waiting: Chunks) -> None:
        size = sender.batch_size
        while (chunk := waiting.get()) is not None:
            try:
                for start in range(0, len(chunk), size):
                    self._deliver(sender, chunk[start : start + size])
            except BaseException as error:  # noqa: BLE001 - raised again by run(), in its thread
                self._failure.append(error)
                self.stop.set()

    def _deliver(self, sender: Sender, batch: Sequence[Item]) -> None:
        for item, outcome in zip(
            batch, deliver(sender, batch, self.policy, self.stop), strict=True
        ):
            self.health.note(outcome)
            self.settle(item, outcome)


def _finish(queues: Sequence[Chunks], threads: Sequence[threading.Thread]) -> None:
    for waiting in queues:
        waiting.put(None)
    for thread in threads:
        thread.join()
