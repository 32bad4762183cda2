"""The pinned OpenLineage release: its version, and every URL of OpenLineage and of streamt.

No other module holds one; a test looks for them. Implements "Producer and schema URLs" of the
specification: exact values, the official ``$id`` followed by the exact ``$defs`` fragment.
"""

from __future__ import annotations

import re

RELEASE = "1.53.0"
CORE_VERSION = "2-0-2"
STANDARD = "OpenLineage"
PRODUCER = "https://github.com/conduktor/streamt"
_SPEC = "https://openlineage.io/spec/"
_CORE_DOCUMENT = "OpenLineage.json"
_CORE_URL = re.compile(
    r"https?://openlineage\.io/spec/(?P<version>[0-9]+-[0-9]+-[0-9]+)/OpenLineage\.(?:json|yml)"
    r"|https?://(?:raw\.githubusercontent\.com|github\.com)/OpenLineage/OpenLineage/\S*"
    r"/spec/OpenLineage\.(?:json|yml)"
)
_FACET_URL = re.compile(r"https?://openlineage\.io/spec/facets/[0-9-]+/(\w+\.json)(?=#|$)")


def core_id(version: str = CORE_VERSION) -> str:
    """Return the ``$id`` of the core schema of ``version``."""
    return f"{_SPEC}{version}/{_CORE_DOCUMENT}"


CORE_ID = core_id()
# Releases of the core that published facets of older releases point at.
CORE_ALIASES = (core_id("1-0-2"), core_id("1-0-3"))


def facet_id(version: str, document: str) -> str:
    """Return the ``$id`` of the document of a standard facet, e.g. ``SchemaDatasetFacet.json``."""
    return f"{_SPEC}facets/{version}/{document}"


def core_version(url: str) -> str | None:
    """Return the version of the core that ``url``, without its fragment, names.

    "" where it names a core of no version, as a source repository's address does; None where it
    names none.
    """
    match = _CORE_URL.fullmatch(url)
    return None if match is None else match["version"] or ""


def facet_document(url: str) -> str | None:
    """Return the document of a facet that ``url`` names, with or without a fragment, or None."""
    match = _FACET_URL.match(url)
    return None if match is None else match[1]
