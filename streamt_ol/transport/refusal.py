"""Refuse a field of a configuration by its name, without ever showing its value."""

from __future__ import annotations

from typing import NoReturn

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import place


def refuse(location: str, message: str, suggestion: str | None = None) -> NoReturn:
    """Raise ``StreamtOlError`` at ``location``, which may hold a name that a user wrote."""
    raise StreamtOlError(INVALID, message, location=place(location), suggestion=suggestion)
