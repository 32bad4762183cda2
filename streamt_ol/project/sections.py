"""Typed reading of a project's mappings: each value with its place, its variables filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from streamt_ol.problems import PARSE, StreamtOlError, pointer
from streamt_ol.reading.yaml_values import YamlList, YamlMap

Expand = Callable[[str, str], str]
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (dict, "object"),
    (list, "array"),
    (str, "string"),
    (bool, "boolean"),
    ((int, float), "number"),
    (type(None), "null"),
)


class Section:
    """A mapping at a place of the project.

    ``pointer`` is where its content stands in the manifest; ``expand`` fills in variables, only
    in the values that are read.
    """

    __slots__ = ("_expand", "pointer", "value")

    def __init__(self, value: YamlMap, pointer: str, expand: Expand) -> None:
        self.value = value
        self.pointer = pointer
        self._expand = expand

    def location(self, key: str) -> str:
        """Return ``file:line pointer`` of the entry ``key``, or of the section without it."""
        line = self.value.lines.get(key, self.value.line)
        return f"{self.value.file}:{line} {self.pointer}{pointer(key)}"

    @property
    def place(self) -> str:
        """``file:line pointer`` of the section itself."""
        return f"{self.value.file}:{self.value.line} {self.pointer}".rstrip()

    def text(self, key: str) -> str | None:
        """Return a text, or None where there is none."""
        value = self.value.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            raise mistyped(value, "string", self.location(key))
        return self._expand(value, self.location(key)) if "${" in value else value

    def required_text(self, key: str) -> str:
        """Return a text that has to be there."""
        value = self.text(key)
        if value is None:
            raise StreamtOlError(PARSE, f"a field is missing: {key}", location=self.place)
        return value

    def given_texts(self, *keys: str) -> dict[str, str]:
        """Return those of ``keys`` that are plain texts; nothing else about them matters."""
        values = {key: self.value.get(key) for key in keys}
        return {k: v for k, v in values.items() if isinstance(v, str) and "${" not in v}

    def section(self, key: str) -> Section | None:
        """Return a mapping below this one, or None where there is none."""
        value = self.value.get(key)
        if value is None:
            return None
        if not isinstance(value, YamlMap):
            raise mistyped(value, "object", self.location(key))
        return Section(value, self.pointer + pointer(key), self._expand)

    def below(self, *keys: str) -> Section | None:
        """Return the mapping under ``keys``, each below the one before, or None."""
        found: Section | None = self
        for key in keys:
            found = None if found is None else found.section(key)
        return found

    def items(self, key: str) -> list[Any] | None:
        """Return the list ``key`` with each mapping in it as a section, or None for no list."""
        value = self.value.get(key)
        if value is None:
            return None
        if not isinstance(value, YamlList):
            raise mistyped(value, "array", self.location(key))
        return list(self._read_items(value, self.pointer + pointer(key)))

    def _read_items(self, values: YamlList, where: str) -> Iterator[Any]:
        for index, value in enumerate(values):
            place = f"{where}/{index}"
            if isinstance(value, YamlMap):
                yield Section(value, place, self._expand)
            elif isinstance(value, str):
                yield self._expand(value, f"{values.file}:{values.lines[index]} {place}")
            else:
                location = f"{values.file}:{values.lines[index]} {place}"
                raise mistyped(value, "object", location)

    def plain(self, key: str) -> Mapping[str, Any]:
        """Return the mapping ``key`` as plain values with variables filled in everywhere."""
        section = self.section(key)
        if section is None:
            return {}
        values: dict[str, Any] = _plain(section.value, self.location(key), self._expand)
        return values


def _plain(value: Any, location: str, expand: Expand) -> Any:
    """Copy ``value``; YAML's depth is bounded, so this may recurse."""
    if isinstance(value, str):
        return expand(value, location)
    if isinstance(value, dict):
        return {key: _plain(item, location, expand) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, location, expand) for item in value]
    return value


def mistyped(value: object, wanted: str, location: str) -> StreamtOlError:
    """Return the error for a value of the wrong type; it does not quote the value."""
    kind = next((name for types, name in _KINDS if isinstance(value, types)), "date or time")
    return StreamtOlError(PARSE, f"must be of type {wanted}, not {kind}", location=location)
