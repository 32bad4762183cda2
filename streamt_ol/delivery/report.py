"""The truth about each event, counted, and a bounded list of what was not delivered."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, final

from streamt_ol.redaction import printable_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streamt_ol.delivery.outcome import Outcome

MAX_LISTED = 1000
_MAX_UNRESOLVED = 100
# The order and words of the closing line; those at zero are left out, apart from the first three.
WORDS = {
    "sent": "sent {}",
    "skipped": "skipped {}",
    "refused": "refused {}",
    "no_edges": "without edges {}",
    "failed": "failed {}",
    "unknown": "outcome unknown {}",
    "unsent": "not sent {}",
    "acknowledged": "sent before {}",
}
TRIED = ("sent", "refused", "no_edges", "failed", "unknown")
_COUNTED = {"no-edges": "no_edges"}
_ALWAYS = ("sent", "skipped", "refused")


@final
class Report:
    """Counts outcomes from several threads. ``say`` gets one safe line for each problem.

    ``unit`` is what an event is numbered by: a line of the input, a record of a topic.
    """

    def __init__(self, say: Callable[[str], None], unit: str = "line") -> None:
        self._say = say
        self._unit = unit
        self._lock = threading.Lock()
        self.counts = dict.fromkeys(WORDS, 0)
        self.problems: list[dict[str, Any]] = []
        self.edges = 0
        self.refusing_rules: dict[str, None] = {}
        self.unresolved_datasets: dict[str, None] = {}
        self.unresolved_jobs: dict[str, None] = {}

    def count(self, what: str, number: int = 1) -> None:
        """Add to one of the counts of ``WORDS``."""
        with self._lock:
            self.counts[what] += number

    def refuse(self, line: int, name: str, reason: str, rules: Sequence[str] = ()) -> None:
        """Count an event that is refused before it is sent, for ``rules`` of `validate`."""
        self.count("refused")
        self._list(line, name, "refused", reason, None, rules)

    def settle(self, line: int, name: Callable[[], str], outcome: Outcome) -> None:
        """Count what came of sending an event; ``name`` is asked for only if it is listed."""
        state = outcome.state
        if state == "unsent":
            return  # the rest is counted at the end, tried or not
        with self._lock:
            self.counts[_COUNTED.get(state, state)] += 1
            self.edges += outcome.edges
            _note_some(self.unresolved_datasets, outcome.unresolved_datasets)
            _note_some(self.unresolved_jobs, outcome.unresolved_jobs)
        if state != "sent":
            unresolved = "; ".join(outcome.unresolved_datasets[:3])
            detail = f"{outcome.detail} ({unresolved})" if unresolved else outcome.detail
            self._list(line, name(), outcome.state, detail, outcome.status)

    def _list(
        self,
        line: int,
        name: str,
        state: str,
        reason: str,
        status: int | None,
        rules: Sequence[str] = (),
    ) -> None:
        reason = printable_line(reason)
        problem: dict[str, Any] = {"line": line, "event": name, "state": state, "reason": reason}
        if rules:
            problem["rules"] = list(rules)
        if status is not None:
            problem["status"] = status
        with self._lock:
            self.refusing_rules.update(dict.fromkeys(rules))
            is_listed = len(self.problems) < MAX_LISTED
            if is_listed:
                self.problems.append(problem)
        if is_listed:
            self._say(f"{self._unit} {line}: {state}: {name}: {reason}")

    @property
    def is_done(self) -> bool:
        """Whether everything that was to be delivered was."""
        return not any(self.counts[k] for k in (*TRIED[1:], "unsent"))

    def closing_line(self) -> str:
        """Return e.g. ``sent 120, skipped 3, refused 1``."""
        return ", ".join(
            words.format(self.counts[name])
            for name, words in WORDS.items()
            if self.counts[name] or name in _ALWAYS
        )

    def data(self) -> dict[str, Any]:
        """Return the counts and lists for the envelope."""
        return {
            "counts": self.counts,
            "edges": self.edges,
            "unresolved_datasets": list(self.unresolved_datasets),
            "unresolved_jobs": list(self.unresolved_jobs),
            "problems": sorted(self.problems, key=lambda problem: problem["line"]),
        }


def _note_some(known: dict[str, None], names: Sequence[str]) -> None:
    if names and len(known) < _MAX_UNRESOLVED:
        known.update(dict.fromkeys(names))
