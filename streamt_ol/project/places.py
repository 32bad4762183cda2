"""Where in a project's files that stands which a later stage found fault with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from streamt_ol.problems import StreamtOlError, Warned
from streamt_ol.project.document import Document
from streamt_ol.reading.yaml_values import YamlList, YamlMap

_POINTER_IN_TEXT = re.compile(r"(?<=\s)/(?:sources|models|artifacts/\w+)/\d+(?:/\w+)*")
_RUNTIME = "runtime."


class Places:
    """Turns JSON pointers into a manifest into ``file:line pointer`` of the project."""

    def __init__(self, document: Document, manifest: Mapping[str, Any]) -> None:
        self._document = document
        self._manifest = manifest

    def of(self, location: str) -> str:
        """Return ``location`` with its file and line before it, where it has one."""
        found = self._found(location)
        return location if found is None else f"{found} {location}"

    def error(self, error: StreamtOlError) -> StreamtOlError:
        """Return ``error`` with places of the project beside its pointers."""
        location = error.location and self.of(error.location)
        return StreamtOlError(
            error.code,
            self._in_text(error.message),
            location=location,
            suggestion=error.suggestion,
        )

    def warning(self, warning: Warned) -> Warned:
        """Return ``warning`` with places of the project beside its pointers."""
        moved = warning.copy()
        moved["message"] = self._in_text(warning["message"])
        if "location" in warning:
            moved["location"] = self.of(warning["location"])
        return moved

    def _in_text(self, text: str) -> str:
        return _POINTER_IN_TEXT.sub(lambda found: self.of(found[0]), text)

    def _found(self, location: str) -> str | None:
        if location.startswith(_RUNTIME) and self._document.runtime is not None:
            return _deepest(self._document.runtime.value, location.split(".")[1:])
        if not location.startswith("/"):
            return None
        first, *rest = [
            part.replace("~1", "/").replace("~0", "~") for part in location[1:].split("/")
        ]
        if first == "artifacts":
            first, rest = "models", self._owner(rest)
        if first == "project":
            return _deepest(self._document.root.value, [first, "name"])
        if not rest or first not in self._document.lists:
            return None
        index, *below = rest
        return _deepest(self._document.lists[first][int(index)].value, below)

    def _owner(self, artifact: list[str]) -> list[str]:
        """Return the index of the model that owns the artifact at this pointer."""
        kind, index = artifact[:2]
        name = self._manifest["artifacts"][kind][int(index)]["ownership"]["name"]
        names = [model["name"] for model in self._manifest["models"]]
        return [str(names.index(name))]


def _deepest(start: YamlMap, path: list[str]) -> str:
    """Return ``file:line`` of the last step of ``path`` that is there."""
    value: Any = start
    line = start.line
    for step in path:
        if isinstance(value, YamlMap) and step in value:
            line, value = value.lines[step], value[step]
        elif isinstance(value, YamlList) and step.isdecimal() and int(step) < len(value):
            line, value = value.lines[int(step)], value[int(step)]
        else:
            break
    return f"{start.file}:{line}"
