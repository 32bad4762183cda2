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
    """Pause the collector until ``resume``, and collect nothing at the program's end."""
    import atexit

    gc.disable()
    atexit.register(gc.freeze)


def resume() -> None:
    """Collect again, but only what is made from now on."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
