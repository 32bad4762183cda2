"""Put a jsonschema error into our words: which rule, which location, found and expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamt_ol.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonschema import ValidationError

Said = tuple[tuple[str | int, ...], str]
FORMAT_RULES = {"date-time": "OL-R013", "uri": "OL-R014", "uuid": "OL-R015"}
_FORMAT_WORDS = {
    "date-time": "an RFC 3339 time with a zone, e.g. 2026-01-31T23:59:59Z",
    "uri": "an absolute URI (RFC 3986)",
    "uuid": "a UUID in its 8-4-4-4-12 form",
}
_DECIDES_A_BRANCH = frozenset({"const", "enum"})


def leaves(errors: Iterator[ValidationError]) -> Iterator[ValidationError]:
    """Yield the errors that name a field: alternatives are replaced by their closest branch.

    A value that is of the wrong type is none of an enumeration's either: that is said once.
    """
    found = list(_leaves(errors))
    enumerated = {tuple(error.absolute_path) for error in found if error.validator == "enum"}
    for error in found:
        if error.validator != "type" or tuple(error.absolute_path) not in enumerated:
            yield error


def _leaves(errors: Iterator[ValidationError]) -> Iterator[ValidationError]:
    for error in errors:
        if error.validator in {"anyOf", "oneOf"} and error.context:
            yield from _leaves(iter(_closest_branch(error)))
        else:
            yield error


def _closest_branch(error: ValidationError) -> list[ValidationError]:
    """Return the errors of the branch that was most likely meant.

    That is the one whose constants match (``"type": "DATASET"``), then the one whose faults
    lie deepest, then the first.
    """
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)

    def distance(errors: list[ValidationError]) -> tuple[int, int]:
        mismatches = sum(inner.validator in _DECIDES_A_BRANCH for inner in errors)
        return mismatches, -max(len(inner.path) for inner in errors)

    return min(branches.values(), key=distance)


def kind_of_value(value: object) -> str:
    """Name a JSON value for a message without its content where that may be large."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return shown(value) if isinstance(value, str) else f"the number {value}"


def said(error: ValidationError) -> Iterator[Said]:
    """Yield the path and the message of each fault that ``error`` stands for."""
    path = tuple(error.absolute_path)
    words = _WORDS.get(str(error.validator))
    if words is None:
        yield path, f"does not meet the schema's {error.validator!r}"
        return
    for more, message in words(error.validator_value, error.instance, error.schema):
        yield (*path, *more), message


def _type(expected: Any, found: Any, _schema: Any) -> Iterator[Said]:
    yield (), f"expected {_article(expected)}, found {kind_of_value(found)}"


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'aeio' else 'a'} {name}"


def _required(expected: Any, found: Any, _schema: Any) -> Iterator[Said]:
    for name in expected:
        if name not in found:
            yield (name,), "required, but missing"


def _enum(expected: Any, found: Any, _schema: Any) -> Iterator[Said]:
    yield (), f"expected {' or '.join(map(str, expected))}, found {kind_of_value(found)}"


def _const(expected: Any, found: Any, _schema: Any) -> Iterator[Said]:
    yield (), f"expected {kind_of_value(expected)}, found {kind_of_value(found)}"


def _format(expected: Any, found: Any, _schema: Any) -> Iterator[Said]:
    yield (), f"expected {_FORMAT_WORDS[expected]}, found {kind_of_value(found)}"


def _minimum(expected: Any, found: Any, _schema: Any) -> Iterator[Said]:
    yield (), f"expected at least {expected}, found {kind_of_value(found)}"


def _closed(_expected: Any, found: Any, schema: Any) -> Iterator[Said]:
    for name in found:
        if name not in schema.get("properties", {}):
            yield (name,), f"the field {shown(name)} is not permitted here"


def _dependent(expected: Any, found: Any, _schema: Any) -> Iterator[Said]:
    for present, names in expected.items():
        for name in names:
            if present in found and name not in found:
                yield (name,), f"required with {present!r}, but missing"


def _forbidden(expected: Any, _found: Any, _schema: Any) -> Iterator[Said]:
    yield (), f"must not have {' and '.join(expected.get('required', ()))}"


def _one_of(expected: Any, _found: Any, _schema: Any) -> Iterator[Said]:
    yield (), f"expected to match one of {len(expected)} forms, but several match"


_WORDS: dict[str, Callable[[Any, Any, Any], Iterator[Said]]] = {
    "type": _type,
    "required": _required,
    "enum": _enum,
    "const": _const,
    "format": _format,
    "minimum": _minimum,
    "additionalProperties": _closed,
    "dependentRequired": _dependent,
    "not": _forbidden,
    "oneOf": _one_of,
}
