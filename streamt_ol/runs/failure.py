"""What a FAIL event may say about the failure: redacted, bounded, never blank.

Implements "Failure facet" of the specification.
"""

from __future__ import annotations

from streamt_ol.redaction import redact

MAX_CODE_POINTS = 4096
GENERIC = "The run failed; no message can be shown."
_LOOKED_AT = 4 * MAX_CODE_POINTS


def failure_message(text: str) -> str:
    """Return ``text`` for an ``errorMessage`` facet: at most 4096 Unicode code points.

    Credentials are replaced by ``***`` before anything is cut. Of a very long text only the
    beginning is looked at, up to the end of a word, so that no half of a credential is left. A
    lone surrogate, which has no UTF-8 form, becomes ``?``.
    """
    looked_at = text[:_LOOKED_AT]
    if len(text) > _LOOKED_AT:
        looked_at = looked_at[: -len(looked_at.split()[-1])] if looked_at.split() else ""
    message = redact(looked_at).encode(errors="replace").decode().strip()
    return message[:MAX_CODE_POINTS].strip() or GENERIC


def exception_message(error: BaseException) -> str:
    """Return the failure message of an exception: its own text, without class or stack trace."""
    try:
        return failure_message(str(error))
    except BaseException:  # noqa: BLE001 - the __str__ of a foreign exception may fail in any way
        return GENERIC
