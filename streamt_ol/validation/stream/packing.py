"""Versions of identities, processing types and inputs in few bytes, with 48-bit positions."""

from __future__ import annotations

import struct

STATIC = struct.Struct("<IIHB")  # checksum, position (48 bits), whether it is a dataset's
_TYPE = struct.Struct("<IH")  # position, before the type itself
_INPUTS = struct.Struct("<IIH")  # checksum of the inputs, position
TYPE_AT = _TYPE.size  # where the processing type starts


def static_position(version: bytes) -> int:
    """Return the position of a packed version of a static identity."""
    _, low, high, _ = STATIC.unpack(version)
    return int(low | high << 32)


def is_dataset(version: bytes) -> bool:
    """Tell whether a packed version is a dataset's; otherwise it is a job's."""
    return version[-1] == 1


def job_type(data: bytes) -> tuple[str, int]:
    """Return the processing type and the position that ``data`` packs."""
    low, high = _TYPE.unpack_from(data)
    return data[_TYPE.size :].decode(), low | high << 32


def packed_type(name: str, position: int) -> bytes:
    """Return what ``job_type`` reads."""
    return _TYPE.pack(position & 0xFFFFFFFF, position >> 32) + name.encode(errors="replace")


def run_inputs(data: bytes) -> tuple[int, int]:
    """Return the checksum of inputs and the position that ``data`` packs."""
    checksum, low, high = _INPUTS.unpack(data)
    return checksum, low | high << 32


def packed_inputs(checksum: int, position: int) -> bytes:
    """Return what ``run_inputs`` reads."""
    return _INPUTS.pack(checksum, position & 0xFFFFFFFF, position >> 32)
