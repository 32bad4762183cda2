"""Findings of a check: values, never exceptions."""

from __future__ import annotations

from typing import NamedTuple

ERROR = "error"
WARNING = "warning"
NOTE = "note"
SEVERITIES = (ERROR, WARNING, NOTE)


class Finding(NamedTuple):
    """A rule that an event breaks.

    ``rule`` is an id of ``streamt_ol.validation.rules``, ``severity`` one of ``SEVERITIES``,
    ``pointer`` an RFC 6901 JSON pointer into the event (empty: the event itself), and
    ``message`` is already safe to show.
    """

    rule: str
    severity: str
    pointer: str
    message: str


class LocatedFinding(NamedTuple):
    """A finding about the event at ``position`` of the input, ``line`` lines below its start.

    ``earlier`` is the position of an earlier event that the message ends with, -1 for none.
    """

    position: int
    finding: Finding
    line: int = 0
    earlier: int = -1
