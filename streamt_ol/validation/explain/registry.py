"""The reference validator: jsonschema's Draft 2020-12 validator over a closed registry.

Implements "Offline validation boundary": nothing is retrieved, an unresolved reference is an
error, and each schema is checked against its meta-schema before it is used.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from streamt_ol.openlineage import schemas
from streamt_ol.openlineage.formats import format_checker
from streamt_ol.openlineage.release import CORE_ALIASES


@cache
def registry(*names: str) -> Registry[Any]:
    """Return a closed registry of the core and the pinned documents ``names``.

    References to the older cores that published facets point at resolve to the pinned core;
    every other unknown reference raises ``referencing.exceptions.Unresolvable``.
    """
    documents = {schemas.document(name)["$id"]: schemas.document(name) for name in names}
    core = schemas.document(schemas.CORE)
    documents |= dict.fromkeys((core["$id"], *CORE_ALIASES), core)
    return Registry().with_resources(
        (uri, DRAFT202012.create_resource(contents)) for uri, contents in documents.items()
    )


@cache
def reference_validator(name: str, definition: str) -> Draft202012Validator:
    """Return the validator of ``definition`` in the pinned document ``name``, formats enforced.

    Raises ``StreamtOlError`` where the document is damaged or no valid schema.
    """
    for used in {schemas.CORE, name}:
        _checked(used)
    reference = f"{schemas.document(name)['$id']}#/$defs/{definition}"
    return Draft202012Validator(
        {"$ref": reference}, registry=registry(name), format_checker=format_checker()
    )


@cache
def _checked(name: str) -> None:
    schemas.check_schema(name)
