"""Verdicts on parts of events, remembered by the bytes that write them, since parts repeat."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import orjson
from msgspec import Raw
from xxhash import xxh3_64_intdigest

from streamt_ol.openlineage.events import RUN_EVENT
from streamt_ol.reading.strict_json import is_plain
from streamt_ol.validation.accept.flatten import full_schema
from streamt_ol.validation.accept.local import FACETS_RULES
from streamt_ol.validation.accept.schema import compiled_with

if TYPE_CHECKING:
    from collections.abc import Callable

Verdict = TypeVar("Verdict")
REMEMBERED = 16 << 20  # bytes of parts of one kind
_LARGE = 64 << 10  # a part that is not worth its place
_ENTRY = 250  # bytes of an entry besides those of the part


class Verdicts(Generic[Verdict]):
    """The verdict on each part of one kind; one never seen is given to ``judge``.

    A digest finds a part, its bytes decide. ``judged`` counts the bytes that were given. ``weigh``
    tells the bytes that a verdict takes, where it is none of a few.
    """

    def __init__(
        self, judge: Callable[[bytes], Verdict], weigh: Callable[[Verdict], int] = lambda _: 0
    ) -> None:
        self.judged = 0
        self._judge = judge
        self._weigh = weigh
        self._known: dict[int, tuple[Raw, Verdict]] = {}
        self._size = 0

    def of(self, part: Raw) -> Verdict:
        """Return the verdict on ``part``."""
        digest = xxh3_64_intdigest(part)
        try:
            known, verdict = self._known[digest]
        except KeyError:
            return self._judged(digest, bytes(part))
        return verdict if known == part else self._judged(digest, bytes(part))

    def _judged(self, digest: int, data: bytes) -> Verdict:
        self.judged += len(data)
        verdict = self._judge(data)
        if len(data) <= _LARGE:
            size = len(data) + self._weigh(verdict) + _ENTRY
            self._size += size
            if self._size > REMEMBERED:
                self._known.clear()
                self._size = size
            self._known[digest] = Raw(data), verdict
        return verdict


def accepted_facets(place: str, data: bytes) -> dict[str, Any] | None:
    """Return the container of facets at ``place`` that ``data`` writes; None if not surely right.

    Every rule that is registered in ``FACETS_RULES`` is asked, too.
    """
    try:
        facets: dict[str, Any] = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if not (is_plain(data, facets) and _accepts(place)(facets)):
        return None
    for holds in FACETS_RULES.values():
        if not holds(place, facets):
            return None
    return facets


@cache
def _accepts(place: str) -> Callable[[Any], bool]:
    """Return what accepts containers of facets at ``place``."""
    definitions = full_schema(RUN_EVENT)["$defs"]
    return compiled_with({"$ref": f"#/$defs/{place}Facets"}, definitions).is_valid
