"""DataHub: which events become lineage there, and what its names lose.

After its sources and issues: released servers take RunEvents, a static event is a 500 (issue
15196). All kinds, and 400 with details, are proposed (pull requests 19736, 19257), not released.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from streamt_ol.codes import GENERIC_WARNING
from streamt_ol.delivery.receivers.acceptance import datasets
from streamt_ol.delivery.receivers.receiver import Receiver
from streamt_ol.delivery.receivers.run_rules import SIDES, RunRules
from streamt_ol.openlineage.events import at, identity_of
from streamt_ol.problems import WarningRecord, warning
from streamt_ol.redaction import shown

_INTEGRATION = re.compile(r"https://github\.com/OpenLineage/OpenLineage/.*/.*")
_AIRFLOW = "https://github.com/apache/airflow/"
_NOT_IN_URI = re.compile(r"[\s\"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})")
_BREAKS_URN = re.compile(r"[,()]")


def _refuses(event: Mapping[str, Any]) -> Iterator[str]:
    engine = at(event, "run", "facets", "processing_engine", "name")
    producer = event.get("producer")
    text = producer if isinstance(producer, str) else ""
    is_known = _INTEGRATION.fullmatch(text) or text.startswith(_AIRFLOW)
    if not (isinstance(engine, str) and engine) and not is_known:
        yield (
            "it is answered 500, Unable to determine orchestrator: there is no processing_engine "
            "facet with a name (see --processing-engine), nor a producer of OpenLineage's own"
        )


def _notes(event: Mapping[str, Any]) -> Iterator[str]:
    _, job = identity_of(event.get("job"))
    if "." in job:
        flow = shown(job.partition(".")[0])
        yield f"the flow is named {flow}, the job's name up to its first dot"
    found = [identity_of(dataset) for side in SIDES for dataset in datasets(event, side)]
    for namespace, name in dict.fromkeys(found):
        called = f"{shown(namespace)} {shown(name)}"
        if _NOT_IN_URI.search(namespace) or _NOT_IN_URI.search(name):
            yield f"{called} is dropped silently: not a URI"
        elif _BREAKS_URN.search(name):
            yield f"{called} breaks its URN: a comma or a parenthesis"
        elif namespace.startswith("kafka://"):
            yield f"{called} loses its broker: one topic name on two clusters is one dataset there"


class Collisions:
    """The names of topics that stand on more than one cluster: each is one dataset in DataHub.

    Of an input without end a bounded number of names is remembered.
    """

    _MOST = 100_000
    _SHOWN = 3

    def __init__(self) -> None:
        self._cluster_of: dict[str, str] = {}
        self._found: dict[str, None] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        """Look at the inputs and outputs of one event."""
        for side in SIDES:
            for dataset in datasets(event, side):
                namespace, name = identity_of(dataset)
                is_known = name in self._cluster_of or len(self._cluster_of) < self._MOST
                if not namespace.startswith("kafka://") or not is_known:
                    continue
                if self._cluster_of.setdefault(name, namespace) != namespace:
                    self._found[name] = None

    def warnings(self) -> list[WarningRecord]:
        """Return one warning that names some of them, or none."""
        if not self._found:
            return []
        names = ", ".join(map(shown, list(self._found)[: self._SHOWN]))
        count = len(self._found)
        topics = "1 name of a topic stands" if count == 1 else f"{count} names of topics stand"
        dots = ", ..." if count > self._SHOWN else ""
        message = f"{topics} on several clusters, and is one dataset in DataHub: {names}{dots}"
        return [warning(GENERIC_WARNING, message)]


DATAHUB = Receiver(
    "datahub",
    "http",
    "DataHub: RunEvents with a known orchestrator",
    RunRules(refuses=_refuses, notes=_notes),
    others="refused: 500",
    endpoint="/openapi/openlineage/api/v1/lineage",
    tokens=("bearer",),
    engine="streamt",
    watch=Collisions,
)
