"""How the validation of an archive is spread."""

from __future__ import annotations

from typing import NamedTuple

SPLIT_BYTES = 64 << 20
# One pass over less than this is done before processes have started.
_WORTH_SPLITS = 48 << 20


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


def worth_splits(size: int | None) -> bool:
    """Tell whether inputs of ``size`` bytes (None: not known) are better checked in splits."""
    return size is not None and size >= _WORTH_SPLITS
