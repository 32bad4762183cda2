"""Check a chunk of events: the part that runs in any process, apart from other chunks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from streamt_ol.openlineage.events import EVENT_KINDS, kind_of
from streamt_ol.openlineage.release import PRODUCER
from streamt_ol.reading.json_scan import BLANKS, faults, without_bom
from streamt_ol.reading.strict_json import Parsed, is_plain, parse
from streamt_ol.validation import events
from streamt_ol.validation.accept import generated
from streamt_ol.validation.accept.local import accepts_besides
from streamt_ol.validation.accept.schema import accepts
from streamt_ol.validation.findings import LocatedFinding
from streamt_ol.validation.rules import fault_finding, finding
from streamt_ol.validation.stream.state import StreamState
from streamt_ol.validation.switch import shared

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from streamt_ol.reading.faults import Fault
    from streamt_ol.reading.raw import Chunk
    from streamt_ol.validation.explain.parts import AnySaid
    from streamt_ol.validation.fast_path import FastPath
    from streamt_ol.validation.findings import Finding
    from streamt_ol.validation.options import Settings


class ChunkResult(NamedTuple):
    """The events of a chunk at ``position`` by kind, its blank lines, its findings.

    ``counted`` has further findings, those that nobody will be shown, by their rules.
    """

    position: int
    kinds: Counter[str]
    blank: int
    findings: list[LocatedFinding]
    counted: Counter[str]


def check_chunk(
    chunk: Chunk, settings: Settings, state: StreamState, counted: frozenset[str] = frozenset()
) -> ChunkResult:
    """Check each event of ``chunk``, noting in ``state`` what streams need.

    Findings of the severities ``counted`` are counted, and not put into words.
    """
    checker = _Checker(settings, state, counted)
    if chunk.lines:
        checker.lines(chunk.lines, chunk.position)
    _check_single(checker, chunk)
    rules = Counter(checker.rules)
    return ChunkResult(chunk.position, checker.kinds, checker.blank, checker.findings, rules)


def _check_single(checker: _Checker, chunk: Chunk) -> None:
    """Check the events of a document, and add the faults in their places."""
    if all(event.fault is None for event in chunk.events):
        checker.lines([event.data for event in chunk.events], chunk.position)
        return
    for position, event in enumerate(chunk.events, chunk.position):
        if event.fault is not None:
            checker.add(position, [fault_finding(event.fault)])
        else:
            checker.lines([event.data], position)


class _Checker:
    """The state of checking one chunk."""

    def __init__(self, settings: Settings, state: StreamState, counted: frozenset[str]) -> None:
        self.kinds: Counter[str] = Counter()
        self.blank = 0
        self.findings: list[LocatedFinding] = []
        self.rules: list[str] = []
        self.state = state
        self._counted = counted
        self._path: FastPath | None = None
        self._limit = settings.max_line_bytes
        self._ignored = settings.ignored
        self._accepts = accepts_besides()

    def add(self, position: int, found: Iterable[Finding], line: int = 0) -> None:
        """Keep the findings about the event at ``position``, but for rules switched off."""
        for one in found:
            if one.severity in self._counted:
                self.rules.append(one.rule)
            elif one.rule not in self._ignored:
                self.findings.append(LocatedFinding(position, one, line))

    def _say(self, position: int, said: Iterable[AnySaid]) -> None:
        """Keep what is said of the event at ``position``."""
        for one in said:
            if one.severities <= self._counted:
                self.rules += one.rules
            else:
                self.add(position, one.findings())

    def lines(self, lines: Sequence[bytes], position: int) -> None:
        """Check the events in ``lines``, the first of which stands at ``position``."""
        switch = shared()
        self._path = path = switch.start(len(lines))
        if path is None:
            for at, line in enumerate(lines, position):
                self._line(line.removesuffix(b"\n"), at)
            return
        passes, limit, state, left = path.passes, self._limit, self.state, 0
        kinds = dict.fromkeys(EVENT_KINDS, 0)
        for at, line in enumerate(lines, position):
            passed = passes(line, at, state) if len(line) <= limit else None
            if passed is None:
                left += 1
                self._line(line.removesuffix(b"\n"), at)
                continue
            kind, said = passed
            kinds[kind] += 1
            if said:
                self._say(at, said)
        self.kinds.update(kinds)
        switch.settle(sum(map(len, lines)), len(lines), left)

    def _line(self, data: bytes, position: int) -> None:
        """Check one event in full."""
        if len(data) > self._limit:
            self.add(position, [finding("OL-R007", "", f"longer than {self._limit} bytes")])
            return
        try:
            event = orjson.loads(data)
        except orjson.JSONDecodeError:
            data = without_bom(data)
            parsed = self._unusual(data, position)
            if not parsed.readable:
                return
            event = parsed.value
        else:
            if not is_plain(data, event):
                self._faults(faults(data), position)
        kind = kind_of(event) if type(event) is dict else None
        if kind is None:
            self.kinds["other"] += 1
            self.add(position, events.check_event(event))
            return
        self.kinds[kind] += 1
        is_own = event.get("producer") == PRODUCER
        path = self._path
        if path is not None and not is_own and self._passes_again(path, event, data, position):
            return
        trusted = (self._judge_own if is_own else self._judge)(kind, event, position)
        self.state.observe(kind, event, data, position, trusted=trusted)

    def _passes_again(
        self, path: FastPath, event: dict[str, Any], data: bytes, position: int
    ) -> bool:
        """Check an event by its frame as it is written without escapes and duplicate keys.

        Return False where that is not known, or the same as ``data``.
        """
        try:
            again = orjson.dumps(event)
        except TypeError:  # nested deeper than orjson writes
            return False
        if again == data:
            return False
        passed = path.passes(again + b"\n", position, self.state, data.strip(BLANKS) + b"\n")
        if passed is not None:
            self._say(position, passed.said)
        return passed is not None

    def _judge(self, kind: str, event: dict[str, Any], position: int) -> bool:
        """Check an event of ``kind``; tell whether it certainly meets its schema."""
        trusted = accepts(kind)(event)
        if not (trusted and self._accepts(kind, event)):
            self._say(position, events.said(kind, event))
        return trusted

    def _judge_own(self, kind: str, event: dict[str, Any], position: int) -> bool:
        """Check an event of streamt's own, which has rules of its own."""
        if generated.accepts(kind, event) and generated.order(event):
            return True
        self._say(position, [events.said_of_own(event, self._ignored)])
        return False

    def _unusual(self, data: bytes, position: int) -> Parsed:
        """Parse what orjson refuses: a blank line, a number that no double holds, not JSON."""
        if not data.strip(BLANKS):
            self.blank += 1
            return Parsed(None, readable=False)
        parsed = parse(data)
        self._faults(parsed.faults, position)
        if not parsed.readable:
            self.kinds["other"] += 1
        return parsed

    def _faults(self, found: Iterable[Fault], position: int) -> None:
        for fault in found:
            self.add(position, [fault_finding(fault)], fault.line)
