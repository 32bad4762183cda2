"""Explanations of parts of events, each made once for all parts with the same faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from streamt_ol.validation.caching import remembering
from streamt_ol.validation.explain.local import schema_url
from streamt_ol.validation.explain.wording import kind_of_value
from streamt_ol.validation.findings import Finding

TEXT, BLANK, NUMBER = "no text", " ", 7  # what stands for a text, a blank one, a number


class Explanation(NamedTuple):
    """Findings about a part, whose pointers begin there; their rules, and their severities."""

    findings: tuple[Finding, ...]
    rules: tuple[str, ...]
    severities: frozenset[str]


class Said(NamedTuple):
    """An explanation of parts of one event, each with its pointer and its values.

    The values are those at the ``pointers`` of findings, which quote what stands for them.
    """

    explanation: Explanation
    pointers: Sequence[str] = ()
    parts: Sequence[tuple[str, Sequence[Any]]] = (("", ()),)

    @property
    def rules(self) -> Sequence[str]:
        """The rule of each finding."""
        return self.explanation.rules * len(self.parts)

    @property
    def severities(self) -> frozenset[str]:
        """The severities of the findings."""
        return self.explanation.severities

    def findings(self) -> Iterator[Finding]:
        """Yield the findings."""
        for within, values in self.parts:
            at = dict(zip(self.pointers, values, strict=True))
            for one in self.explanation.findings:
                message = _quoting(one.message, at.get(one.pointer))
                yield one._replace(pointer=within + one.pointer, message=message)


def explanation(findings: Sequence[Finding]) -> Explanation:
    """Return ``findings`` about a part as an explanation of all that have its faults."""
    rules = tuple(one.rule for one in findings)
    return Explanation(tuple(findings), rules, frozenset(one.severity for one in findings))


def stand_in(value: str | float) -> str | int:
    """Return what stands for a wrong text or number."""
    if not isinstance(value, str):
        return NUMBER
    return TEXT if value.strip() else BLANK


def _quoting(message: str, value: Any) -> str:
    """Return a message with ``value`` in the place of what stands for it."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return message
    return message.replace(kind_of_value(stand_in(value)), kind_of_value(value))


@remembering(1024)
def said_of_url(kind: str, url: str) -> tuple[Said, ...]:
    """Return what is said of the ``schemaURL`` of an event of ``kind``, if anything."""
    found = [*schema_url(kind, {"schemaURL": url})]
    return (Said(explanation(found)),) if found else ()
