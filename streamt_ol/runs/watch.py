"""Calling back when a file may have changed: by the operating system's file events, or polling.

File events come through the library watchdog (the extra ``streamt-ol[apply]``). Where it is not
installed, or the system has no more watches to give, the same calls come from polling alone.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from watchdog.observers.api import BaseObserver

# Seconds until file events begin: a short body ends before watchdog, which takes long to import,
# is needed, and a child that is started at once inherits no descriptor of it.
AT_FIRST = 0.1
# Seconds between two calls. With file events, polling only covers what they miss: a folder that
# was removed and made anew, a network file system. Without them it must be quick to see a short
# operation at all; so must it be while more is waited for than a change of the file.
POLL_AT_FIRST = 0.001
POLL_BESIDE_EVENTS = 0.1
POLL_ALONE = 0.003


@contextmanager
def watching(path: Path, changed: Callable[[], bool]) -> Iterator[None]:
    """Call ``changed`` whenever the file ``path`` may have changed, while the body runs.

    It returns whether only a change of the file matters now; else it is called again soon. Calls
    come from other threads, one at a time, and more often than the file changes. The file and
    its folders need not exist yet. Nothing is created.
    """
    one_at_a_time = threading.Lock()
    stopped, woken = threading.Event(), threading.Event()
    settled, alone = False, POLL_AT_FIRST
    events: _FileEvents | None = None

    def call() -> None:
        nonlocal settled
        with one_at_a_time:
            settled = changed()

    def poll() -> None:
        while not stopped.is_set():
            armed = events  # which may begin at any time
            if armed is not None:
                armed.arm()
            call()
            woken.wait(POLL_BESIDE_EVENTS if armed is not None and settled else alone)
            woken.clear()

    def begin_events() -> None:
        nonlocal events, alone
        if not stopped.wait(AT_FIRST):
            events = _file_events(path.absolute().parent, call, woken.set)
            alone = POLL_ALONE

    threads = [
        threading.Thread(target=target, name="marker-watch", daemon=True)
        for target in (poll, begin_events)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopped.set()
        woken.set()
        for thread in threads:
            thread.join()
        if events is not None:
            events.close()


class _FileEvents:
    """File events of one folder, and of those above it until it exists.

    ``arm`` is called by one thread at a time and never by watchdog's own: they hold the observer's
    lock while they dispatch, which ``schedule`` needs as well.
    """

    def __init__(
        self,
        folder: Path,
        call: Callable[[], None],
        wake: Callable[[], None],
        observer: BaseObserver,
    ) -> None:
        self._folder = folder
        self._call = call
        self._wake = wake
        self._observer = observer
        self._armed: set[Path] = set()

    def dispatch(self, event: Any) -> None:
        """Take an event of watchdog: folders may have come, the file may have changed."""
        if event.is_directory:
            self._wake()
        self._call()

    def arm(self) -> None:
        """Watch the folder; where it does not exist, the nearest one above it that does."""
        while self._folder not in self._armed:
            nearest = next(p for p in (self._folder, *self._folder.parents) if p.is_dir())
            if nearest in self._armed:
                return
            try:
                self._observer.schedule(
                    self,  # type: ignore[arg-type]  # only ``dispatch`` is called
                    str(nearest),
                    event_filter=_kinds(),
                )
            except OSError:
                return  # it went away again, or no watch is left: polling sees it
            self._armed.add(nearest)

    def close(self) -> None:
        """End the threads of watchdog."""
        self._observer.stop()
        self._observer.join()


def _file_events(
    folder: Path, call: Callable[[], None], wake: Callable[[], None]
) -> _FileEvents | None:
    try:
        from watchdog.observers import Observer
    except ImportError:
        return None
    _keep_from_stderr("watchdog", "fsevents")
    observer = Observer()
    try:
        observer.start()
    except OSError:
        return None
    return _FileEvents(folder, call, wake, observer)


def _keep_from_stderr(*loggers: str) -> None:
    """Give loggers without a handler one that does nothing.

    watchdog logs an error when it is stopped while an event comes, and what nobody handles is
    written to stderr. Who has configured logging still gets it.
    """
    import logging

    for name in loggers:
        if not (logger := logging.getLogger(name)).handlers:
            logger.addHandler(logging.NullHandler())


def _kinds() -> list[Any]:
    """Return the events that matter: an atomic replacement, a plain write, a removal, a folder.

    Reading the marker opens it, which would be an event as well and cause the next reading.
    """
    from watchdog import events

    return [
        events.FileCreatedEvent,  # the lock's
        events.FileMovedEvent,
        events.FileClosedEvent,
        events.FileDeletedEvent,
        events.DirCreatedEvent,
        events.DirMovedEvent,
    ]
