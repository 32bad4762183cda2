"""The faults that `validate` finds in an event on its way, and what follows from them.

A delivery is not a gatekeeper: a fault keeps an event back only where its receiver is known to
need what it breaks (the core schema), or where that is asked for. What else is found is summed up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from streamt_ol.codes import SENT_INVALID
from streamt_ol.problems import WarningRecord, warning
from streamt_ol.redaction import shown_path
from streamt_ol.validation.findings import ERROR

if TYPE_CHECKING:
    from streamt_ol.delivery.items import Item
    from streamt_ol.validation.findings import Finding

# What the core schema says, times and run ids among it; within a facet only of its base.
_CORE_RULES = frozenset({"OL-R011", "OL-R013", "OL-R014", "OL-R015", "OL-R020", "OL-R023"})
_BASE_FIELDS = ("/_producer", "/_schemaURL")
_SHOWN = 3


class Fault(NamedTuple):
    """One error of `validate`: its rule, where it stands, and what it says, safe to show."""

    rule: str
    pointer: str
    message: str

    @property
    def is_core(self) -> bool:
        """Whether the core schema by itself refuses the event for this."""
        if self.rule not in _CORE_RULES:
            return False
        in_facet = "acets/" in self.pointer
        return not in_facet or self.rule == "OL-R023" or self.pointer.endswith(_BASE_FIELDS)

    def __str__(self) -> str:
        return f"{self.rule} {self.pointer}: {self.message}"


@cache
def _check() -> Callable[[Any], list[Finding]]:
    # Schemas are compiled by this import.
    from streamt_ol.validation.events import check_event

    return check_event


@dataclass(frozen=True)
class Validity:
    """The weight of faults of events: rules in ``ignored`` do not, none when it is not ``on``.

    ``refuses_invalid``: whether every fault keeps an event back.
    """

    ignored: frozenset[str] = frozenset()
    on: bool = True
    refuses_invalid: bool = False

    def faults(self, item: Item) -> tuple[Fault, ...]:
        """Return the errors of `validate` about one event, as far as they count, in its order."""
        if not self.on or item.findings == ():
            return ()
        # Found in any order: jsonschema goes through additional facets as a set.
        return tuple(
            Fault(found.rule, shown_path(found.pointer), found.message)
            for found in sorted(item.findings or _check()(item.event))
            if found.severity == ERROR and found.rule not in self.ignored
        )

    def refusing(self, faults: Iterable[Fault], *, core: bool) -> tuple[Fault, ...]:
        """Return the faults that keep an event back; ``core``: from who needs the core schema."""
        return tuple(f for f in faults if self.refuses_invalid or (core and f.is_core))


def said(faults: tuple[Fault, ...]) -> str:
    """Return faults in one line, the first few of them."""
    more = f"; and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
    return f"{'; '.join(map(str, faults[:_SHOWN]))}{more}"


class InvalidEvents:
    """Counts, by rule, of events that go out although `validate` finds errors in them."""

    def __init__(self) -> None:
        self._events = 0
        self._rules: Counter[str] = Counter()

    def add(self, faults: tuple[Fault, ...]) -> None:
        """Count one event with its faults, if it has any."""
        if faults:
            self._events += 1
            self._rules.update({fault.rule for fault in faults})

    def warnings(self) -> list[WarningRecord]:
        """Return one warning that sums them up, or none."""
        if not self._events:
            return []
        rules = ", ".join(f"{rule} in {count}" for rule, count in sorted(self._rules.items()))
        events = "1 event goes" if self._events == 1 else f"{self._events} events go"
        message = f"{events} out in which `validate` finds errors: {rules}"
        return [warning(SENT_INVALID, message)]
