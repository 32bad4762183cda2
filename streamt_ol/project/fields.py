"""The fields that sources and models share: a name, what documents them, columns."""

from __future__ import annotations

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.project.sections import Section, item_location, mistyped
from streamt_ol.reading.yaml_values import YamlList


def named(section: Section, key: str) -> str:
    """Return the text ``key`` that names something. Raises E506 for a blank one."""
    name = section.required_text(key)
    if not name.strip():
        raise StreamtOlError(INVALID, f"the {key} is blank", location=section.at(key))
    return name


def documented(section: Section) -> dict[str, str]:
    """Return those of ``description`` and ``owner`` that are there."""
    texts = {key: section.text(key) for key in ("description", "owner")}
    return {key: text for key, text in texts.items() if text is not None}


def columns_of(
    section: Section, key: str = "columns", pointer: str | None = None
) -> dict[str, list[dict[str, str]]]:
    """Return the ``columns`` under ``key``; ``pointer`` is theirs in the manifest."""
    columns = section.items(key, pointer)
    if columns is None:
        return {}
    declared = []
    for index, column in enumerate(columns):
        if not isinstance(column, Section):
            where = f"{section.pointer}/{key}" if pointer is None else pointer
            values: YamlList = section.value[key]
            raise mistyped(column, "object", item_location(values, where, index))
        texts = {key: column.text(key) for key in ("type", "description")}
        present = {key: text for key, text in texts.items() if text is not None}
        declared.append({"name": column.required_text("name"), **present})
    return {"columns": declared}
