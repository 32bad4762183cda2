"""Running `streamt apply` and telling its durable operations as runs while they happen."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from streamt_ol.codes import EMIT_FAILED
from streamt_ol.problems import StreamtOlError, WarningRecord
from streamt_ol.runs.child import Ended, run_child
from streamt_ol.runs.lock import Holder, StateLock
from streamt_ol.runs.marker import Marker, MarkerLocation, identity, read_marker
from streamt_ol.runs.operation import Finished, OperationTracker, Started, Transition
from streamt_ol.runs.ownership import Look
from streamt_ol.runs.run import Emitter, Run, utc_now
from streamt_ol.runs.signals import signals_held
from streamt_ol.runs.watch import watching

if TYPE_CHECKING:
    from streamt_ol.runs.signals import Endings
    from streamt_ol.runs.spec import RunSpec

Warn = Callable[[WarningRecord], None]


def run_apply(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    location: MarkerLocation,
    deliveries: Deliveries,
    clock: Callable[[], str] = utc_now,
    endings: Endings | None = None,
) -> Ended:
    """Run the command to its end, put what the marker shows into ``deliveries``.

    What the marker cannot tell is one warning there, and no event.
    """
    with signals_held(endings) as signals:
        lock = StateLock(location.lock_path)
        tracker = OperationTracker(look_at(location, lock, clock), free=lock.is_free())
        deliveries.start()

        def changed() -> bool:
            """Look, and return whether the next look may wait for the files to change."""
            look = look_at(location, lock, clock)
            deliveries.put(tracker.see(look))
            return look.holder in (Holder.OURS, Holder.ABSENT)

        with watching(location.path, changed):
            ended = run_child(arguments, environment, signals, lock.start)
        last = look_at(location, lock, clock)
        deliveries.put(tracker.end(last, ended))
        where = str(location.path)
        for trouble in tracker.troubles(last, ended):
            deliveries.warn({"code": EMIT_FAILED, "message": trouble, "location": where})
    return ended


def look_at(location: MarkerLocation, lock: StateLock, clock: Callable[[], str] = utc_now) -> Look:
    """Look at a marker and, after it, at the state file beside it: only whether it changed.

    Of an operation the lock counts that had one holder before and after the look.
    """
    holder = lock.holder()
    marker, control = read_marker(location)
    at = clock()
    state = location.state_path
    look = Look(marker, control, state and identity(state), at, holder)
    if marker != Marker("clear") and lock.holder() is not holder:
        return look._replace(holder=Holder.UNKNOWN)
    return look


class Deliveries:
    """Sends the events of transitions in their order, in a thread of its own.

    A slow server then delays neither the next look at the marker nor the times of the events.
    """

    def __init__(self, spec: RunSpec, transport: Emitter, warn: Warn) -> None:
        self.warn = warn
        self._spec = spec
        self._transport = transport
        self._run: Run | None = None
        self._waiting: queue.SimpleQueue[Transition | None] = queue.SimpleQueue()
        # Not the thread's own word: an interrupted ``join`` takes it for dead.
        self._idle = threading.Event()
        self._thread = threading.Thread(target=self._send_all, name="deliveries", daemon=True)

    def start(self) -> None:
        """Start sending."""
        self._thread.start()

    def put(self, transitions: Sequence[Transition]) -> None:
        """Have the events of ``transitions`` sent after those before them."""
        for transition in transitions:
            self._waiting.put(transition)

    def finish(self) -> None:
        """Wait until everything is sent, or has failed."""
        self._waiting.put(None)
        self._thread.join()

    def give_up(self) -> None:
        """Have a warning for every event that is not delivered yet; after ``finish``."""
        if self._idle.is_set():
            return
        left: list[Transition] = []
        with suppress(queue.Empty):
            while (transition := self._waiting.get_nowait()) is not None:
                left.append(transition)
        if self._run is not None:
            match left:
                case [Finished(how), *left]:
                    self._run.give_up(how)
                case _:
                    self._run.give_up()
        for one in left:
            event = "START" if isinstance(one, Started) else one.how
            message = f"{event} was not delivered: it was interrupted"
            self.warn({"code": EMIT_FAILED, "message": message})

    def _send_all(self) -> None:
        while (transition := self._waiting.get()) is not None:
            self._send(transition)
        self._idle.set()

    def _send(self, transition: Transition) -> None:
        match transition:
            case Started(run_id, at):
                self._start_run(run_id, at)
            case Finished("COMPLETE", at):
                if self._run is not None:
                    self._run.complete(at)
            case Finished("ABORT", at):
                if self._run is not None:
                    self._run.abort(at)
            case Finished(_, at, reason):
                if self._run is not None:
                    self._run.fail(reason, at)

    def _start_run(self, run_id: str, at: str) -> None:
        try:
            self._run = Run(
                self._spec, self._transport, run_id=run_id, started_at=at, warn=self.warn
            )
        except StreamtOlError as error:
            self._run = None
            self.warn({"code": EMIT_FAILED, "message": error.message})
        else:
            self._run.start()
