"""The parts of events that repeat: jobs, datasets, containers of facets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import UNSET

from streamt_ol.openlineage import facets
from streamt_ol.validation.accept.verdicts import Verdicts, accepted_facets
from streamt_ol.validation.caching import LONGEST
from streamt_ol.validation.stream.facts import heads, job_key, processing_type

if TYPE_CHECKING:
    from streamt_ol.validation.accept.frames import Entity, Input, Output

REMEMBERED = 8192  # jobs


class Job:
    """A job, what its runs are packed with, and the processing type that an event stated last.

    ``noted`` is the token of the stream state that it was noted in last.
    """

    __slots__ = ("heads", "identity", "noted", "processing_type")

    def __init__(self, identity: tuple[str, str]) -> None:
        self.identity = identity
        self.processing_type: str | None = None
        self.heads = heads(job_key(*identity), generated=False)
        self.noted: object = None


class Parts:
    """The verdicts on parts of events."""

    def __init__(self) -> None:
        self.run_facets = _of_facets(facets.RUN)
        self.input_facets = _of_facets(facets.INPUT_DATASET)
        self.output_facets = _of_facets(facets.OUTPUT_DATASET)
        self._dataset_facets = _of_facets(facets.DATASET)
        self._job_facets = Verdicts(_processing_type)
        self._jobs: dict[tuple[str, str], Job] = {}

    @property
    def judged(self) -> int:
        """The bytes of the containers of facets that were new, so that they were judged."""
        of_datasets = (self.input_facets, self.output_facets, self._dataset_facets)
        return sum(one.judged for one in (self.run_facets, self._job_facets, *of_datasets))

    def job(self, job: Entity) -> Job | None:
        """Return what is known of a job, None if it is not right."""
        identity = job.namespace, job.name
        try:
            known = self._jobs[identity]
        except KeyError:
            if not _is_named(*identity):
                return None
            known = Job(identity)
            if len(job.namespace) + len(job.name) <= LONGEST:
                if len(self._jobs) == REMEMBERED:
                    self._jobs.clear()
                self._jobs[identity] = known
        stated = None if job.facets is UNSET else self._job_facets.of(job.facets)
        if stated is False:
            return None
        if stated != known.processing_type:
            known.processing_type = stated
            known.noted = None
        return known

    def is_dataset(self, dataset: Entity) -> bool:
        """Tell whether a dataset has a name and a namespace, and facets that are right."""
        if not _is_named(dataset.namespace, dataset.name):
            return False
        return dataset.facets is UNSET or self._dataset_facets.of(dataset.facets)

    def are_listed(self, datasets: list[Input] | list[Output], more: Verdicts[bool]) -> bool:
        """Tell whether all datasets of a list are right, and none of them is there twice.

        ``more`` has the verdicts on the facets of inputs, or of outputs.
        """
        for dataset in datasets:
            if not self.is_dataset(dataset):
                return False
            if dataset.more is not UNSET and not more.of(dataset.more):
                return False
        return len(datasets) == 1 or len(
            {(dataset.namespace, dataset.name) for dataset in datasets}
        ) == len(datasets)


def _of_facets(place: str) -> Verdicts[bool]:
    return Verdicts(lambda data: accepted_facets(place, data) is not None)


def _processing_type(data: bytes) -> str | Literal[False] | None:
    """Return the processing type that the facets of a job state, False if they are not right."""
    found = accepted_facets(facets.JOB, data)
    return False if found is None else processing_type({"facets": found})


def _is_named(namespace: str, name: str) -> bool:
    """Tell whether an identity certainly is one: neither part is blank."""
    return bool(namespace and name) and not namespace.isspace() and not name.isspace()
