"""The policy for Python's garbage collector, in one place.

Parsed JSON holds no cycles, but the collector walks all of it again and again as it grows. So
whatever holds a whole manifest, or many events, runs with the collector paused. The program
itself pauses it while it is loaded, since nothing that is imported is garbage, and spares its
exit a last collection.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW = 10_000  # objects after which the new ones are looked at: a few events have as many as 700
# Objects that are never freed; None where this is a library in somebody else's process.
_kept: list[object] | None = None


@contextmanager
def paused() -> Iterator[None]:
    """Pause the collector; afterwards it is as it was before. May be nested."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def pause() -> None:
    """Pause the collector until ``resume``, and collect nothing at the program's end.

    Only the program itself calls this: ``keep`` keeps from now on.
    """
    import atexit

    global _kept  # noqa: PLW0603 - of the process, as the collector is
    gc.disable()
    atexit.register(gc.freeze)
    if _kept is None:
        _kept = []
        _kept.append(_kept)  # a cycle that nobody collects outlives the interpreter's last steps


def keep(value: object) -> None:
    """Keep ``value`` until the process is gone, where this is the program's own process.

    To take the objects of a large result apart costs a tenth of making it, and what a program
    holds at its end is given back as a whole.
    """
    if _kept is not None:
        _kept.append(value)


def resume() -> None:
    """Collect again, but only what is made from now on, and not so often."""
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(_NEW, *gc.get_threshold()[1:])
        gc.enable()
