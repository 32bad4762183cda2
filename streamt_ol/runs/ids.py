"""Run ids: fresh ones, those that a trace already has, and that of a parent."""

from __future__ import annotations

import uuid

from streamt_ol.openlineage.formats import is_uuid
from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.runs.spec import Parent

_TRACE_BITS = 128


def random_id() -> str:
    """Return a fresh random UUIDv4, as "Event time, run IDs, and determinism" asks for."""
    return str(uuid.uuid4())


def id_of_trace(trace_id: int | str) -> str:
    """Return a 128-bit W3C trace id, an int or 32 hexadecimal digits, as a UUID.

    One lineage run then maps to one trace. Raises E506 for anything else, and for the all-zero
    id, which tracing libraries give when there is no trace.
    """
    number = _number(trace_id)
    if not 0 < number < 1 << _TRACE_BITS:
        raise StreamtOlError(
            INVALID,
            "the trace id is not 32 hexadecimal digits other than all zeros",
            location="trace_id",
            suggestion="start the run inside a recording span, or give no trace id",
        )
    return str(uuid.UUID(int=number))


def parent_of(text: str, location: str) -> Parent:
    """Return the parent that ``NAMESPACE/NAME/RUNID`` names, as the official wrappers hand it on.

    A job's name may hold slashes: the namespace ends at the first, the run id begins after the
    last. Raises E506 at ``location``.
    """
    namespace, _, rest = text.partition("/")
    name, _, run_id = rest.rpartition("/")
    return checked_parent(namespace, name, run_id, location)


def checked_parent(namespace: str, name: str, run_id: str, location: str) -> Parent:
    """Return a parent with a namespace, a name and a UUID, or raise E506 at ``location``."""
    if not namespace.strip() or not name.strip() or not is_uuid(run_id):
        raise StreamtOlError(
            INVALID,
            "the parent is not a namespace, the name of a job and a run id that is a UUID",
            location=location,
        )
    return Parent(namespace, name, run_id)


def _number(digits: object) -> int:
    if isinstance(digits, int):
        return digits
    if not isinstance(digits, str):
        return -1
    try:
        return int.from_bytes(bytes.fromhex(digits)) if len(digits) == _TRACE_BITS // 4 else -1
    except ValueError:
        return -1
