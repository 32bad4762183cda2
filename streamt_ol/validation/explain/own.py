"""Explain events of streamt's own, remembered apart from their times and run ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from streamt_ol.openlineage.events import kind_of
from streamt_ol.openlineage.formats import is_date_time, is_utc_date_time, is_uuid
from streamt_ol.redaction import shown
from streamt_ol.validation.explain.explanation import Explanation, stand_in
from streamt_ol.validation.explain.generated import explain, joined, order
from streamt_ol.validation.explain.judging import HEAD, RUN, Remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streamt_ol.validation.findings import Finding

    Check = Callable[[dict[str, Any]], list[Finding]]

_ELSEWHERE = "2000-01-01T00:00:00+01:00"  # stands for a time that is right, but not UTC


class OwnSaid(NamedTuple):
    """An explanation of an event, and by pointers what stands for its texts, and the texts."""

    explanation: Explanation
    texts: dict[str, tuple[str, str]]

    @property
    def rules(self) -> Sequence[str]:
        """The rule of each finding."""
        return self.explanation.rules

    @property
    def severities(self) -> frozenset[str]:
        """The severities of the findings."""
        return self.explanation.severities

    def findings(self) -> Iterator[Finding]:
        """Yield the findings."""
        for one in self.explanation.findings:
            before, text = self.texts.get(one.pointer, ("", ""))
            yield one._replace(message=one.message.replace(shown(before), shown(text)))


class OwnFaults:
    """Explanations of events of streamt's own."""

    def __init__(self) -> None:
        self._remembered = Remembered()

    def said(self, event: dict[str, Any], ignored: frozenset[str], check: Check) -> OwnSaid:
        """Return what is said of an event; ``check`` finds what breaks the rules for any event.

        The rules that are ``ignored`` hide no other one. Raises ``TypeError`` for an event that is
        nested deeper than orjson writes.
        """
        texts: dict[str, tuple[str, str]] = {}
        reduced = dict(event)
        if isinstance(time := event.get("eventTime"), str):
            reduced["eventTime"] = _of_time(time)
            texts["/eventTime"] = reduced["eventTime"], time
        run = event.get("run")
        if isinstance(run, dict) and isinstance(run_id := run.get("runId"), str):
            right = RUN["runId"] if is_uuid(run_id) else str(stand_in(run_id))
            reduced["run"] = {**run, "runId": right}
            texts["/run/runId"] = right, run_id
        return OwnSaid(self._remembered.of(judged, orjson.dumps(reduced), ignored, check), texts)


def judged(data: bytes, ignored: frozenset[str], check: Check) -> list[Finding]:
    """Return the findings about an event of streamt's own, as JSON."""
    return findings(orjson.loads(data), ignored, check)


def findings(event: dict[str, Any], ignored: frozenset[str], check: Check) -> list[Finding]:
    """Return the findings about an event of streamt's own."""
    kind = str(kind_of(event))
    kept = [one for one in check(event) if one.rule not in ignored]
    return joined(kept, [*explain(kind, event), *order(kind, event)])


def _of_time(time: str) -> str:
    """Return what stands for the time of an event."""
    if is_utc_date_time(time):
        return str(HEAD["eventTime"])
    return _ELSEWHERE if is_date_time(time) else str(stand_in(time))
