"""The engines: each maps a task over a list, here or on a cluster, and nothing else.

An engine is a class with ``map``, registered in ``ENGINES`` under the name that ``--engine``
takes. A task is a function of this package from bytes to bytes; it may be called more than once
for one item, and in any order.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Task = Callable[[bytes], bytes]

# Where each engine's class is: imported when it is chosen.
LOCAL = "local"
ENGINES = {
    LOCAL: "streamt_ol.scale.engines.local:Local",
    "spark": "streamt_ol.scale.engines.spark:Spark",
}


class EngineOptions(NamedTuple):
    """The options that an engine may need: how many processes, and the cluster's address."""

    jobs: int
    master: str | None = None


class Engine(Protocol):
    """Something that maps a task over a list."""

    shares_files: bool  # whether every worker sees this machine's temporary folder

    def __enter__(self) -> Engine:
        """Start the engine. Raises ``StreamtOlError`` where it cannot start."""

    def __exit__(self, *_: object) -> None:
        """Stop the engine and everything that it started."""

    def map(self, task: Task, items: Sequence[bytes]) -> Iterator[bytes]:
        """Yield what ``task`` makes of each item, as it is done, in any order."""


def engine(name: str, options: EngineOptions) -> Engine:
    """Return the engine ``name``, a key of ``ENGINES``; it is a context manager."""
    made: Engine = resolve_name(ENGINES[name])(options)
    return made
