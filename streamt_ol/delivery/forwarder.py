"""From a Kafka topic to a receiver: an offset is committed when its record is acknowledged.

At least once: what was posted but not yet committed when this process ends is posted again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from streamt_ol.delivery.items import Item
from streamt_ol.delivery.judgement import judged
from streamt_ol.delivery.outcome import Outcome
from streamt_ol.delivery.reading import parsed_event
from streamt_ol.delivery.retries import deliver
from streamt_ol.delivery.senders.sender import is_about_connection
from streamt_ol.delivery.validity import InvalidEvents

if TYPE_CHECKING:
    import threading

    from streamt_ol.delivery.membership import Membership
    from streamt_ol.delivery.plan import Rules
    from streamt_ol.delivery.report import Report
    from streamt_ol.delivery.retries import RetryPolicy
    from streamt_ol.delivery.senders.sender import Sender


class Handled(NamedTuple):
    """A record that was seen to: ``tell`` reports it; ``reason``: why it is not committed."""

    tell: Callable[[], None]
    reason: str = ""


@dataclass
class Forwarder:
    """Reads records one after the other, and hands each to ``sender``.

    ``reject`` keeps a poison record (no event, refused, or without any edge); without it such a
    record stops the forwarding before it is committed. ``stop`` is set to end it after the
    record in hand.
    """

    group: Membership
    sender: Sender
    rules: Rules
    policy: RetryPolicy
    report: Report
    stop: threading.Event
    reject: Callable[[bytes], None] | None = None
    until_end: bool = False
    invalid: InvalidEvents = field(default_factory=InvalidEvents)
    _count: int = 0

    def run(self) -> str:
        """Forward until stopped or, with ``until_end``, until the topic's end; return why not on.

        Raises ``StreamtOlError`` when the topic cannot be read.
        """
        self.group.subscribe()
        reason = ""
        while not reason and not self.stop.is_set():
            if self.until_end and self.group.is_at_end:
                break
            record = self.group.poll()
            if record is not None:
                reason = self._take(record)
        return reason

    def _take(self, record: Any) -> str:
        """Forward one record and commit it; return why it is not committed, "" if it is.

        What cannot be committed is not counted as done: it comes again.
        """
        self._count += 1
        handled = self._forward(record)
        reason = handled.reason or self.group.commit(record)
        if handled.reason or not reason:
            handled.tell()
        return reason

    def _forward(self, record: Any) -> Handled:
        """Deliver one record."""
        value = record.value()
        if value is None:  # a tombstone holds no event
            return Handled(lambda: self.report.count("skipped"))
        where = f"partition {record.partition()} offset {record.offset()}"
        event, fault = parsed_event(value)
        if event is None:
            return self._poison(value, where, fault)
        item = Item(self._count, value, value, parsed=event)
        name = f"{where} {item.name}"
        rules = self.rules
        verdict, faults = judged(rules.receiver, item, len(value), rules.validity)
        if not verdict.is_taken:
            if rules.skips_unsupported and not verdict.rules:
                return Handled(lambda: self.report.count("skipped"))
            return self._poison(value, name, "; ".join(verdict.reasons), rules=verdict.rules)
        self.invalid.add(faults)
        outcome = self.group.during(lambda: self._delivered(item))
        return self._settled(item, name, outcome)

    def _delivered(self, item: Item) -> Outcome:
        (outcome,) = deliver(self.sender, [item], self.policy, self.stop)
        return outcome

    def _settled(self, item: Item, name: str, outcome: Outcome) -> Handled:
        def count() -> None:
            self.report.settle(item.line, lambda: name, outcome)

        if outcome.state == "unsent":
            return Handled(count, "stopped")
        if is_about_connection(outcome.status):
            # The next record would fare no better, so this one is not poison.
            reason = f"status {outcome.status} is about the connection, not about this record"
            return Handled(count, reason)
        if outcome.state in ("refused", "no-edges"):
            return self._poison(item.body, name, outcome.detail, outcome)
        return Handled(
            count, "" if outcome.state == "sent" else "the receiver does not acknowledge"
        )

    def _poison(
        self,
        value: bytes,
        name: str,
        reason: str,
        outcome: Outcome | None = None,
        rules: tuple[str, ...] = (),
    ) -> Handled:
        def count() -> None:
            if outcome is not None:
                self.report.settle(self._count, lambda: name, outcome)
            else:
                self.report.refuse(self._count, name, reason, rules)

        if self.reject is None:
            what = "made no edge" if outcome and outcome.state == "no-edges" else "was refused"
            return Handled(count, f"a record {what}, and there is no --rejected to keep it")
        self.reject(_one_line(value))
        return Handled(count)


def _one_line(value: bytes) -> bytes:
    """Return a record's value as one line; what cannot be one is kept in base64."""
    if b"\n" not in value and b"\r" not in value and value.strip():
        return value
    return json.dumps({"rejected_base64": base64.b64encode(value).decode()}).encode()
