"""The plan: which bytes of which input each split covers, and what the inputs were then."""

from __future__ import annotations

import errno
import os
import stat
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from streamt_ol.reading import storage
from streamt_ol.reading.blocks import is_compressed
from streamt_ol.reading.chunks import LOOKED_AT
from streamt_ol.reading.documents import is_document
from streamt_ol.reading.json_scan import BOM
from streamt_ol.reading.opening import STDIN, STDIN_NAME, open_input

if TYPE_CHECKING:
    from collections.abc import Sequence

POSITION_BITS = 48
LINE_BITS = 28  # of a position: the rest is the number of the split
_MAX_SPLITS = 1 << (POSITION_BITS - LINE_BITS)
# Bytes of input for a partition: the smallest events that leave state leave half a byte of it for
# each of theirs, so that even then a partition is no more than what is merged at once.
_PARTITION_BYTES = 32 << 20
_GROWTH = 100  # by which compressed events grow at the most, unless they are made for that
_MAX_PARTITIONS = 1 << 16  # whose table in each piece of state takes half a megabyte


class Input(msgspec.Struct, frozen=True, array_like=True):
    """An input: its name in the report, its name for every process, what it was at the plan.

    ``failure`` says why it cannot be read; then it has no split but one that says so.
    """

    name: str
    source: str
    size: int = 0
    mark: str = ""
    failure: str = ""


class Split(msgspec.Struct, frozen=True, array_like=True):
    """Bytes of one input: the lines that begin in ``[start, end)``, or the ``whole`` of it."""

    number: int
    input: int
    start: int
    end: int
    whole: bool


class Plan(msgspec.Struct, frozen=True):
    """The inputs and splits of a run, and everything else its steps depend on.

    ``fixed`` says that the user named the number of partitions.
    """

    release: str
    inputs: list[Input]
    splits: list[Split]
    partitions: int
    fixed: bool
    max_line_bytes: int
    max_problems: int
    strict: bool
    ignored: list[str]


def plan_inputs(names: Sequence[str], split_bytes: int) -> tuple[list[Input], list[Split]]:
    """Return the inputs and the splits that cover them, in their order.

    A compressed file, a document or a pipe is one split. An input that cannot be read keeps its
    place, for the report to name it. A file that grows is read to the size it has now.
    """
    inputs: list[Input] = []
    splits: list[Split] = []
    for number, (found, whole) in enumerate(storage.mapped(_looked_at, names)):
        inputs.append(found)
        edges = [0, found.size]
        if not whole and found.size > split_bytes:
            count = -(-found.size // split_bytes)
            count += count % 2  # of three, one of two processes would do two
            edges = [found.size * at // count for at in range(count + 1)]
        for start, end in pairwise(edges):
            splits.append(Split(len(splits), number, start, end, whole))
    if len(splits) > _MAX_SPLITS:
        message = f"{len(splits)} splits are too many: raise --split-bytes"
        raise OSError(errno.EFBIG, message)
    return inputs, splits


def partitions_for(inputs: Sequence[Input], splits: Sequence[Split]) -> int:
    """Return into how many partitions the stream state goes: each fits into memory by far."""
    whole = {split.input for split in splits if split.whole}
    size = sum(one.size * (_GROWTH if at in whole else 1) for at, one in enumerate(inputs))
    return min(max(1, -(-size // _PARTITION_BYTES)), _MAX_PARTITIONS)


def _looked_at(name: str) -> tuple[Input, bool]:
    """Return an input, and whether it is one split whatever its size."""
    if name == STDIN:
        return Input(STDIN_NAME, STDIN), True
    try:
        source = storage.absolute(name)
        if storage.scheme_of(name) is None and not _is_regular(source):
            return Input(name, source), True
        size, mark = storage.version(source)
        with open_input(source) as stream:
            first = stream.read(len(BOM) + LOOKED_AT)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Input(name, name, failure=reason), True
    whole = is_compressed(first) or is_document(first.removeprefix(BOM)[:LOOKED_AT])
    return Input(name, source, size, mark), whole


def _is_regular(path: str) -> bool:
    return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - a name may be no path at all
