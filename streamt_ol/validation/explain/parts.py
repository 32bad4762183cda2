"""Explain an event part by part; each fault of a part is explained once.

The parts are the head (the fields of the event itself), the run, the job, each dataset, and their
containers of facets. But for OL-R026 each rule about one event is about one part of it, so that
what is said of its parts is what is said of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from msgspec import UNSET, Raw

from streamt_ol.openlineage import facets
from streamt_ol.openlineage.events import DATASET_EVENT, RUN_EVENT
from streamt_ol.openlineage.formats import is_uri, is_uuid
from streamt_ol.validation.accept import frames as right_frames
from streamt_ol.validation.caching import remembering
from streamt_ol.validation.explain import frames, judging, local
from streamt_ol.validation.explain.containers import Containers
from streamt_ol.validation.explain.explanation import Said, said_of_url
from streamt_ol.validation.explain.forms import OBJECTS, ODD, RIGHT, Forms, form_of, forms_of_names
from streamt_ol.validation.explain.judging import HEAD, PART_POINTERS, Remembered
from streamt_ol.validation.rules import RULES
from streamt_ol.validation.stream.facts import EVENT_TYPES
from streamt_ol.validation.stream.times import is_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from streamt_ol.validation.findings import Finding

    Event = frames.Event | right_frames.Event
    Identities = list[tuple[str, str]]
    Wrong = tuple[str, tuple[Any, ...]]  # the pointer of a part, and its values

_HEAD_POINTERS = tuple(f"/{name}" for name in HEAD)
_OF_DUPLICATES = frozenset({RULES["OL-R026"].severity})
_is_uri = remembering(8192)(is_uri)


class Duplicates(NamedTuple):
    """The datasets of an event that are duplicated among its inputs or outputs."""

    kind: str
    event: Event
    number: int

    @property
    def rules(self) -> Sequence[str]:
        """The rule of each finding."""
        return ("OL-R026",) * self.number

    @property
    def severities(self) -> frozenset[str]:
        """The severities of the findings."""
        return _OF_DUPLICATES

    def findings(self) -> Iterator[Finding]:
        """Yield the findings."""
        lists = {"inputs": _named(self.event.inputs), "outputs": _named(self.event.outputs)}
        yield from local.datasets_unique(self.kind, lists)


class AnySaid(Protocol):
    """All that is said of a part, or some parts, of an event."""

    @property
    def rules(self) -> Sequence[str]:
        """The rule of each finding."""

    @property
    def severities(self) -> frozenset[str]:
        """The severities of the findings."""

    def findings(self) -> Iterable[Finding]:
        """Return the findings."""


# The rules about one event that are asked of its frame, by which nothing else is known of it.
OF_FRAMES = frozenset({"OL-R016", "OL-R017", "OL-R018", "OL-R019", "OL-R026"})


class Parts:
    """All that is said of the parts of events, remembered by what is wrong in them.

    ``is_odd`` tells of the event at hand whether its frame cannot tell if it is plain JSON.
    """

    def __init__(self) -> None:
        self.is_odd = False
        self._remembered = Remembered()
        self._containers = Containers(self._remembered)

    def of(self, kind: str, event: Event) -> tuple[list[AnySaid], str | None]:
        """Return what is said of an event of ``kind``, and the processing type of its job.

        Raises ``UnknownError``.
        """
        said: list[AnySaid] = []
        # What stands where it means nothing is not looked at.
        self.is_odd = event.dataset is not UNSET if kind == RUN_EVENT else event.run is not UNSET
        self._head(kind, event, said)
        if kind == DATASET_EVENT:
            self.is_odd |= event.inputs is not UNSET or event.outputs is not UNSET
            self._entity("dataset", event.dataset, facets.DATASET, said)
            return said, None
        if kind == RUN_EVENT:
            self._run(event.run, said)
        stated = self._entity("job", event.job, facets.JOB, said)
        inputs = self._listed("inputs", event.inputs, facets.INPUT_DATASET, said)
        outputs = self._listed("outputs", event.outputs, facets.OUTPUT_DATASET, said)
        duplicates = sum(len(one) - len(set(one)) for one in (inputs, outputs))
        if duplicates:
            said.append(Duplicates(kind, event, duplicates))
        return said, stated

    def _head(self, kind: str, event: Event, said: list[AnySaid]) -> None:
        time, producer, url = event.event_time, event.producer, event.schema_url
        event_type, inputs, outputs = event.event_type, event.inputs, event.outputs
        run, job, dataset = event.run, event.job, event.dataset
        is_type = type(event_type) is str and event_type in EVENT_TYPES
        forms = (
            RIGHT if type(time) is str and is_time(time) else form_of(time),
            RIGHT if type(producer) is str and _is_uri(producer) else form_of(producer),
            RIGHT if type(url) is str and _is_uri(url) else form_of(url),
            RIGHT if is_type else form_of(event_type),
            form_of(run),
            form_of(job),
            form_of(dataset),
            RIGHT if type(inputs) is list else form_of(inputs),
            RIGHT if type(outputs) is list else form_of(outputs),
        )
        self._odd(forms)
        found = self._remembered.of(judging.head, kind, forms)
        if found.findings:
            members = (time, producer, url, event_type, run, job, dataset, inputs, outputs)
            said.append(Said(found, _HEAD_POINTERS, (("", members),)))
        if type(url) is str:
            said += said_of_url(kind, url)

    def _run(self, run: Any, said: list[AnySaid]) -> None:
        if type(run) not in OBJECTS:
            return
        run_id = run.run_id
        if not (type(run_id) is str and is_uuid(run_id)):
            self._say("run", (form_of(run_id),), [("/run", (run_id,))], said)
        if run.facets is not UNSET:
            self._of_facets(facets.RUN, "/run/facets", run.facets, said)

    def _entity(self, part: str, one: Any, place: str, said: list[AnySaid]) -> str | None:
        """Say what is wrong with a job or dataset; return the processing type of a job."""
        if type(one) not in OBJECTS:
            return None
        forms = forms_of_names(one)
        if forms is not None:
            self._say(part, forms, [(f"/{part}", (one.namespace, one.name))], said)
        if one.facets is UNSET:
            return None
        return self._of_facets(place, f"/{part}/facets", one.facets, said)

    def _listed(self, part: str, listed: Any, place: str, said: list[AnySaid]) -> Identities:
        """Say what is wrong with the datasets of a list; return their identities."""
        identities: Identities = []
        wrong: dict[Forms, list[Wrong]] = {}
        for index, one in enumerate(listed) if type(listed) is list else ():
            if type(one) not in OBJECTS:
                wrong.setdefault((form_of(one),), []).append((f"/{part}/{index}", (one,)))
                continue
            forms = forms_of_names(one)
            if forms is not None:
                names = one.namespace, one.name
                wrong.setdefault(forms, []).append((f"/{part}/{index}", names))
            if one.facets is not UNSET:
                self._of_facets(facets.DATASET, f"/{part}/{index}/facets", one.facets, said)
            if one.more is not UNSET:
                self._of_facets(place, f"/{part}/{index}/{part[:-1]}Facets", one.more, said)
            if type(one.namespace) is type(one.name) is str:
                identities.append((one.namespace, one.name))
        for forms, parts in wrong.items():
            self._say(part, forms, parts, said)
        return identities

    def _say(self, part: str, forms: Forms, parts: list[Wrong], said: list[AnySaid]) -> None:
        """Say what is wrong with parts whose members have the same ``forms``."""
        self._odd(forms)
        found = self._remembered.of(judging.part, part, forms)
        if found.findings:
            pointers = PART_POINTERS[part] if len(forms) == len(PART_POINTERS[part]) else ("",)
            said.append(Said(found, pointers, parts))

    def _odd(self, forms: Forms) -> None:
        if not ODD.isdisjoint(forms):
            self.is_odd = True

    def _of_facets(self, place: str, within: str, data: Raw, said: list[AnySaid]) -> str | None:
        found = self._containers.of(place, within, data)
        said += found.said
        return found.processing_type


def _named(listed: Any) -> list[Any]:
    return [
        {"namespace": one.namespace, "name": one.name} if type(one) in OBJECTS else None
        for one in (listed if type(listed) is list else ())
    ]
