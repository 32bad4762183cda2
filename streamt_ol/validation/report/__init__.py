"""The formats of a validation report, by the name that a user picks."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamt_ol.validation.report.collector import Report

    # A report, and whether colours are welcome, to the bytes of its text.
    Reporter = Callable[[Report, bool], Iterator[bytes]]

REPORTERS: dict[str, str] = {
    "text": "streamt_ol.validation.report.text:report",
    "json": "streamt_ol.validation.report.structured:envelope",
    "jsonl": "streamt_ol.validation.report.structured:lines",
    "sarif": "streamt_ol.validation.report.sarif:report",
    "junit": "streamt_ol.validation.report.junit:report",
    "github": "streamt_ol.validation.report.github:report",
}


def reporter(name: str) -> Reporter:
    """Return the reporter of the format ``name``, imported only now."""
    found: Reporter = resolve_name(REPORTERS[name])
    return found
