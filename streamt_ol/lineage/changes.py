"""Kinds of changes of lineage, and one change of a dataset or job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from streamt_ol.lineage.graph import DATASET, Key, Owner


class Kind(NamedTuple):
    """A row of the table of kinds: what happened, and whether it may break what lies downstream."""

    meaning: str
    breaking: bool = False


# The most important first: reports keep this order.
KINDS: dict[str, Kind] = {
    "dataset-removed": Kind("a dataset is gone", breaking=True),
    "job-removed": Kind("a job is gone", breaking=True),
    "column-removed": Kind("a column of a dataset is gone", breaking=True),
    "column-retyped": Kind("a column has another type", breaking=True),
    "output-changed": Kind("a job writes a dataset that it did not write, or no longer writes it"),
    "input-changed": Kind("a job reads a dataset that it did not read, or no longer reads it"),
    "dataset-renamed": Kind(
        "one dataset is gone and one is new in its namespace, with the same columns and neighbours",
        breaking=True,
    ),
    "job-renamed": Kind("one job is gone and one is new, with the same neighbours"),
    "owner-changed": Kind("a dataset or job has other owners"),
    "column-moved": Kind("a column stands before or behind others than it did"),
    "dataset-added": Kind("a dataset is new"),
    "job-added": Kind("a job is new"),
    "column-added": Kind("a column is new"),
    "column-lineage-changed": Kind("a column is made from another one, or no longer"),
    "description-changed": Kind("a dataset, job or column has another description"),
    "facet-changed": Kind("another facet of a dataset or job differs"),
}
ORDER = {kind: at for at, kind in enumerate(KINDS)}


@dataclass(frozen=True)
class Change:
    """One change of the node ``key``.

    ``key`` is the identity in the new lineage, or the former one of what was removed. ``column``
    is the column concerned. ``other`` is the former identity of what was renamed, or the dataset
    at the other end. ``facet`` names another facet. ``old`` and ``new`` are the values that
    changed, None for one that is absent.
    """

    kind: str
    key: Key
    column: str = ""
    other: Key | None = None
    facet: str = ""
    old: str | int | tuple[Owner, ...] | None = None
    new: str | int | tuple[Owner, ...] | None = None

    @property
    def order(self) -> tuple[object, ...]:
        """A key to sort changes by: the most important kinds first."""
        other = self.other or Key("", "", "")
        values = (str(self.old), str(self.new))
        return (ORDER[self.kind], self.key, self.column, other, self.facet, *values)


class Affected(NamedTuple):
    """A node downstream of a dataset that changed, with the number of steps between them."""

    key: Key
    owners: list[Owner]
    steps: int
    cause: Key


def of_node(key: Key, what: str) -> str:
    """Return the kind of change ``what`` for a dataset or a job, e.g. ``job-removed``."""
    return f"{'dataset' if key.kind == DATASET else 'job'}-{what}"
