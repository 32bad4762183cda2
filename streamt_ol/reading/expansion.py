"""The inputs that a user's words mean: files, folders, patterns, objects of a store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.reading import storage
from streamt_ol.reading.opening import STDIN
from streamt_ol.reading.patterns import SIGNS
from streamt_ol.redaction import shown_path

if TYPE_CHECKING:
    from collections.abc import Iterable

# The files of a folder that hold events; a file that is named is read whatever it is called.
SUFFIXES = tuple(
    f".{kind}{compression}"
    for kind in ("jsonl", "ndjson", "json")
    for compression in ("", ".gz", ".zst")
)


def expanded(names: Iterable[str]) -> list[str]:
    """Return the names of the inputs, each folder and pattern replaced by what it holds.

    A folder's files are those whose names end in ``SUFFIXES``, at any depth, in the order of
    their names; those that begin with ``_`` or ``.`` are left out. Raises E501 for a folder or
    pattern that holds none or cannot be listed; a name that does not exist stays, for its reader
    to say so.
    """
    return [one for name in names for one in _expanded(name)]


def _expanded(name: str) -> list[str]:
    if name in ("", STDIN):
        return [name]
    try:
        if storage.scheme_of(name) is None and os.path.isfile(name):
            return [name]
        if SIGNS.isdisjoint(name) or os.path.exists(name):
            return _below(name) if storage.is_folder(name) else [name]
        found = storage.matching(name)
    except (OSError, ValueError) as error:
        raise _refusal(name, f"it cannot be listed: {getattr(error, 'strerror', error)}") from None
    if not found:
        raise _refusal(name, "no file matches this pattern")
    return found


def _below(folder: str) -> list[str]:
    found = storage.below(folder, SUFFIXES)
    if not found:
        raise _refusal(folder, f"the folder holds no file that ends in {', '.join(SUFFIXES)}")
    return found


def _refusal(name: str, message: str) -> StreamtOlError:
    return StreamtOlError(PARSE, message, location=Location(file=shown_path(name)))
