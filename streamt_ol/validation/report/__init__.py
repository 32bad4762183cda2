"""The formats of a validation report, by the name that a user picks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamt_ol.validation.report.collector import Report

    # A report, and whether colours are welcome, to the bytes of its text.
    Reporter = Callable[[Report, bool], Iterator[bytes]]

REPORTERS: dict[str, str] = {
    "text": "streamt_ol.validation.report.text",
    "json": "streamt_ol.validation.report.structured:envelope",
    "jsonl": "streamt_ol.validation.report.structured:lines",
    "sarif": "streamt_ol.validation.report.sarif",
    "junit": "streamt_ol.validation.report.junit",
    "github": "streamt_ol.validation.report.github",
}


def reporter(name: str) -> Reporter:
    """Return the reporter of the format ``name``, imported only now."""
    module, _, function = REPORTERS[name].partition(":")
    found: Reporter = getattr(import_module(module), function or "report")
    return found
