"""The fields of a section of a transport's configuration, each checked when it is taken.

What is wrong is a ``StreamtOlError`` (E506) at the name of the field, which shows no value.
"""

from __future__ import annotations

from typing import Any, NoReturn

from streamt_ol.transport.base import refuse

Section = dict[str, Any]


def is_count(value: Any) -> bool:
    """Tell whether ``value`` is a whole number, 0 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def mapping(section: Section, name: str) -> Section:
    """Return the mapping ``name`` of a section, empty where it is not given."""
    value = section.get(name, {})
    if not isinstance(value, dict):
        fail(name, "the value must be a mapping")
    return value


def text(section: Section, name: str, prefix: str = "") -> str:
    """Return the text ``name`` of a section, which must be given."""
    value = section.get(name)
    if not isinstance(value, str) or not value.strip():
        fail(prefix + name, "the value must be given, as text")
    return value


def only(section: Section, prefix: str, known: set[str]) -> None:
    """Refuse a field of a section that is not among the ``known``."""
    for name in section:
        if name not in known:
            fail(prefix + name, "this field is not supported", "remove it")


def fail(name: str, message: str, suggestion: str | None = None) -> NoReturn:
    """Raise ``StreamtOlError`` (E506) at the field ``name`` of the transport."""
    refuse(f"transport.{name}", message, suggestion)
