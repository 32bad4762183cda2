"""Which events of an input are sent, decided for all of them before the first byte goes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from streamt_ol import strict_json
from streamt_ol.delivery.items import DATASET, JOB, Item, digest_of, kind_of, name_of
from streamt_ol.delivery.judging import Judged
from streamt_ol.delivery.outcome import ACCEPTED
from streamt_ol.delivery.runs_of_jobs import Facets, dataset_facets, run_events
from streamt_ol.delivery.settings import OpenMetadataSettings
from streamt_ol.delivery.source import MAX_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamt_ol.delivery.progress import Progress
    from streamt_ol.delivery.receivers import Receiver
    from streamt_ol.delivery.source import Source

Choice = Literal["send", "acknowledged", "skipped", "refused"]


class Decision(NamedTuple):
    """What is to be done with one event, and why it is not sent, safe to show.

    ``bytes`` is the line of the input as it was.
    """

    choice: Choice
    line: int
    part: int
    name: str
    reason: str
    bytes: bytes


@dataclass(frozen=True)
class Rules:
    """How the events of an input are judged.

    ``faults`` returns what is invalid about a parsed event, safe to show; ``fresh_id`` returns a
    new UUID; ``engine`` is for ``--processing-engine``.
    """

    receiver: Receiver
    faults: Callable[[Any], list[str]]
    fresh_id: Callable[[], str]
    settings: OpenMetadataSettings = field(default_factory=OpenMetadataSettings)
    skips_unsupported: bool = False
    as_runs: bool = False
    engine: tuple[str, str] | None = None


class Plan:
    """The decisions about one input: call ``survey`` to the end, then ``items``."""

    def __init__(self, source: Source, rules: Rules, progress: Progress | None = None) -> None:
        self._source = source
        self._rules = rules
        self._progress = progress
        self._not_sent: set[tuple[int, int]] = set()
        self._runs: dict[int, str] = {}
        self._last_line = 0
        self._facets: Facets = {}
        self.to_send = 0

    def survey(self) -> Iterator[Decision]:
        """Yield the decision about every event, in the order of the input."""
        if self._rules.as_runs:
            self._facets = dataset_facets(_parsed(line) for _, line in self._source.lines())
        for number, line in self._source.lines():
            self._last_line = number
            for decision in self._decide(number, line):
                if decision.choice == "send":
                    self.to_send += 1
                else:
                    self._not_sent.add((number, decision.part))
                yield decision

    def items(self) -> Iterator[Item]:
        """Yield the events to send; what was appended to the input since is left alone."""
        for number, line in self._source.lines():
            if number > self._last_line:
                return
            if (number, 0) in self._not_sent and (number, 1) in self._not_sent:
                continue
            event = _parsed(line)
            for item in self._items(number, line, event) if isinstance(event, dict) else ():
                if (number, item.part) not in self._not_sent:
                    yield item

    def _decide(self, number: int, line: bytes) -> Iterator[Decision]:
        event, fault = parsed_event(line, self._rules.faults)
        if event is None:
            # Both parts: whatever the line would have been made into.
            self._not_sent.add((number, 1))
            yield Decision("refused", number, 0, "invalid event", fault, line)
            return
        if not self._becomes_runs(event):
            self._not_sent.add((number, 1))
        for item in self._items(number, line, event):
            choice, reason = self._choice(item, event)
            yield Decision(choice, number, item.part, item.name, reason, line)

    def _choice(self, item: Item, source_event: Any) -> tuple[Choice, str]:
        rules = self._rules
        verdict = rules.receiver.judge(Judged(item.event, len(item.body), rules.settings))
        if verdict.status != ACCEPTED:
            reason = "; ".join(verdict.reasons)
            # A START that was only made here, or a dataset whose facets went into the runs.
            is_made_of = rules.as_runs and (
                item.part == 0 and self._becomes_runs(source_event)
                or kind_of(source_event) == DATASET
            )
            is_skipped = rules.skips_unsupported or is_made_of
            return ("skipped" if is_skipped else "refused"), reason
        if self._progress and self._progress.has(item.line, item.part, item.digest):
            return "acknowledged", "acknowledged before"
        return "send", ""

    def _becomes_runs(self, event: Any) -> bool:
        return self._rules.as_runs and kind_of(event) == JOB

    def _items(self, number: int, line: bytes, event: Any) -> list[Item]:
        digest = digest_of(line)
        if not self._becomes_runs(event):
            return [Item(number, digest, line, event)]
        bodies = run_events(event, self._facets, self._run_id(number, digest), self._rules.engine)
        return [
            Item(number, digest, body, _parsed(body), part) for part, body in enumerate(bodies)
        ]

    def _run_id(self, number: int, digest: str) -> str:
        if number not in self._runs:
            fresh = self._rules.fresh_id
            self._runs[number] = (
                self._progress.run_id(number, digest, fresh) if self._progress else fresh()
            )
        return self._runs[number]


def parsed_event(line: bytes, faults: Callable[[Any], list[str]]) -> tuple[Any, str]:
    """Return the event in a line and "", or None and what is wrong with it, safe to show."""
    if len(line) > MAX_LINE_BYTES:
        return None, f"the line is longer than {MAX_LINE_BYTES // 1024**2} MiB"
    try:
        event = strict_json.loads(line)
    except strict_json.JsonFaultError as error:
        return None, error.message
    if not isinstance(event, dict):
        return None, "it is not a JSON object"
    found = faults(event)
    if found:
        return None, f"{name_of(event)}: {'; '.join(found[:3])}"
    return event, ""


def _parsed(line: bytes) -> Any:
    try:
        return strict_json.loads(line)
    except strict_json.JsonFaultError:
        return None
