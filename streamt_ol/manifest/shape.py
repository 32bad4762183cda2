"""A manifest as `streamt compile` writes it: the part that lineage reads, and its shape.

Absent and ``null`` mean the same everywhere, unknown keys are ignored, ``from_``/``from`` are
one field. The shape says only what type each part that is read must have; what the parts mean
is the work of ``resolve_identities``.
"""

from __future__ import annotations

from typing import Any

from streamt_ol.manifest.processes import PROCESSES
from streamt_ol.problems import PARSE, Location, StreamtOlError

Manifest = dict[str, Any]

_TEXT = {"type": ["string", "null"]}
_NAMED = {"type": ["object", "null"], "properties": {"name": _TEXT}}
_COLUMNS = {
    "type": ["array", "null"],
    "items": {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "type": _TEXT, "description": _TEXT},
    },
}
_ENTRY = {
    "type": ["string", "object"],
    "properties": {"source": _TEXT, "ref": _TEXT},
}
_FROM = {
    "type": ["array", "object", "string", "null"],
    "items": _ENTRY,
    "properties": {"source": _TEXT, "ref": _TEXT},
}
_SOURCE = {
    "type": "object",
    "required": ["name", "topic"],
    "properties": {
        "name": {"type": "string"},
        "topic": {"type": "string"},
        "description": _TEXT,
        "owner": _TEXT,
        "columns": _COLUMNS,
    },
}
_MODEL = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "description": _TEXT,
        "owner": _TEXT,
        "materialized": _TEXT,
        "sql": _TEXT,
        "macro": _TEXT,
        "from": _FROM,
        "from_": _FROM,
        "topic": _NAMED,
        "advanced": {"type": ["object", "null"], "properties": {"topic": _NAMED}},
        "gateway": {"type": ["object", "null"], "properties": {"virtual_topic": _NAMED}},
        "columns": _COLUMNS,
        "contract": {"type": ["object", "null"], "properties": {"columns": _COLUMNS}},
    },
}


def _artifacts(required: list[str], **properties: Any) -> dict[str, Any]:
    ownership = {
        "type": ["object", "null"],
        "properties": {"type": _TEXT, "name": _TEXT, "project": _TEXT},
    }
    item = {
        "type": "object",
        "required": ["name", *required],
        "properties": {"name": {"type": "string"}, "ownership": ownership, **properties},
    }
    return {"type": ["array", "null"], "items": item}


def _list_of(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": ["array", "null"], "items": item}


SHAPE: dict[str, Any] = {
    "type": "object",
    "required": ["project"],
    "properties": {
        "project": {"type": "string"},
        "compiled_at": _TEXT,
        "sources": _list_of(_SOURCE),
        "models": _list_of(_MODEL),
        "tests": _list_of(
            {"type": "object", "properties": {"name": _TEXT, "model": _TEXT, "type": _TEXT}}
        ),
        "exposures": _list_of({"type": "object", "properties": {"name": _TEXT}}),
        "dag": {
            "type": ["object", "null"],
            "properties": {
                "nodes": _list_of(
                    {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string"},
                            "type": _TEXT,
                            "upstream": {"type": ["array", "null"], "items": {"type": "string"}},
                        },
                    }
                ),
                "edges": _list_of(
                    {
                        "type": "object",
                        "required": ["from", "to"],
                        "properties": {"from": {"type": "string"}, "to": {"type": "string"}},
                    }
                ),
            },
        },
        "artifacts": {
            "type": ["object", "null"],
            "properties": {
                "topics": _artifacts([]),
                "test_jobs": _artifacts([]),
                **{
                    name: _artifacts([*kind.required], **kind.fields)
                    for name, kind in PROCESSES.items()
                },
            },
        },
    },
}

_KINDS = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}


def check_shape(document: Any) -> Manifest:
    """Return ``document`` if it is shaped like a manifest, else raise E501 at the first fault.

    A compiled validator is the fast path; fastjsonschema decides and words what it refuses.
    """
    import jsonschema_rs

    if not jsonschema_rs.Draft7Validator(SHAPE).is_valid(document):
        check_against(SHAPE, document)
    manifest: Manifest = document
    return manifest


def check_against(
    shape: dict[str, Any], document: Any, code: str = PARSE, within: Location | None = None
) -> None:
    """Raise ``code`` at the first location where ``document`` does not have ``shape``.

    The location is a JSON pointer below ``within``; the message quotes no value.
    """
    import fastjsonschema

    validate = fastjsonschema.compile(shape, use_default=False)
    try:
        validate(document)
    except fastjsonschema.JsonSchemaValueException as error:
        raise StreamtOlError(
            code,
            _worded(str(error.rule), error.rule_definition, error.value),
            location=(within or Location()).below(*error.path[1:]),
        ) from None


def _worded(rule: str, definition: Any, value: Any) -> str:
    if rule == "required":
        missing = ", ".join(name for name in definition if name not in value)
        return f"a field is missing: {missing}"
    if rule == "type":
        wanted = " or ".join(definition) if isinstance(definition, list) else definition
        return f"must be of type {wanted}, not {_KINDS.get(type(value), 'number')}"
    if rule == "additionalProperties" or definition is False:
        return "has an unknown field"
    if rule == "oneOf":
        names = " and ".join(name for option in definition for name in option["required"])
        return f"must hold exactly one of {names}"
    return f"does not meet the rule {rule!r} of its shape"
