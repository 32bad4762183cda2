"""From what is seen of a marker to the transitions of the durable operations behind it.

Implements "Apply" of the specification's "Runtime command events", from outside of streamt:
START belongs to an intent that was not there before, COMPLETE to a marker that was cleared
after the state was replaced. Nothing here reads files, clocks or signals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from streamt_ol.runs.marker import Intent, Marker, Unusable

if TYPE_CHECKING:
    from streamt_ol.runs.child import Ended

APPLY = "apply"
UNSEEN = (
    "the operation marker was replaced while the command ran, but no operation was seen in it: "
    "it came and went too fast"
)


class Look(NamedTuple):
    """What one look found: the marker, what identifies the two files' contents, and when.

    ``control`` and ``state`` are opaque: they differ when the file was replaced. None: no file.
    """

    marker: Marker | Unusable
    control: object
    state: object
    at: str


class Started(NamedTuple):
    """A new operation: START with this run id and time."""

    run_id: str
    at: str


class Finished(NamedTuple):
    """The operation that started last is over: ``how`` at this time, with a failure's reason."""

    how: Literal["COMPLETE", "FAIL", "ABORT"]
    at: str
    reason: str = ""


Transition = Started | Finished


class OperationTracker:
    """Follows one marker from before a command's start to its end.

    An intent that was there before the command is none of its operations; neither is an
    ``adopt``. Each other intent is one run. Call ``see`` for every look in their order, then
    ``end`` once.
    """

    def __init__(self, before: Look) -> None:
        self.before = before
        self._known = {i.operation_id for i in [_intent(before)] if i}
        self._in_marker = _intent(before)
        self._open: str | None = None
        self._state = before.state
        self._doubtful = False
        self._cleared_at: str | None = None
        self._seen_any = False

    def see(self, look: Look) -> list[Transition]:
        """Return the transitions that ``look`` shows, in their order."""
        if isinstance(look.marker, Unusable):
            return []
        intent, earlier = look.marker.intent, self._in_marker
        self._in_marker = intent
        if intent is None:
            return self._cleared(look)
        if intent.operation_id in self._known:
            return []
        self._known.add(intent.operation_id)
        self._seen_any = True
        transitions = self._succeeded(look, earlier)
        if intent.kind != APPLY:
            return transitions
        self._open, self._cleared_at = intent.operation_id, None
        return [*transitions, Started(intent.operation_id, intent.started_at)]

    def _succeeded(self, look: Look, earlier: Intent | None) -> list[Transition]:
        """Close what was open before a new intent, which was cleared meanwhile, seen or not.

        A state that was replaced since the look before is the new operation's own after a clear
        marker. After an ``earlier`` intent it may be the end of either: then it counts for that
        one, and of the new one streamt's exit status has to tell.
        """
        transitions: list[Transition] = []
        self._doubtful = earlier is not None and self._committed(look)
        if earlier is not None:
            transitions = self._cleared(look)
        return transitions or self._closed(
            "FAIL", self._cleared_at or look.at, "the operation ended without a commit"
        )

    def end(self, last: Look, ended: Ended) -> list[Transition]:
        """Return the transitions that are left when the command has ended after ``last``."""
        return [*self.see(last), *self._outcome(last, ended)]

    def trouble(self, last: Look) -> str | None:
        """Return why the operation of the command cannot be told, after ``end``; else None."""
        if isinstance(last.marker, Unusable):
            return f"the operation marker says nothing: {last.marker.reason}"
        if self._seen_any or last.control == self.before.control:
            return None
        # A first marker, or one in place of what said nothing: no operation need have begun.
        said_nothing = self.before.control is None or isinstance(self.before.marker, Unusable)
        only_created = said_nothing and last.state == self.before.state
        # What was replaced may be the end of an operation that was there before.
        earlier = _intent(self.before) is not None or last.marker.intent is not None
        return None if only_created or earlier else UNSEEN

    def _committed(self, look: Look) -> bool:
        """Whether the state was replaced; one that is gone was not."""
        return look.state is not None and look.state != self._state

    def _cleared(self, look: Look) -> list[Transition]:
        if self._committed(look):
            self._state = look.state
            return self._closed("COMPLETE", self._cleared_at or look.at)
        if self._open is not None and self._cleared_at is None:
            self._cleared_at = look.at
        return []

    def _outcome(self, last: Look, ended: Ended) -> list[Transition]:
        """Close what is still open: no commit was seen, or the marker is not clear."""
        if self._open is None:
            return []
        succeeded = ended.exit_status == 0 and not ended.interrupted
        # Without a state that can tell of a commit, streamt's own word for one has to do.
        if self._cleared_at is not None and succeeded and (last.state is None or self._doubtful):
            return self._closed("COMPLETE", self._cleared_at)
        if ended.interrupted:
            return self._closed("ABORT", last.at)
        return self._closed("FAIL", last.at, _reason(last.marker, ended))

    def _closed(
        self, how: Literal["COMPLETE", "FAIL", "ABORT"], at: str, reason: str = ""
    ) -> list[Transition]:
        if self._open is None:
            return []
        self._open, self._cleared_at = None, None
        return [Finished(how, at, reason)]


def _intent(look: Look) -> Intent | None:
    return None if isinstance(look.marker, Unusable) else look.marker.intent


def _reason(marker: Marker | Unusable, ended: Ended) -> str:
    state = "in an unknown state" if isinstance(marker, Unusable) else _WORDS[marker.status]
    return f"streamt apply ended with exit status {ended.exit_status}, its operation {state}"


_WORDS = {
    "clear": "cleared without a commit",
    "in_progress": "still in progress",
    "recovery_required": "in need of recovery",
}
