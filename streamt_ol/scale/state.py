"""The stream state of a split, divided over partitions by key, and joined again in a merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from streamt_ol.scale.pieces import decoded, encoded
from streamt_ol.validation.stream.facts import Moment
from streamt_ol.validation.stream.state import StreamState

if TYPE_CHECKING:
    from collections.abc import Iterator

_RUN_KEY = 16  # bytes of a UUID
_CHECKSUM_BITS = 32


class Share(msgspec.Struct, array_like=True, omit_defaults=True):
    """The share of one split in one partition; 128-bit keys are written as bytes."""

    runs: dict[bytes, bytes]
    more_runs: dict[bytes, dict[int, bytes]]
    more_moments: list[tuple[bytes, int, str, list[Moment]]]
    inputs: dict[bytes, bytes]
    more_inputs: dict[bytes, dict[int, int]]
    half_known: list[tuple[bytes, str]]
    statics: dict[bytes, bytes]
    more_statics: dict[bytes, list[bytes]]
    types: dict[int, bytes]
    more_types: dict[int, dict[str, int]]
    first: dict[bytes, int]
    last: dict[bytes, int]
    window_start: int | None


def shares(state: StreamState, count: int) -> Iterator[bytes]:
    """Yield the share of each of ``count`` partitions in ``state``, as bytes."""
    start = state.window.start
    made = [Share({}, {}, [], {}, {}, [], {}, {}, {}, {}, {}, {}, start) for _ in range(count)]
    _divide_runs(state, made)
    _divide_identities(state, made)
    return map(encoded, made)


def _divide_runs(state: StreamState, made: list[Share]) -> None:
    count, window = len(made), state.window
    for run, packed in state.runs.items():
        made[run % count].runs[_bytes(run)] = packed
    for run, others in state.more_runs.items():
        made[run % count].more_runs[_bytes(run)] = others
    for (run, job, part), moments in state.more_moments.items():
        made[run % count].more_moments.append((_bytes(run), job, part, moments))
    for run, packed in state.inputs.items():
        made[run % count].inputs[_bytes(run)] = packed
    for run, inputs in state.more_inputs.items():
        made[run % count].more_inputs[_bytes(run)] = inputs
    for run, part in state.half_known:
        made[run % count].half_known.append((_bytes(run), part))
    for key, position in window.first.items():
        made[(key >> _CHECKSUM_BITS) % count].first[_long(key)] = position
    for key, position in window.last.items():
        made[(key >> _CHECKSUM_BITS) % count].last[_long(key)] = position


def _divide_identities(state: StreamState, made: list[Share]) -> None:
    count = len(made)
    for static, version in state.statics.items():
        made[_of_static(static, count)].statics[static] = version
    for static, versions in state.more_statics.items():
        made[_of_static(static, count)].more_statics[static] = versions
    for job, packed in state.types.items():
        made[job % count].types[job] = packed
    for job, types in state.more_types.items():
        made[job % count].more_types[job] = types


def state_of(share: bytes, shift: int) -> StreamState:
    """Return the state that ``share`` holds; its window counts from ``shift`` positions on."""
    found = decoded(share, Share)
    state = StreamState()
    state.runs = {_int(run): packed for run, packed in found.runs.items()}
    state.more_runs = {_int(run): others for run, others in found.more_runs.items()}
    state.more_moments = {
        (_int(run), job, part): moments for run, job, part, moments in found.more_moments
    }
    state.inputs = {_int(run): packed for run, packed in found.inputs.items()}
    state.more_inputs = {_int(run): inputs for run, inputs in found.more_inputs.items()}
    state.half_known = {(_int(run), part) for run, part in found.half_known}
    state.statics, state.more_statics = found.statics, found.more_statics
    state.types, state.more_types = found.types, found.more_types
    if found.window_start is not None:
        window = state.window
        window.start = found.window_start + shift
        window.first = {_int(key): at + shift for key, at in found.first.items()}
        window.last = {_int(key): at + shift for key, at in found.last.items()}
    return state


def _of_static(key: bytes, count: int) -> int:
    return int.from_bytes(key[:8]) % count


def _bytes(run: int) -> bytes:
    return run.to_bytes(_RUN_KEY)


def _long(key: int) -> bytes:
    return key.to_bytes(_RUN_KEY + 4)


def _int(key: bytes) -> int:
    return int.from_bytes(key)
