"""The stream state of a split, divided over partitions by key, and joined again in a merge."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from streamt_ol.scale.pieces import decoded, encoded
from streamt_ol.validation.stream.state import StreamState

if TYPE_CHECKING:
    from collections.abc import Iterable

_RUN_KEY = 16  # bytes of a UUID
_JOB_KEY = 8
_STATIC_KEY = 15
_CHECKSUM_BITS = 32


class Share(msgspec.Struct, array_like=True):
    """The share of one piece of state in one partition; 128-bit keys are written as bytes."""

    runs: dict[bytes, bytes] = {}
    more_runs: dict[bytes, dict[int, bytes]] = {}
    more_moments: dict[bytes, bytes] = {}
    inputs: dict[bytes, bytes] = {}
    more_inputs: dict[bytes, dict[int, int]] = {}
    half_known: list[bytes] = []
    statics: dict[bytes, bytes] = {}
    more_statics: dict[bytes, bytes] = {}
    types: dict[int, bytes] = {}
    more_types: dict[int, dict[str, int]] = {}
    first: dict[bytes, int] = {}
    last: dict[bytes, int] = {}
    window_start: int | None = None


def shares(state: StreamState, count: int) -> list[bytes]:
    """Return the share of each of ``count`` partitions in ``state``: no byte where it has none."""
    made = _Shares(count)
    _divide_runs(state, made)
    _divide_identities(state, made)
    start = state.window.start
    for share in made.values():
        share.window_start = start
    return [encoded(made[at]) if at in made else b"" for at in range(count)]


class _Shares(dict[int, Share]):
    """The shares that are not empty, by the numbers of their partitions."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def of(self, key: bytes) -> Share:
        """Return the share that ``key`` belongs to; keys that count up are spread, too."""
        return self[crc32(key) % self._count]

    def __missing__(self, number: int) -> Share:
        share = self[number] = Share()
        return share


def _divide_runs(state: StreamState, made: _Shares) -> None:
    for run, packed in state.runs.items():
        made.of(key := _bytes(run)).runs[key] = packed
    for run, others in state.more_runs.items():
        made.of(key := _bytes(run)).more_runs[key] = others
    for further, moment in state.more_moments.items():
        made.of(further[:_RUN_KEY]).more_moments[further] = moment
    for run, packed in state.inputs.items():
        made.of(key := _bytes(run)).inputs[key] = packed
    for run, inputs in state.more_inputs.items():
        made.of(key := _bytes(run)).more_inputs[key] = inputs
    for part in state.half_known:
        made.of(_bytes(part >> 1)).half_known.append(_long(part))
    window = state.window
    for seen, position in window.first.items():
        made.of(_bytes(seen >> _CHECKSUM_BITS)).first[_long(seen)] = position
    for seen, position in window.last.items():
        made.of(_bytes(seen >> _CHECKSUM_BITS)).last[_long(seen)] = position


def _divide_identities(state: StreamState, made: _Shares) -> None:
    for static, version in state.statics.items():
        made.of(static).statics[static] = version
    for further, version in state.more_statics.items():
        made.of(further[:_STATIC_KEY]).more_statics[further] = version
    for job, packed in state.types.items():
        made.of(job.to_bytes(_JOB_KEY)).types[job] = packed
    for job, types in state.more_types.items():
        made.of(job.to_bytes(_JOB_KEY)).more_types[job] = types


def state_of(given: Iterable[bytes], shift: int) -> StreamState:
    """Return the state that the shares of one piece hold; its window counts from ``shift`` on."""
    state = StreamState()
    window = state.window
    for data in given:
        share = decoded(data, Share)
        _take_runs(state, share)
        state.statics |= share.statics
        state.more_statics |= share.more_statics
        state.types |= share.types
        state.more_types |= share.more_types
        if share.window_start is not None:
            window.start = share.window_start + shift
            window.first |= {_int(key): at + shift for key, at in share.first.items()}
            window.last |= {_int(key): at + shift for key, at in share.last.items()}
    return state


def _take_runs(state: StreamState, share: Share) -> None:
    state.runs.update(zip(map(_int, share.runs), share.runs.values(), strict=True))
    state.more_runs.update(zip(map(_int, share.more_runs), share.more_runs.values(), strict=True))
    state.more_moments |= share.more_moments
    state.inputs.update(zip(map(_int, share.inputs), share.inputs.values(), strict=True))
    more_inputs = share.more_inputs
    state.more_inputs.update(zip(map(_int, more_inputs), more_inputs.values(), strict=True))
    state.half_known.update(map(_int, share.half_known))


def _bytes(run: int) -> bytes:
    return run.to_bytes(_RUN_KEY)


def _long(key: int) -> bytes:
    return key.to_bytes(_RUN_KEY + 4)


def _int(key: bytes) -> int:
    return int.from_bytes(key)
