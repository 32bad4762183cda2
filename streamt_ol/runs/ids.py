"""Run ids: fresh ones, and those that a trace already has."""

from __future__ import annotations

import uuid

from streamt_ol.problems import INVALID, StreamtOlError

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


def _number(digits: object) -> int:
    if isinstance(digits, int):
        return digits
    if not isinstance(digits, str):
        return -1
    try:
        return int.from_bytes(bytes.fromhex(digits)) if len(digits) == _TRACE_BITS // 4 else -1
    except ValueError:
        return -1
