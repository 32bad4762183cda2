"""From what is seen of a marker to the transitions of the durable operations behind it.

Implements "Apply" of the specification's "Runtime command events", from outside of streamt:
START belongs to an intent that was not there before, COMPLETE to a marker that was cleared
after a commit. ``docs/runs.md`` has the table of all cases. Nothing here reads files, clocks or
signals.
"""

from __future__ import annotations

import signal
from typing import Literal, NamedTuple

from streamt_ol.runs.child import INTERRUPTED, Ended
from streamt_ol.runs.marker import Intent, Marker, Progress, Unusable
from streamt_ol.runs.ownership import Look, Ownership

APPLY = "apply"
UNSEEN = (
    "the operation marker was replaced while the command ran, but no operation was seen in it: "
    "it came and went too fast"
)
NO_MARKER = (
    "the command succeeded without an operation marker at this path, so nothing is reported: its "
    "state is kept by another backend, or for another environment"
)

End = Literal["COMPLETE", "FAIL", "ABORT"]


class Started(NamedTuple):
    """A new operation: START with this run id and time."""

    run_id: str
    at: str


class Finished(NamedTuple):
    """The operation that started last is over: ``how`` at this time, with a failure's reason."""

    how: End
    at: str
    reason: str = ""


Transition = Started | Finished


class OperationTracker:
    """Follows one marker from before a command's start to its end.

    An intent that was there before the command is none of its operations; neither is an
    ``adopt``, nor another process's. Each other intent is one run. Call ``see`` for every look
    in their order, then ``end`` once.
    """

    def __init__(self, before: Look, *, free: bool = True) -> None:
        self.before = before
        self._ownership = Ownership(before, free=free)
        self._known = {before.intent.operation_id} if before.intent else set()
        self._in_marker = before.intent
        self._open: str | None = None
        self._progress: Progress = "none"
        self._state: object = None
        self._cleared_at: str | None = None
        self._seen_any = False
        self._damage: str | None = None

    def see(self, look: Look) -> list[Transition]:
        """Return the transitions that are known with ``look``, in their order."""
        return [
            transition
            for one, ours in self._ownership.decided(look)
            for transition in self._seen(one, ours=ours)
        ]

    def end(self, last: Look, ended: Ended) -> list[Transition]:
        """Return the transitions that are left when the command has ended after ``last``."""
        transitions = self.see(last)
        for one, ours in self._ownership.decided(None):
            transitions += self._seen(one, ours=ours)
        return [*transitions, *self._outcome(last, ended)]

    def troubles(self, last: Look, ended: Ended) -> list[str]:
        """Return what the operation of the command leaves unsaid or unproved, after ``end``."""
        untold = self._untold(last, ended)
        return [*self._ownership.warnings, *([untold] if untold else [])]

    def _untold(self, last: Look, ended: Ended) -> str | None:
        if isinstance(last.marker, Unusable):
            return f"the operation marker {last.marker.reason}"
        if self._seen_any:
            return None
        if self._damage is not None:
            return f"the operation marker that was seen {self._damage}"
        if last.control == self.before.control:
            nothing = last.control is None and ended.exit_status == 0
            return NO_MARKER if nothing else None
        # A first marker, or one in place of what said nothing: no operation need have begun.
        said_nothing = self.before.control is None or isinstance(self.before.marker, Unusable)
        only_created = said_nothing and last.state == self.before.state
        # What was replaced may be the end of an operation that was there before.
        earlier = self.before.intent is not None or last.intent is not None
        return None if only_created or earlier else UNSEEN

    def _seen(self, look: Look, *, ours: bool) -> list[Transition]:
        if isinstance(look.marker, Unusable):
            if look.control != self.before.control:
                self._damage = look.marker.reason
            return []
        intent, earlier = look.marker.intent, self._in_marker
        self._in_marker = intent
        if intent is None:
            return self._cleared(look)
        if intent.operation_id == self._open:
            self._progress = look.marker.progress
        if intent.operation_id in self._known:
            return []
        self._known.add(intent.operation_id)
        self._seen_any = True
        transitions = self._succeeded(look, earlier)
        if intent.kind != APPLY or not ours:
            return transitions
        self._open, self._cleared_at = intent.operation_id, None
        # What was done to the state before this look may be streamt's making of the first one.
        self._progress, self._state = look.marker.progress, look.state
        return [*transitions, Started(intent.operation_id, intent.started_at)]

    def _succeeded(self, look: Look, earlier: Intent | None) -> list[Transition]:
        """Close what was open before a new intent, which was cleared meanwhile, seen or not.

        A state that was replaced meanwhile may be the end of the ``earlier`` intent or of the new
        one: it counts for the earlier, and of the new one its progress and streamt's exit status
        have to tell.
        """
        transitions: list[Transition] = []
        if earlier is not None:
            transitions = self._cleared(look)
        return transitions or self._closed(
            "FAIL", self._cleared_at or look.at, "the operation ended without a commit"
        )

    def _cleared(self, look: Look) -> list[Transition]:
        """Take note of a clear marker: a commit, if the state or the progress says so.

        A commit alone replaces the state while the marker stands, and clears the marker after an
        action was begun. It needs that every action has completed successfully.
        """
        # Before the clear, that is: what follows it is another process's.
        replaced = self._cleared_at is None and look.state not in (None, self._state)
        if self._progress == "all" or (replaced and self._progress != "failed"):
            return self._closed("COMPLETE", self._cleared_at or look.at)
        if self._open is not None and self._cleared_at is None:
            self._cleared_at = look.at
        return []

    def _outcome(self, last: Look, ended: Ended) -> list[Transition]:
        """Close what is still open: no commit was seen, or the marker is not clear."""
        # A marker is never cleared without a commit by a streamt that then ends with 0.
        if self._cleared_at is not None and ended.exit_status == 0 and self._progress != "failed":
            return self._closed("COMPLETE", self._cleared_at)
        if _interrupted(last.marker, ended):
            return self._closed("ABORT", last.at)
        return self._closed("FAIL", last.at, _reason(last.marker, ended))

    def _closed(self, how: End, at: str, reason: str = "") -> list[Transition]:
        if self._open is None:
            return []
        self._open, self._cleared_at, self._progress = None, None, "none"
        return [Finished(how, at, reason)]


def _interrupted(marker: Marker | Unusable, ended: Ended) -> bool:
    """Return whether Ctrl-C reached us, or streamt alone, whose status or record says so."""
    recorded = isinstance(marker, Marker) and marker.interrupted
    child = ended.killed_by == signal.SIGINT or ended.exit_status == INTERRUPTED
    return ended.interrupted or child or recorded


def _reason(marker: Marker | Unusable, ended: Ended) -> str:
    state = "in an unknown state" if isinstance(marker, Unusable) else _WORDS[marker.status]
    return f"streamt apply ended with exit status {ended.exit_status}, its operation {state}"


_WORDS = {
    "clear": "cleared without a commit",
    "in_progress": "still in progress",
    "recovery_required": "in need of recovery",
}
