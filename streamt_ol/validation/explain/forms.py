"""The forms of values in an event that may be wrong, and what stands for a value of each form.

Two parts with the same forms have the same faults.
"""

from __future__ import annotations

from typing import Any

from msgspec import UnsetType

from streamt_ol.validation.accept import frames as right_frames
from streamt_ol.validation.explain import frames
from streamt_ol.validation.explain.explanation import BLANK, NUMBER, TEXT

Forms = tuple[str, ...]
RIGHT, ABSENT = "right", "absent"
STAND_INS: dict[str, Any] = {
    "text": TEXT, "blank": BLANK, "number": NUMBER, "double": NUMBER, "array": [], "object": {},
    "null": None, "true": True, "false": False,
}  # fmt: skip
# Of what is nested, and of a number that may be written in several ways, a frame cannot tell
# whether it is plain.
ODD = frozenset({"double", "array", "object"})
OBJECTS = frozenset({frames.Run, frames.Entity, frames.Input, frames.Output, right_frames.Run,
                     right_frames.Entity, right_frames.Input, right_frames.Output})  # fmt: skip
_FORMS: dict[type, str] = {
    UnsetType: ABSENT, int: "number", float: "double", list: "array", dict: "object",
    type(None): "null", **dict.fromkeys(OBJECTS, RIGHT),
}  # fmt: skip


def form_of(value: Any) -> str:
    """Return the form of a value that is wrong, or right as it is an object of the frame."""
    kind = type(value)
    if kind is str:
        return "text" if value.strip() else "blank"
    if kind is bool:
        return "true" if value else "false"
    return _FORMS[kind]


def forms_of_names(one: Any) -> Forms | None:
    """Return the forms of the namespace and the name of a frame, None where both are right."""
    namespace, name = one.namespace, one.name
    if type(namespace) is type(name) is str and namespace.strip() and name.strip():
        return None
    return _of_name(namespace), _of_name(name)


def _of_name(value: Any) -> str:
    return RIGHT if type(value) is str and value.strip() else form_of(value)
