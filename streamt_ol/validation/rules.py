"""The table of rules: a stable id, a severity, one line, and the passage that it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from streamt_ol.openlineage.facets import JOB, by_place
from streamt_ol.openlineage.release import CORE_VERSION
from streamt_ol.reading.faults import Fault, FaultKind
from streamt_ol.validation.findings import ERROR, NOTE, WARNING, Finding

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function")


class Rule(NamedTuple):
    """A row of the table."""

    severity: str
    title: str
    passage: str


_CORE = f"OpenLineage.json {CORE_VERSION}"
_JOB_TYPE = f"JobTypeJobFacet {by_place()[JOB]['jobType'].version}"
_BOUNDARY = "specification, Offline validation boundary"
_LIFECYCLE = f"OpenLineage run cycle; {_CORE}, RunEvent.eventType"

RULES: dict[str, Rule] = {
    "OL-R001": Rule(ERROR, "the text is UTF-8", "RFC 8259, section 8.1"),
    "OL-R002": Rule(ERROR, "each line is one JSON value", "RFC 8259, section 2"),
    "OL-R003": Rule(ERROR, "no key of an object is duplicated", "RFC 8259, section 4"),
    "OL-R004": Rule(ERROR, "nesting is at most 1,000 deep", "RFC 8259, section 9"),
    "OL-R005": Rule(
        WARNING, "numbers fit 64-bit integers or finite doubles", "RFC 8259, section 6"
    ),
    "OL-R006": Rule(ERROR, "strings hold no lone surrogate", "RFC 8259, section 8.2"),
    "OL-R007": Rule(ERROR, "a line is at most --max-line-bytes long", "streamt-ol's own limit"),
    "OL-R008": Rule(ERROR, "an event is a JSON object", _CORE),
    "OL-R009": Rule(NOTE, "the input holds events", "JSON Lines: an empty file is valid"),
    "OL-R010": Rule(ERROR, "an event is of exactly one kind", f"{_CORE}, oneOf"),
    "OL-R011": Rule(ERROR, "an event meets the core schema of its kind", _CORE),
    "OL-R012": Rule(ERROR, "names and namespaces are not blank", _BOUNDARY),
    "OL-R013": Rule(ERROR, "times are RFC 3339 with a zone", "RFC 3339, section 5.6"),
    "OL-R014": Rule(ERROR, "producer and URL fields are URIs", "RFC 3986, appendix A"),
    "OL-R015": Rule(ERROR, "run ids are UUIDs in canonical form", "RFC 9562, section 4"),
    "OL-R016": Rule(ERROR, "schemaURL names the core schema and the event's kind", _BOUNDARY),
    "OL-R017": Rule(NOTE, "schemaURL names the pinned version of the core", f"{_CORE}, $id"),
    "OL-R018": Rule(WARNING, "schemaURL has a fragment", f"{_CORE}, BaseEvent.schemaURL"),
    "OL-R019": Rule(WARNING, "a RunEvent has an eventType", f"{_CORE}, RunEvent.eventType"),
    "OL-R020": Rule(WARNING, "static events have neither run nor eventType", _BOUNDARY),
    "OL-R021": Rule(ERROR, "a standard facet meets its pinned schema", _BOUNDARY),
    "OL-R022": Rule(
        WARNING,
        "a standard facet of another version meets the pinned schema",
        "OpenLineage, facet versions",
    ),
    "OL-R023": Rule(ERROR, "a facet is a base facet of its place", f"{_CORE}, BaseFacet"),
    "OL-R024": Rule(
        WARNING,
        "a standard facet names its own schema",
        "specification, Producer and schema URLs",
    ),
    "OL-R026": Rule(ERROR, "no dataset is duplicated among inputs or outputs", _BOUNDARY),
    "OL-R027": Rule(ERROR, "no schema field name is duplicated in a container", _BOUNDARY),
    "OL-R030": Rule(ERROR, "a run id belongs to one job", _BOUNDARY),
    "OL-R031": Rule(ERROR, "a run has at most one START", _LIFECYCLE),
    "OL-R032": Rule(ERROR, "a run has at most one terminal event", _LIFECYCLE),
    "OL-R033": Rule(ERROR, "no START after the terminal event", _LIFECYCLE),
    "OL-R034": Rule(ERROR, "no RUNNING after the terminal event", _LIFECYCLE),
    "OL-R035": Rule(NOTE, "no event is repeated to the byte", "at-least-once delivery"),
    "OL-R036": Rule(WARNING, "a finite run has its START in the input", _LIFECYCLE),
    "OL-R037": Rule(WARNING, "a finite run has its end in the input", _LIFECYCLE),
    "OL-R038": Rule(WARNING, "a job keeps its processing type", f"{_JOB_TYPE}, processingType"),
    "OL-R039": Rule(ERROR, "a static identity is described once per event time", _BOUNDARY),
    "OL-R049": Rule(
        ERROR,
        "inputs of generated events are in order",
        "specification, Direct inputs and outputs",
    ),
    "OL-R050": Rule(ERROR, "generated objects have only permitted fields", _BOUNDARY),
    "OL-R051": Rule(
        ERROR, "generated events have the exact URLs", "specification, Producer and schema URLs"
    ),
    "OL-R052": Rule(
        ERROR, "generated events have exactly their facets", "specification, Dataset facet mapping"
    ),
    "OL-R053": Rule(
        ERROR,
        "generated facets have the exact _schemaURL",
        "specification, Producer and schema URLs",
    ),
    "OL-R054": Rule(
        ERROR, "generated facets have the values specified", "specification, Dataset facet mapping"
    ),
    "OL-R055": Rule(
        ERROR, "generated datasets stand in kafka:// namespaces", "specification, Dataset identity"
    ),
    "OL-R056": Rule(
        ERROR, "generated jobs are named as specified", "specification, Stable job identity"
    ),
    "OL-R057": Rule(
        ERROR, "generated event times are UTC", "specification, Event time, run IDs, determinism"
    ),
    "OL-R058": Rule(ERROR, "generated runs are complete BATCH runs", _BOUNDARY),
    "OL-R059": Rule(
        ERROR, "no dataset is input and output", "specification, Direct inputs and outputs"
    ),
    "OL-R060": Rule(ERROR, "compressed input is whole", "RFC 1952; RFC 8878"),
    "OL-R061": Rule(ERROR, "an input can be read", "streamt-ol, E501_PARSE_ERROR"),
}


# The rule that each kind of fault of an input breaks.
_FAULTS = {
    FaultKind.ENCODING: "OL-R001",
    FaultKind.SYNTAX: "OL-R002",
    FaultKind.DUPLICATE_KEY: "OL-R003",
    FaultKind.DEPTH: "OL-R004",
    FaultKind.NUMBER: "OL-R005",
    FaultKind.SURROGATE: "OL-R006",
    FaultKind.LENGTH: "OL-R007",
    FaultKind.DAMAGED: "OL-R060",
    FaultKind.UNREADABLE: "OL-R061",
}


def registered(functions: dict[str, Function], *rules: str) -> Callable[[Function], Function]:
    """Return a decorator that enters a function into ``functions`` under the ids of its rules."""

    def register(function: Function) -> Function:
        functions.update(dict.fromkeys(rules, function))
        return function

    return register


def fault_finding(fault: Fault) -> Finding:
    """Return the finding of the rule that a fault of the input breaks."""
    return finding(_FAULTS[fault.kind], fault.pointer, fault.message)


def finding(rule: str, pointer: str, message: str) -> Finding:
    """Return a finding of ``rule`` with the severity that the table gives it."""
    return Finding(rule, RULES[rule].severity, pointer, message)
