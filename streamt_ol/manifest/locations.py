"""The locations of the parts of a manifest: the files and lines that travel with it.

A compiled manifest has JSON pointers only. Beside the manifest of a project the state holds
``locations``: for the pointer of each source, model, artifact, test and of the project's other
parts the ``file``, the ``line``, and under ``lines``, by a pointer from there, the lines of what
stands below it on a line of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from streamt_ol.problems import Location, pointer
from streamt_ol.redaction import shown_path

_LINE = {"type": "integer", "minimum": 1}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "required": ["file", "line"],
        "properties": {
            "file": {"type": "string"},
            "line": _LINE,
            "lines": {"type": "object", "additionalProperties": _LINE},
        },
        "additionalProperties": False,
    },
}


class DeclaredAt(TypedDict):
    """An entry of ``locations``."""

    file: str
    line: int
    lines: NotRequired[dict[str, int]]


class Locations:
    """Turns a pointer into the manifest into a ``Location``, with file and line where known."""

    def __init__(self, declared: Mapping[str, DeclaredAt] | None = None) -> None:
        self._declared = declared or {}

    def __bool__(self) -> bool:
        """Return whether anything is known."""
        return bool(self._declared)

    def at(self, *parts: str | int) -> Location:
        """Return the location of the part under these keys and indices."""
        return self.of(pointer(*parts))

    def of(self, text: str) -> Location:
        """Return the location of the part that the JSON pointer ``text`` names.

        It has the line of the deepest part on the way there that has one.
        """
        file, line = self._found(text) if self._declared else (None, None)
        return Location(file=file, line=line, pointer=text)

    def field(self, *keys: str) -> Location:
        """Return the location of a setting, e.g. ``runtime.kafka.bootstrap_servers``."""
        file, line = self._found(pointer(*keys))
        return Location(file=file, line=line, field=".".join(keys))

    def _found(self, text: str) -> tuple[str | None, int | None]:
        start = text
        while start not in self._declared:
            if not start:
                return None, None
            start = start.rpartition("/")[0]
        entry = self._declared[start]
        lines, below = entry.get("lines", {}), text[len(start) :]
        while below and below not in lines:
            below = below.rpartition("/")[0]
        # Between two stages the state may be anybody's, and so the file's name.
        return shown_path(entry["file"]), lines.get(below, entry["line"])
