"""Verdicts on containers of facets, remembered by their bytes, since facets repeat."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import orjson

from streamt_ol.openlineage.events import RUN_EVENT
from streamt_ol.openlineage.facets import JOB, STANDARD_FACETS
from streamt_ol.reading.strict_json import is_plain
from streamt_ol.validation.accept.flatten import event_schema
from streamt_ol.validation.accept.local import FACETS_RULES
from streamt_ol.validation.accept.schema import compiled
from streamt_ol.validation.stream.facts import processing_type

if TYPE_CHECKING:
    from collections.abc import Callable

# False: not certainly right. Otherwise the processing type that the facets of a job state, or None.
Verdict = Literal[False] | str | None
REMEMBERED = 16 << 20  # bytes of facets at each place
_LARGE = 64 << 10  # a container that is not worth its place
_ENTRY = 150  # bytes of an entry besides its key


class Verdicts(dict[bytes, Verdict]):
    """The verdict on each container of facets at one place; one never seen is judged."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self.judged = 0
        self._place = place
        self._rules = tuple(dict.fromkeys(FACETS_RULES.values()))
        self._size = 0

    def __missing__(self, data: bytes) -> Verdict:
        """Judge the container of facets that ``data`` writes, and remember the verdict."""
        self.judged += 1
        verdict = self._verdict(data)
        if len(data) <= _LARGE:
            self._size += len(data) + _ENTRY
            if self._size > REMEMBERED:
                self.clear()
                self._size = len(data) + _ENTRY
            self[data] = verdict
        return verdict

    def _verdict(self, data: bytes) -> Verdict:
        try:
            facets = orjson.loads(data)
        except orjson.JSONDecodeError:
            return False
        if not (is_plain(data, facets) and _accepts(self._place)(facets)):
            return False
        if not all(holds(self._place, facets) for holds in self._rules):
            return False
        return processing_type({"facets": facets}) if self._place == JOB else None


@cache
def _accepts(place: str) -> Callable[[Any], bool]:
    """Return what accepts containers of facets at ``place``."""
    definitions = _definitions()
    return compiled({"$ref": f"#/$defs/{place}Facets", "$defs": definitions}).is_valid


@cache
def _definitions() -> dict[str, Any]:
    definitions: dict[str, Any] = event_schema(RUN_EVENT, STANDARD_FACETS)["$defs"]
    return definitions
