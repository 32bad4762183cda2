"""Rules of acceptance, decided offline: behind `check`, and before every `send`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.delivery.outcome import ACCEPTED, PLAIN, REFUSED, Verdict
from streamt_ol.openlineage.events import DATASET_EVENT, kind_of
from streamt_ol.redaction import shown_path

if TYPE_CHECKING:
    from streamt_ol.delivery.items import Event, Item

MIB = 1024 * 1024


class Candidate(NamedTuple):
    """The subject of a receiver's rules: an event and its size, in bytes when decoded.

    ``is_explained``: whether the verdict is to tell what is made of the event, besides its status:
    how many edges, which of its facets are read.
    """

    item: Item
    size: int
    is_explained: bool = False

    @property
    def kind(self) -> str | None:
        """The kind of the event. Much faster than ``event``, for which it may be parsed."""
        return self.item.outline.kind

    @property
    def event(self) -> Event:
        """The event as a whole."""
        return self.item.event

    def facets(self, read: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of facets that are in ``read``, and of those that are not."""
        found = facets_of(self.event) if self.is_explained else ()
        others = tuple(shown_path(name) for name in found if name not in read)
        return tuple(name for name in found if name in read), others


Acceptance = Callable[[Candidate], Verdict]


def any_kind(candidate: Candidate) -> Verdict:
    """Accept all three kinds: a server of the standard, Marquez, Kafka, a file.

    Which facets are read, if any, is not known of them.
    """
    if candidate.kind is None:
        return Verdict(REFUSED, ("the object is not one of the three kinds of event",))
    return PLAIN


@dataclass(frozen=True)
class AtMost:
    """Rules that accept all three kinds up to ``max_bytes``, decoded; it reads facets ``reads``."""

    max_bytes: int
    reads: frozenset[str]

    def __call__(self, candidate: Candidate) -> Verdict:
        """Return what becomes of an event."""
        verdict = any_kind(candidate)
        if verdict.status != ACCEPTED:
            return verdict
        if candidate.size > self.max_bytes:
            limit = f"{self.max_bytes // MIB} MiB"
            size = f"{candidate.size:,} bytes are more than the limit of {limit}"
            return Verdict(REFUSED, (size,))
        notes: tuple[str, ...] = ()
        if candidate.size > self.max_bytes // 2:
            notes = ("it is close to the size limit; the receiver asks to stay well below it",)
        if not candidate.is_explained:
            return Verdict(ACCEPTED, (), notes)
        edges = dataset_edges(candidate.event)
        return Verdict(ACCEPTED, (), notes, edges, *candidate.facets(self.reads))


def dataset_edges(event: Event) -> int:
    """Return how many edges between a job or run and its datasets the event declares."""
    if kind_of(event) in (None, DATASET_EVENT):
        return 0
    return len(datasets(event, "inputs")) + len(datasets(event, "outputs"))


def datasets(event: Event, side: str) -> list[Mapping[str, object]]:
    """Return the dataset objects of ``inputs`` or ``outputs``."""
    found = event.get(side)
    return [d for d in found if isinstance(d, dict)] if isinstance(found, list) else []


def facets_of(event: Event) -> tuple[str, ...]:
    """Return the name of every facet in the event, as ``location.name``, each once, in order."""
    locations: dict[str, Sequence[object]] = {
        "run": [event.get("run")],
        "job": [event.get("job")],
        "dataset": [event.get("dataset")],
        "inputs": datasets(event, "inputs"),
        "outputs": datasets(event, "outputs"),
    }
    found: dict[str, None] = {}
    for location, entities in locations.items():
        for entity in entities:
            found.update((f"{location}.{name}", None) for name in _facet_names(entity))
    return tuple(found)


def _facet_names(entity: object) -> Iterator[str]:
    if not isinstance(entity, dict):
        return
    for key in ("facets", "inputFacets", "outputFacets"):
        facets = entity.get(key)
        if isinstance(facets, dict):
            yield from (str(name) for name in facets)
