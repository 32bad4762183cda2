"""The formats of a validation report, by the name that a user picks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamt_ol.validation.report import Report

    # A report, and whether colours are welcome, to the bytes of its text.
    Reporter = Callable[[Report, bool], Iterator[bytes]]

REPORTERS: dict[str, str] = {
    "text": "streamt_ol.validation.reporters.text",
    "json": "streamt_ol.validation.reporters.structured:envelope",
    "jsonl": "streamt_ol.validation.reporters.structured:lines",
    "sarif": "streamt_ol.validation.reporters.sarif",
    "junit": "streamt_ol.validation.reporters.junit",
    "github": "streamt_ol.validation.reporters.github",
}


def reporter(name: str) -> Reporter:
    """Return the reporter of the format ``name``, imported only now."""
    module, _, function = REPORTERS[name].partition(":")
    found: Reporter = getattr(import_module(module), function or "report")
    return found
