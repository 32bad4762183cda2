"""A pipe as a file that can be read more than once: in memory while it is small, else on disk.

Neither memory nor the disk is filled by an input that never ends: a line has a bound, and a part
of the disk stays free.
"""

from __future__ import annotations

import shutil
import tempfile
from typing import IO, TYPE_CHECKING

from streamt_ol.reading.blocks import is_compressed
from streamt_ol.reading.chunks import MAX_EVENT_BYTES
from streamt_ol.reading.json_scan import BLANKS, BOM

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = 1 << 20
_IN_MEMORY = 16 << 20
LONGEST_LINE = 4 * MAX_EVENT_BYTES
KEPT_FREE = 1 << 30  # bytes of the disk, and at most a tenth of it


class EndlessError(Exception):
    """The input is more than can be kept; the text says why, and is safe to show."""


def spooled(
    stream: IO[bytes], longest_line: int = LONGEST_LINE, kept_free: int | None = None
) -> IO[bytes]:
    """Return a temporary file with everything that ``stream`` holds.

    ``kept_free``: the bytes of the disk that stay free. Raises ``EndlessError``, ``OSError``.
    """
    spool = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - the caller closes it
    written = checked = 0
    try:
        for block in _bounded(stream, longest_line):
            written += len(block)
            if written - checked > _IN_MEMORY:
                _check_disk(tempfile.gettempdir(), kept_free)
                checked = written
            spool.write(block)
    except BaseException:  # an interrupt too: the temporary file goes with it
        spool.close()
        raise
    return spool


def _bounded(stream: IO[bytes], longest_line: int) -> Iterator[bytes]:
    """Yield the blocks of ``stream``; raise ``EndlessError`` where a line goes on and on.

    An array of events may stand on one line, and compressed bytes have no lines.
    """
    first = stream.read(_BLOCK)
    has_lines = not (is_compressed(first) or first.removeprefix(BOM).lstrip(BLANKS)[:1] == b"[")
    block, length = first, 0
    while block:
        end = block.rfind(b"\n")
        length = length + len(block) if end < 0 else len(block) - end - 1
        if has_lines and length > longest_line:
            raise EndlessError(f"a line has no end within {longest_line:,} bytes")
        yield block
        block = stream.read(_BLOCK)


def _check_disk(folder: str, kept_free: int | None) -> None:
    disk = shutil.disk_usage(folder)
    kept = min(KEPT_FREE, disk.total // 10) if kept_free is None else kept_free
    if disk.free < kept + _IN_MEMORY:
        raise EndlessError(
            f"it holds more than the folder of temporary files can: {kept:,} bytes of its "
            "disk stay free"
        )
