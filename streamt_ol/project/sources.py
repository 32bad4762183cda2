"""The sources of a project as the manifest would declare them."""

from __future__ import annotations

from typing import Any

from streamt_ol.project.fields import columns_of, documented, named
from streamt_ol.project.sections import Section
from streamt_ol.reading.yaml_values import YamlList, YamlMap


def read_source(section: Section) -> dict[str, Any]:
    """Return a source as the manifest declares it. Raises E501 at a field of the wrong type."""
    fields = schema_fields(section)
    columns = columns_of(section)
    if not columns.get("columns") and fields is not None:
        columns = columns_of(fields, "fields", f"{section.pointer}/columns")
    return {
        "name": named(section, "name"),
        "topic": named(section, "topic"),
        **documented(section),
        **columns,
    }


def schema_fields(section: Section) -> Section | None:
    """Return the ``schema`` of a source whose ``fields`` are its columns where it has none."""
    for key in ("schema", "schema_"):
        schema = section.value.get(key)
        if isinstance(schema, YamlMap) and isinstance(schema.get("fields"), YamlList):
            return section.section(key)
    return None
