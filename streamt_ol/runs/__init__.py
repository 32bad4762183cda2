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

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamt_ol.runs.check import check_spec
    from streamt_ol.runs.run import Emitter, Run, RunState, utc_now, utc_text
    from streamt_ol.runs.spec import Dataset, Job, Parent, RunSpec, id_of_trace, random_id

# Where each public name lives: imported when it is first asked for, since a command around a
# child process needs only ``streamt_ol.runs.child``.
_HOME = {
    "Dataset": "spec",
    "Emitter": "run",
    "Job": "spec",
    "Parent": "spec",
    "Run": "run",
    "RunSpec": "spec",
    "RunState": "run",
    "check_spec": "check",
    "id_of_trace": "spec",
    "random_id": "spec",
    "utc_now": "run",
    "utc_text": "run",
}

__all__ = [
    "Dataset",
    "Emitter",
    "Job",
    "Parent",
    "Run",
    "RunSpec",
    "RunState",
    "check_spec",
    "id_of_trace",
    "random_id",
    "utc_now",
    "utc_text",
]


def __getattr__(name: str) -> object:
    """Import the module of a public name, and return what it names."""
    if name not in _HOME:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
