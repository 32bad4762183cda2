"""Typed reading of a project's mappings: each value with its location."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from streamt_ol.problems import PARSE, Location, StreamtOlError, pointer
from streamt_ol.reading.yaml_values import YamlList, YamlMap

Expand = Callable[[str, str], str]
T = TypeVar("T")
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (dict, "object"),
    (list, "array"),
    (str, "string"),
    (bool, "boolean"),
    ((int, float), "number"),
    (type(None), "null"),
)


class Section:
    """A mapping of the project.

    ``pointer`` is where its content stands in the manifest. ``expand`` fills in variables, in
    the texts that are read; without it a text is exact.
    """

    __slots__ = ("_expand", "pointer", "value")

    def __init__(self, value: YamlMap, pointer: str = "", expand: Expand | None = None) -> None:
        self.value = value
        self.pointer = pointer
        self._expand = expand

    def expanding(self, expand: Expand) -> Section:
        """Return the section as one whose variables are filled in."""
        return Section(self.value, self.pointer, expand)

    def at(self, key: str | None = None) -> Location:
        """Return the location of the section, or of its entry ``key`` where it has one."""
        if key is None:
            return Location(file=self.value.file, line=self.value.line, pointer=self.pointer)
        line = self.value.lines.get(key, self.value.line)
        return Location(file=self.value.file, line=line, pointer=self.pointer + pointer(key))

    def text(self, key: str) -> str | None:
        """Return a text, or None where there is none."""
        value = self._typed(key, str)
        if value is None or "${" not in value:
            return value
        return self._expanded(value, self.at, key)

    def _typed(self, key: str, kind: type[T]) -> T | None:
        value = self.value.get(key)
        if value is not None and not isinstance(value, kind):
            raise mistyped(value, _kind_of(kind), self.at(key))
        return value

    def _expanded(self, text: str, at: Callable[..., Location], *parts: Any) -> str:
        return text if self._expand is None else self._expand(text, at(*parts))

    def required_text(self, key: str) -> str:
        """Return a text that has to be there."""
        value = self.text(key)
        if value is None:
            raise StreamtOlError(PARSE, f"a field is missing: {key}", location=self.at())
        return value

    def given_texts(self, *keys: str) -> dict[str, str]:
        """Return those of ``keys`` that are texts; nothing else about them matters."""
        values = {key: self.value.get(key) for key in keys}
        return {key: value for key, value in values.items() if isinstance(value, str)}

    def section(self, key: str) -> Section | None:
        """Return a mapping below this one, or None where there is none."""
        value = self._typed(key, YamlMap)
        if value is None:
            return None
        return Section(value, self.pointer + pointer(key), self._expand)

    def below(self, *keys: str) -> Section | None:
        """Return the mapping under ``keys``, each below the one before, or None."""
        found: Section | None = self
        for key in keys:
            found = None if found is None else found.section(key)
        return found

    def items(self, key: str, pointer_of_items: str | None = None) -> list[Any] | None:
        """Return the list ``key`` with each mapping in it as a section, or None for no list.

        ``pointer_of_items`` is where the list stands in the manifest, if under another name.
        """
        value = self._typed(key, YamlList)
        if value is None:
            return None
        where = self.pointer + pointer(key) if pointer_of_items is None else pointer_of_items
        return list(self._read_items(value, where))

    def _read_items(self, values: YamlList, where: str) -> Iterator[Any]:
        for index, value in enumerate(values):
            if isinstance(value, YamlMap):
                yield Section(value, f"{where}/{index}", self._expand)
            elif isinstance(value, str):
                yield self._expanded(value, item_location, values, where, index)
            else:
                raise mistyped(value, "object", item_location(values, where, index))

    def plain(self, key: str) -> Mapping[str, Any]:
        """Return the mapping ``key`` as plain values, without locations."""
        section = self.section(key)
        if section is None:
            return {}
        values: dict[str, Any] = _plain(section.value)
        return values


def item_location(values: YamlList, where: str, index: int) -> Location:
    """Return the location of an item of a list that stands at the pointer ``where``."""
    return Location(file=values.file, line=values.lines[index], pointer=f"{where}/{index}")


def _plain(value: Any) -> Any:
    """Copy ``value``; YAML's depth is bounded, so this may recurse."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def mistyped(value: object, wanted: str, location: Location) -> StreamtOlError:
    """Return the error for a value of the wrong type; it does not quote the value."""
    message = f"must be of type {wanted}, not {_kind_of(type(value))}"
    return StreamtOlError(PARSE, message, location=location)


def _kind_of(of: type) -> str:
    """Return the name of a type of values."""
    return next((name for types, name in _KINDS if issubclass(of, types)), "date or time")
