"""Reports of a difference: for a terminal, another program, a pull request, a workflow's log."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamt_ol.lineage.difference import Difference

    Reporter = Callable[[Difference], str]

# What a user picks by name. A reporter is imported when it is asked for.
REPORTERS: dict[str, str] = {
    "text": "streamt_ol.lineage.rendering.diff_text:text",
    "json": "streamt_ol.lineage.rendering.diff_document:json",
    "markdown": "streamt_ol.lineage.rendering.diff_markdown:markdown",
    "github": "streamt_ol.lineage.rendering.diff_github:github",
}


def reporter(name: str) -> Reporter:
    """Return the reporter of the format ``name``, a key of ``REPORTERS``."""
    found: Reporter = resolve_name(REPORTERS[name])
    return found
