"""The choice of the events that are sent, made for all of them before the first byte goes out."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, final

from streamt_ol.delivery.items import lane_of
from streamt_ol.delivery.judgement import judged
from streamt_ol.delivery.validity import Validity
from streamt_ol.openlineage.events import DATASET_EVENT as DATASET
from streamt_ol.problems import PARSE, Location, StreamtOlError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamt_ol.delivery.files.checkpoint import Checkpoint
    from streamt_ol.delivery.items import Item
    from streamt_ol.delivery.reading import Events
    from streamt_ol.delivery.receivers.receiver import Receiver
    from streamt_ol.delivery.validity import Fault

Choice = Literal["send", "acknowledged", "skipped", "refused"]


class Decision(NamedTuple):
    """The decision about one event, and why it is not sent, safe to show.

    ``rules`` of `validate` are what a refusal rests on; ``faults`` is what was found in an event.
    """

    choice: Choice
    item: Item
    reason: str = ""
    rules: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class Rules:
    """The receiver whose rules decide, how far validation counts, and what becomes of the rest.

    ``skips_unsupported``: what the receiver does not take is skipped rather than refused.
    """

    receiver: Receiver
    validity: Validity
    skips_unsupported: bool = False


@final
class _Chosen:
    """The events to send, in order: the key of each, a hash of its text, its lane; 20 bytes."""

    def __init__(self) -> None:
        self._keys, self._texts, self._lanes = array("q"), array("q"), array("I")

    def add(self, item: Item) -> None:
        self._keys.append(_key(item))
        self._texts.append(hash(item.source))
        self._lanes.append(lane_of(item.outline))

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        return zip(self._keys, self._texts, self._lanes, strict=True)


def _key(item: Item) -> int:
    return 2 * item.number + item.part


class Plan:
    """The decisions about one input: take ``survey`` to its end, then ``items``.

    Of an input that is ``live`` only ``survey`` is taken, and nothing is kept of what has passed.
    """

    def __init__(
        self,
        events: Events,
        rules: Rules,
        checkpoint: Checkpoint | None = None,
        *,
        live: bool = False,
    ) -> None:
        self.live = live
        self._events = events
        self._rules = rules
        self._checkpoint = checkpoint
        self._chosen = _Chosen()
        self.to_send = 0
        self.adapted = 0  # events to which the receiver has keys added

    def survey(self) -> Iterator[Decision]:
        """Yield the decision about every event, in the order of the input."""
        for item in self._events.items():
            decision = self._decision(item)
            if decision.choice == "send":
                self.to_send += 1
                if not self.live:
                    self._chosen.add(item)
            yield decision

    def items(self) -> Iterator[Item]:
        """Yield the events to send; what was appended to the input since is left alone.

        Raises ``StreamtOlError`` where the text of one is not that on which was decided.
        """
        receiver = self._rules.receiver
        chosen = iter(self._chosen)
        if (following := next(chosen, None)) is None:
            return
        for item in self._events.texts():
            key, text, lane = following
            if _key(item) != key:
                continue
            if hash(item.source) != text:
                break
            item.lane = lane
            if receiver.adds is not None:
                item.body = receiver.adapted(item)
            yield item
            if (following := next(chosen, None)) is None:
                return
        message = "the input was changed while it was being sent"
        raise StreamtOlError(PARSE, message, location=Location(file=self._events.name))

    def _decision(self, item: Item) -> Decision:
        if item.fault:
            return Decision("refused", item, item.fault)
        rules = self._rules
        body = rules.receiver.adapted(item)
        self.adapted += body is not item.body
        verdict, faults = judged(rules.receiver, item, len(body), rules.validity)
        if not verdict.is_taken:
            is_unsupported = rules.skips_unsupported or self._is_made_of_runs(item)
            choice: Choice = "skipped" if is_unsupported and not verdict.rules else "refused"
            return Decision(choice, item, "; ".join(verdict.reasons), verdict.rules)
        if self._checkpoint and self._checkpoint.has(item.number, item.part, item.digest):
            return Decision("acknowledged", item)
        item.body = body
        return Decision("send", item, faults=faults)

    def _is_made_of_runs(self, item: Item) -> bool:
        """Tell a START that was only made here, or a dataset whose facets went into the runs."""
        is_start = item.is_made and item.part == 0
        return is_start or (self._events.as_runs and item.outline.kind == DATASET)
