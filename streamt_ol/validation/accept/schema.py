"""The fast path: jsonschema-rs over the flattened schema of each kind of event.

What it accepts, the reference validator accepts (a differential test proves it); what it refuses,
that one judges. It reads Python dicts directly, calls no Python, and knows nothing that the
flattened schema does not say.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from jsonschema_rs import Draft202012Validator, RegexOptions

from streamt_ol.openlineage.facets import STANDARD_FACETS, StandardFacet
from streamt_ol.validation.accept.flatten import Schema, event_schema, facet_schema, full_schema

if TYPE_CHECKING:
    from collections.abc import Callable


def compiled(schema: Schema) -> Draft202012Validator:
    """Return the validator of ``schema``: patterns run in linear time, nothing is fetched."""
    return Draft202012Validator(
        schema, validate_formats=False, pattern_options=RegexOptions(), retriever=_refuse
    )


def compiled_with(schema: Schema, definitions: Schema) -> Draft202012Validator:
    """Return the validator of ``schema``, with those ``definitions`` that it refers to."""
    needed: Schema = {}
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += node
        elif isinstance(node, dict):
            name = str(node.get("$ref", "")).removeprefix("#/$defs/")
            if name in definitions and name not in needed:
                needed[name] = definitions[name]
                pending.append(needed[name])
            pending += node.values()
    return compiled({**schema, "$defs": needed})


@cache
def validator(kind: str) -> Draft202012Validator:
    """Return the validator of events of ``kind`` that knows every standard facet."""
    return compiled(full_schema(kind))


@cache
def accepts(kind: str) -> Callable[[Any], bool]:
    """Return what accepts events of ``kind``, every standard facet included."""
    return validator(kind).is_valid


@cache
def accepts_core(kind: str) -> Callable[[Any], bool]:
    """Return what accepts events of ``kind`` whose facets are base facets, whatever the key."""
    return compiled(event_schema(kind, ())).is_valid


@cache
def accepts_facet(standard: StandardFacet) -> Callable[[Any], bool]:
    """Return what accepts a standard facet."""
    return compiled(facet_schema(standard, STANDARD_FACETS)).is_valid


def _refuse(uri: str) -> Any:
    raise LookupError(uri)
