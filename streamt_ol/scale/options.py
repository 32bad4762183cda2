"""Options of how the validation of an archive is spread."""

from __future__ import annotations

from typing import NamedTuple

SPLIT_BYTES = 64 << 20
# One pass over less than this ends hardly later: the stream state has to be divided and joined.
_WORTH_PROCESSES = 96 << 20
# One pass over more than this may need more memory for the stream rules than a partition.
_WORTH_PARTITIONS = 2 << 30


class ScaleOptions(NamedTuple):
    """The engine and what it may use; ``partitions`` is chosen from the inputs where it is None.

    ``engine`` is a key of ``streamt_ol.scale.engines.ENGINES``; ``work_dir`` a folder or URI, or
    None for a temporary folder.
    """

    engine: str
    jobs: int
    master: str | None = None
    work_dir: str | None = None
    split_bytes: int = SPLIT_BYTES
    partitions: int | None = None


def worth_splits(size: int | None, jobs: int) -> bool:
    """Tell whether ``size`` bytes (None: not known) are better checked in splits than at once."""
    return size is not None and size >= (_WORTH_PROCESSES if jobs > 1 else _WORTH_PARTITIONS)
