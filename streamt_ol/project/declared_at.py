"""The locations of the parts of a compiled manifest, for the stages after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from streamt_ol.manifest.locations import DeclaredAt
from streamt_ol.problems import pointer
from streamt_ol.project.document import Document
from streamt_ol.project.sections import Section
from streamt_ol.project.sources import schema_fields
from streamt_ol.reading.yaml_values import YamlList, YamlMap

# What a later stage may find fault with below each entry of a list.
_PARTS = {
    "sources": ("name", "topic", "description", "owner", "columns"),
    "models": (
        "name", "description", "owner", "sql", "macro", "from", "from_", "columns", "contract",
    ),
    "tests": ("name", "model", "type"),
    "exposures": (),
}  # fmt: skip
_BRANCHES = frozenset(("columns", "contract", "from", "from_", "fields"))
_BELOW = ("columns", "name", "type", "description", "source", "ref")
_ENDPOINTS = (("kafka", "bootstrap_servers"), ("conduktor", "gateway", "proxy_bootstrap"))


def declared_locations(
    document: Document, artifacts: Mapping[str, list[dict[str, Any]]]
) -> dict[str, DeclaredAt]:
    """Return the ``locations`` of a project's manifest; an artifact stands where its model does.

    See ``streamt_ol.manifest.locations``.
    """
    found = {"/project": _of_name(document.root)}
    if document.runtime is not None:
        runtime = document.runtime.value
        found["/runtime"] = _entry(runtime, _lines_on_the_way(runtime, _ENDPOINTS))
    models: dict[str, DeclaredAt] = {}
    for name, sections in document.lists.items():
        for section in sections:
            entry = _entry(section.value, _lines_below(section, _PARTS[name]))
            found[section.pointer] = entry
            if name == "models":
                models[section.value["name"]] = entry
    for kind, compiled in artifacts.items():
        for index, artifact in enumerate(compiled):
            owner = models[artifact["ownership"]["name"]]
            found[pointer("artifacts", kind, index)] = {
                "file": owner["file"],
                "line": owner["line"],
            }
    return found


def _of_name(root: Section) -> DeclaredAt:
    """Return where the project's name stands."""
    project = root.value.get("project")
    if isinstance(project, YamlMap) and "name" in project:
        return {"file": project.file, "line": project.lines["name"]}
    return {"file": root.value.file, "line": root.value.lines.get("project", root.value.line)}


def _entry(value: YamlMap, lines: Iterable[tuple[str, int]]) -> DeclaredAt:
    entry: DeclaredAt = {"file": value.file, "line": value.line}
    below = dict(lines)
    if below:
        entry["lines"] = below
    return entry


def _lines_on_the_way(
    value: YamlMap, paths: Iterable[tuple[str, ...]]
) -> Iterator[tuple[str, int]]:
    """Yield the line of each step of ``paths`` that is there."""
    for path in paths:
        owner: Any = value
        for depth, step in enumerate(path, start=1):
            if not isinstance(owner, YamlMap) or step not in owner:
                break
            yield pointer(*path[:depth]), owner.lines[step]
            owner = owner[step]


def _lines_below(section: Section, parts: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    value = section.value
    for key in parts:
        if key in value:
            yield from _lines("", key, value, value.line)
    if "columns" in parts and not value.get("columns") and (fields := schema_fields(section)):
        below = _lines("", "fields", fields.value, value.line)
        yield from ((f"/columns{at.removeprefix('/fields')}", line) for at, line in below)


def _lines(
    above: str, key: str | int, owner: YamlMap | YamlList, line: int
) -> Iterator[tuple[str, int]]:
    """Yield the line of an entry and of what is below it, each where it is not that above it.

    Only what is read is gone into: an alias in anything else may stand for millions of values.
    """
    at, own = above + pointer(key), owner.lines[key]  # type: ignore[index]
    if own != line:
        yield at, own
    value = owner[key]  # type: ignore[index]
    if isinstance(value, YamlList) and key in _BRANCHES:
        for index in range(len(value)):
            yield from _lines(at, index, value, own)
    elif isinstance(value, YamlMap) and (isinstance(key, int) or key in _BRANCHES):
        for name in _BELOW:
            if name in value:
                yield from _lines(at, name, value, own)
