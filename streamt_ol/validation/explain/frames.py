"""The frame of an event that may break its schema: whatever stands in the place of a known field.

A frame of ``streamt_ol.validation.accept.frames`` has the same members.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field
from msgspec.json import Decoder

# A larger integer is a fault of its own.
_Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Scalar = str | _Integer | float | bool | UnsetType | None
_Value = _Scalar | list[Raw] | dict[str, Raw]


class Run(Struct, gc=False):
    """The run of a RunEvent."""

    run_id: _Value = field(default=UNSET, name="runId")
    facets: Raw | UnsetType = UNSET


class Entity(Struct, gc=False):
    """A job, or the dataset of a DatasetEvent."""

    namespace: _Value = UNSET
    name: _Value = UNSET
    facets: Raw | UnsetType = UNSET


class Input(Entity, gc=False):
    """An element of ``inputs``."""

    more: Raw | UnsetType = field(default=UNSET, name="inputFacets")


class Output(Entity, gc=False):
    """An element of ``outputs``."""

    more: Raw | UnsetType = field(default=UNSET, name="outputFacets")


class Event(Struct, gc=False, rename="camel"):
    """An event of any kind."""

    event_time: _Value = UNSET
    producer: _Value = UNSET
    schema_url: _Value = field(default=UNSET, name="schemaURL")
    event_type: _Value = UNSET
    run: Run | _Scalar | list[Raw] = UNSET
    job: Entity | _Scalar | list[Raw] = UNSET
    dataset: Entity | _Scalar | list[Raw] = UNSET
    inputs: list[Input | _Scalar | list[Raw]] | _Scalar | dict[str, Raw] = UNSET
    outputs: list[Output | _Scalar | list[Raw]] | _Scalar | dict[str, Raw] = UNSET


decode = Decoder(Event).decode
