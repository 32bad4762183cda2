"""The owner of the operation that a marker speaks of: the command, or another process.

An operation is the command's own when a process of the child's tree holds streamt's lock while
the marker stands. Where that cannot be seen, the lock and the marker before the start decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.runs.lock import Holder
from streamt_ol.runs.marker import Intent, Marker, Unusable

if TYPE_CHECKING:
    from collections.abc import Iterator

UNPROVED = (
    "the operation is taken for this command's, since no other was under way when it started; "
    "it is not proved, since nobody was seen holding streamt's lock"
)
UNCLAIMED = (
    "an operation began while the command ran, and nothing is reported of it: it may be another "
    "process's, since nobody was seen holding streamt's lock"
)


class Look(NamedTuple):
    """One look at the marker, what identifies the two files' contents, the lock, and the time.

    ``control`` and ``state`` are opaque: they differ when the file was replaced. None: no file.
    """

    marker: Marker | Unusable
    control: object
    state: object
    at: str
    holder: Holder = Holder.ABSENT

    @property
    def intent(self) -> Intent | None:
        """The operation that the marker speaks of, if any."""
        return None if isinstance(self.marker, Unusable) else self.marker.intent

    def shows(self, other: Look) -> bool:
        """Return whether it shows nothing else than ``other`` does."""
        return self._replace(at=other.at) == other


class Ownership:
    """Decides for each operation whether it is the command's; ``free``: the lock before it began.

    ``warnings`` grows by what had to be decided without a proof.
    """

    def __init__(self, before: Look, *, free: bool) -> None:
        self.warnings: list[str] = []
        self._untouched = free and before.marker == Marker("clear")
        self._decided = {before.intent.operation_id: False} if before.intent else {}
        self._waiting: list[Look] = []
        self._seen_holding = Holder.NOBODY

    def decided(self, look: Look | None) -> Iterator[tuple[Look, bool]]:
        """Yield looks in their order, each with whether its operation is the command's.

        A look waits until its operation can be told; None, after the last one, waits no longer.
        """
        if look is not None and not (self._waiting and look.shows(self._waiting[-1])):
            self._waiting.append(look)
        while self._waiting:
            ours = self._verdict(is_last=look is None)
            if ours is None:
                return
            first = self._waiting.pop(0)
            if first.intent is not None:
                self._decided[first.intent.operation_id] = ours
            if first.holder in (Holder.OURS, Holder.OTHER):
                self._seen_holding = first.holder
            yield first, ours

    def _verdict(self, *, is_last: bool) -> bool | None:
        """Return whether the operation of the first waiting look is ours; None: not known yet."""
        intent = self._waiting[0].intent
        if intent is None:
            return False
        if intent.operation_id in self._decided:
            return self._decided[intent.operation_id]
        for look in self._waiting:
            if look.intent != intent:
                return self._without_proof()
            if look.holder in _PROOFS:
                return _PROOFS[look.holder]
        if self._seen_holding is Holder.OURS:  # it holds the lock until it ends, as it has now
            return True
        return self._without_proof() if is_last else None

    def _without_proof(self) -> bool:
        text = UNPROVED if self._untouched else UNCLAIMED
        if text not in self.warnings:
            self.warnings.append(text)
        return self._untouched


# What a look proves. Without a lock file an operation that was not there before is ours.
_PROOFS = {Holder.OURS: True, Holder.ABSENT: True, Holder.OTHER: False}
