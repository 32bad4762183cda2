"""Files by a pattern, as a shell's: ``*``, ``?``, ``[...]``, and ``**`` for folders at any depth.

Not the standard library's ``glob``, which follows links round and round, and leaves out folders
that it may not list without a word.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGNS = frozenset("*?[")


def files_matching(pattern: str) -> list[str]:
    """Return the files that ``pattern`` means, sorted, each once.

    What begins with a dot is meant only where the pattern says so. ``**`` does not follow a link
    to a folder. Raises ``OSError`` for a folder that cannot be listed.
    """
    start = pattern[: len(pattern) - len(pattern.lstrip("/"))]
    found = {start}
    for part in pattern[len(start) :].split("/"):
        found = {one for folder in found for one in _step(folder, part)}
    return sorted(filter(os.path.isfile, found))


def _step(folder: str, part: str) -> Iterator[str]:
    """Yield what one part of a pattern means in a folder; ``""`` is the current one."""
    if part == "**":
        if os.path.isdir(folder or "."):
            yield folder
            yield from _below(folder)
    elif SIGNS.isdisjoint(part):
        yield os.path.join(folder, part)
    elif os.path.isdir(folder or "."):
        for name in os.listdir(folder or "."):
            if fnmatchcase(name, part) and (part[0] == "." or name[0] != "."):
                yield os.path.join(folder, name)


def _below(folder: str) -> Iterator[str]:
    """Yield the files and folders below a folder, but for links to folders."""
    with os.scandir(folder or ".") as entries:
        for entry in entries:
            if entry.name[0] == ".":
                continue
            name = os.path.join(folder, entry.name)
            if not entry.is_dir():
                yield name
            elif not entry.is_symlink():
                yield name
                yield from _below(name)
