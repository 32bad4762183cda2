"""Finite commands and function calls as OpenLineage runs, truthfully.

Implements "Runtime command events", "Failure facet" and "Failure policy" of the specification
as a library. A host makes a ``Run`` before its work, which checks everything that can be
wrong, and does the work inside it::

    spec = RunSpec(Job("prod", "nightly"), inputs=(Dataset("kafka://b:9092", "orders"),))
    with Run(spec, transport) as run:
        work()
    for warning in run.warnings: ...

``transport`` is anything with ``emit(bytes)``, for example one of ``streamt_ol.transport``.
"""

from streamt_ol.runs.check import check_spec
from streamt_ol.runs.ids import id_of_trace, random_id
from streamt_ol.runs.run import Emitter, Run, RunState, utc_now, utc_text
from streamt_ol.runs.spec import Dataset, Job, RunSpec

__all__ = [
    "Dataset",
    "Emitter",
    "Job",
    "Run",
    "RunSpec",
    "RunState",
    "check_spec",
    "id_of_trace",
    "random_id",
    "utc_now",
    "utc_text",
]
