"""A run as a state machine: START, then exactly one of COMPLETE, FAIL and ABORT.

Implements "Runtime command events" and "Failure policy" of the specification for any Python
host. Everything that can be wrong is wrong when the ``Run`` is made; from START on nothing
that happens to the delivery of an event changes what the body does, returns, or raises.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, Self

from streamt_ol.codes import EMIT_FAILED
from streamt_ol.problems import WarningRecord
from streamt_ol.redaction import redact
from streamt_ol.runs.check import check_event, check_spec
from streamt_ol.runs.failure import GENERIC, exception_message, failure_message, is_failure
from streamt_ol.runs.spec import random_id
from streamt_ol.transport.base import DeliveryError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from streamt_ol.runs.spec import EventType, RunEvent, RunSpec

_SHOWN = 200
_INTERRUPTED = "was perhaps not delivered: it was interrupted"


class Emitter(Protocol):
    """The interface that a run needs of a transport (see ``streamt_ol.transport``)."""

    def emit(self, event_bytes: bytes, /) -> None:
        """Deliver one JSON object, UTF-8, without a line end; raise when it is not delivered."""


class RunState(StrEnum):
    """The state of a run; the last three are final."""

    NEW = "NEW"
    STARTED = "STARTED"
    COMPLETE = "COMPLETE"
    FAIL = "FAIL"
    ABORT = "ABORT"


def utc_now() -> str:
    """Return the time now: RFC 3339, UTC, microseconds."""
    return utc_text(datetime.now(UTC))


def utc_text(time: datetime) -> str:
    """Return an aware time as RFC 3339 text in UTC, with microseconds."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Run:
    """One run of ``spec``, its events delivered by ``transport``.

    As a context manager it sends START, runs the body, and sends COMPLETE when the body ends,
    ABORT when a ``KeyboardInterrupt`` leaves it, FAIL when anything else does (except a
    ``SystemExit`` that says success). The exception goes on untouched. A body that knows better
    says so with ``complete``, ``fail`` or ``abort``; the first word counts.

    Whatever the transport raises is its failure, except an interrupt: a ``KeyboardInterrupt``,
    or what a signal handler of the host raises while an event is on its way.

    Each event that could not be delivered is one ``W112_OPENLINEAGE_EMIT_FAILED`` in
    ``warnings``, and is given to ``warn`` as it happens.

    Raises E506 when ``run_id`` (default: ``new_id()``) is not a UUID, ``started_at`` (default: the
    time of START) is not an RFC 3339 time, or any event of the run would not be valid.
    """

    def __init__(
        self,
        spec: RunSpec,
        transport: Emitter,
        *,
        run_id: str | None = None,
        started_at: str | None = None,
        clock: Callable[[], str] = utc_now,
        new_id: Callable[[], str] = random_id,
        warn: Callable[[WarningRecord], None] | None = None,
    ) -> None:
        self.spec = spec
        self.run_id = new_id() if run_id is None else run_id
        self.state = RunState.NEW
        self._begun: list[EventType] = []  # of these, delivered or lost
        self._delivered: set[EventType] = set()
        self._lost: dict[str, WarningRecord] = {}
        self._transport = transport
        self._started_at = started_at
        self._clock = clock
        self._warn = warn
        check_spec(spec, self.run_id, clock() if started_at is None else started_at)

    @property
    def warnings(self) -> list[WarningRecord]:
        """One ``W112_OPENLINEAGE_EMIT_FAILED`` for each event that was not delivered."""
        return list(self._lost.values())

    def start(self) -> None:
        """Send START, with ``started_at`` or the time now. Only the first call does anything."""
        if self.state is not RunState.NEW:
            return
        self.state = RunState.STARTED
        self._deliver("START", self._started_at)

    def complete(self, at: str | None = None) -> None:
        """Send COMPLETE, with the time ``at`` or now, if the run has started and not ended."""
        self._end("COMPLETE", at)

    def fail(self, message: str = GENERIC, at: str | None = None) -> None:
        """Send FAIL with ``message`` redacted and bounded, if the run has started and not ended.

        ``message`` must hold no assertion details, SQL, plans, configuration or headers.
        """
        self._end("FAIL", at, failure_message(message))

    def abort(self, at: str | None = None) -> None:
        """Send ABORT, if the run has started and not ended."""
        self._end("ABORT", at)

    def end_by(self, error: BaseException | None) -> None:
        """Send the terminal event that belongs to a body left by ``error``, or by none."""
        if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
            self.complete()
        elif isinstance(error, KeyboardInterrupt):
            self.abort()
        else:
            self.fail(exception_message(error))

    def __enter__(self) -> Self:
        """Send START. An interrupt that arrives meanwhile still gets its terminal event."""
        try:
            self.start()
        except BaseException as error:  # an interrupt too: a run that began gets its end
            self.end_by(error)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Send the terminal event, unless the body has already chosen one."""
        self.end_by(error)

    def _end(self, event_type: EventType, at: str | None, message: str | None = None) -> None:
        if self.state is not RunState.STARTED:
            return
        self.state = RunState(event_type)
        self._deliver(event_type, at, message)

    def _deliver(self, event_type: EventType, at: str | None, message: str | None = None) -> None:
        self._begun.append(event_type)
        try:
            event = self.spec.event(event_type, self.run_id, at or self._clock(), message)
            check_event(event)
            self._transport.emit(event_bytes(event))
            self._delivered.add(event_type)
        except BaseException as error:  # a transport may raise anything, also an exit of its own
            if not is_failure(error):  # somebody waits no longer for it
                self._undelivered(event_type, _INTERRUPTED)
                raise
            self._undelivered(event_type, f"was not delivered: {_shown_error(error)}")

    def give_up(self, end: str = "the terminal event") -> None:
        """Record what was interrupted: events that perhaps arrived, an ``end`` never sent.

        For a host that was interrupted anywhere in the run; each event is told once.
        """
        for event_type in self._begun:
            if event_type not in self._delivered:
                self._undelivered(event_type, _INTERRUPTED)
        if self.state is RunState.STARTED:
            self._undelivered(end, "was not delivered: it was interrupted")

    def _undelivered(self, event: str, what: str) -> None:
        warning: WarningRecord = {
            "code": EMIT_FAILED,
            "message": f"{event} {what}",
            "location": f"run {self.run_id}",
        }
        if self._lost.setdefault(event, warning) is not warning or self._warn is None:
            return
        try:
            self._warn(warning)
        except Exception:  # noqa: BLE001 - a host's warning hook is part of delivery
            return


def event_bytes(event: RunEvent) -> bytes:
    """Return the canonical JSON of an event: compact, keys sorted, UTF-8, no line end."""
    import orjson

    return orjson.dumps(event, option=orjson.OPT_SORT_KEYS)


def _shown_error(error: BaseException) -> str:
    """Return the kind or class and the redacted, bounded text of an exception, on one line."""
    if isinstance(error, DeliveryError):
        return f"{error.kind}: {error}"  # already safe to show
    try:
        text = " ".join(redact(str(error)[: 4 * _SHOWN]).split())
    except BaseException:  # noqa: BLE001 - the __str__ of a foreign exception may fail in any way
        text = ""
    printable = "".join(c if c.isprintable() else "?" for c in text[:_SHOWN])
    return f"{type(error).__name__}: {printable}" if printable else type(error).__name__
