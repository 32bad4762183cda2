"""The memory of the steps stays bounded whatever an archive holds: measured in real processes."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.commands import PROGRAM, clean_environment

from streamt_ol.openlineage.events import DATASET_EVENT, JOB_EVENT, RUN_EVENT
from streamt_ol.reading.expansion import expanded
from streamt_ol.scale.blobs import joined
from streamt_ol.scale.groups import GROUP_BYTES, grouped, groups_of
from streamt_ol.scale.pieces import Across, Group, KeySet, Name, encoded, state_piece
from streamt_ol.scale.plan import Plan, Split, partitions_for, plan_inputs
from streamt_ol.scale.state import shares
from streamt_ol.scale.work_dir import WorkDir
from streamt_ol.validation.stream.rules import continuous_jobs
from streamt_ol.validation.stream.state import StreamState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIMIT = 256 << 20
PARTS = 4
# A process that merges some groups and then says what memory it took at the most.
MERGE = """
import sys
from streamt_ol.scale import tasks
from streamt_ol.scale.pieces import Outcome, decoded, encoded
for number in range(int(sys.argv[2])):
    done = tasks.merge(encoded(tasks.Item(sys.argv[1], number)))
    assert decoded(done, Outcome).error is None
"""
# A process of its own starts the command: a child's peak counts from what its parent held.
PEAK = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10)
"""
_SPREAD = 0x9E3779B97F4A7C15F39CC0605CEDC835
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
TIME = "2026-01-31T00:00:00Z"
Event = tuple[str, dict[str, object]]


def run(number: int, job: str = "b", **more: object) -> Event:
    """Return a RunEvent whose run id looks like a random one, always the same for a number."""
    digits = f"{number * _SPREAD % (1 << 128):032x}"
    run_id = "-".join((digits[:8], digits[8:12], "4000", "8000", digits[20:]))
    identity = {"namespace": "a", "name": job}
    return RUN_EVENT, {"eventTime": TIME, "run": {"runId": run_id}, "job": identity, **more}


def typed(number: int, processing_type: str) -> Event:
    facets = {"jobType": {"processingType": processing_type}}
    job = {"namespace": "a", "name": str(number), "facets": facets}
    return JOB_EVENT, {"eventTime": TIME, "job": job}


def dataset(name: str, **more: object) -> Event:
    return DATASET_EVENT, {"eventTime": TIME, "dataset": {"namespace": "a", "name": name}, **more}


LONG = "n" * 190
KINDS: dict[str, Callable[[int], Event]] = {
    "a START of each run": lambda n: run(n, eventType="START"),
    "a START and an end of each run": lambda n: run(n // 2, eventType=("START", "FAIL")[n % 2]),
    "only a RUNNING of each run": lambda n: run(n, eventType="RUNNING"),
    "two STARTs of each run": lambda n: run(n // 2, eventType="START", producer=str(n)),
    "two jobs of each run": lambda n: run(n // 2, str(n), eventType="START"),
    "one run": lambda n: run(0, eventType="START", producer=str(n)),
    "one run of all jobs": lambda n: run(0, str(n), eventType="START"),
    "long names": lambda n: run(n, LONG + str(n), eventType="START", producer=LONG),
    "datasets": lambda n: dataset(str(n)),
    "one dataset": lambda n: dataset("b", producer=str(n)),
    "streams": lambda n: typed(n, "STREAMING"),
    "four types of each job": lambda n: typed(n // 4, str(n)),
    "half known": lambda n: (RUN_EVENT, {**run(n, eventType="START")[1], "eventTime": None}),
}


def peak_of(command: list[str]) -> tuple[int, int]:
    """Return the exit status of a command, and the bytes of memory it held at most."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *command],
        env=clean_environment(), capture_output=True, check=True,
    )  # fmt: skip
    status, peak = map(int, done.stdout.split())
    return status, peak


def state_of(kind: str, start: int, end: int) -> StreamState:
    """Return the state of the events ``[start, end)`` of a kind."""
    state = StreamState()
    for number in range(start, end):
        name, event = KINDS[kind](number)
        state.observe(name, event, b"%d" % number, number, trusted=False)
    return state


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_merge_stays_below_256_megabytes(kind: str, tmp_path: Path) -> None:
    work = WorkDir(str(tmp_path))
    plan = Plan("test", [], [Split(0, 0, 0, 0, True)], 40, False, 1 << 20, 100, False, [])
    work.claim(encoded(plan))
    names: list[Name] = [(n, f"'{LONG[:80]}' in '{LONG[:80]}'") for n in range(20_000)]
    # In all, a tenth more than fits into one merge.
    each = len(shares(state_of(kind, 0, 40_000), 1)[0]) / 40_000
    step = int(GROUP_BYTES * 1.1 / each) // PARTS
    for part in range(PARTS):
        state = state_of(kind, part * step, (part + 1) * step)
        work.write(state_piece(0, part), joined(shares(state, plan.partitions)))
    continuous = KeySet.packed(continuous_jobs(state))
    groups = groups_of(work, plan, [PARTS])
    across = Across(groups, [0], [PARTS], continuous, names)
    work.write("across", encoded(across))
    status, peak = peak_of([sys.executable, "-c", MERGE, str(tmp_path), str(len(groups))])
    assert status == 0
    # A process that checked splits before has up to 100 MB of its own.
    assert 60 << 20 < peak < LIMIT - (60 << 20)


@pytest.mark.slow
def test_one_compressed_file_of_any_size_stays_below_256_megabytes(tmp_path: Path) -> None:
    name = str(tmp_path / "a.jsonl.gz")
    event = run(0, eventType="START")[1] | {"producer": "a:", "schemaURL": SCHEMA}
    event["run"] = {"runId": "00000000-0000-4000-8000-%012x"}
    line = json.dumps(event).encode() + b"\n"
    with gzip.open(name, "wb", compresslevel=1) as file:
        for number in range(1_200_000):
            file.write(line % (number * _SPREAD % (1 << 48)))
    work = tmp_path / "work"
    command = [PROGRAM, "validate", name, "--work-dir", str(work), "--jobs", "1"]
    _, peak = peak_of(command)
    assert len(list(work.glob("state-0-*"))) > 3
    assert peak < LIMIT


def test_groups_hold_as_many_partitions_as_fit() -> None:
    third = GROUP_BYTES // 3
    ends = [third, 2 * third, 3 * third, 4 * third, 9 * third, 9 * third, 10 * third]
    assert grouped(ends) == [Group(0, 2), Group(3, 3), Group(4, 4), Group(5, 6)]
    assert grouped([0]) == [Group(0, 0)]
    assert grouped([0, 0, 0]) == [Group(0, 2)]


@pytest.mark.parametrize(
    "run_id", ["{:08x}-0000-4000-8000-000000000000", "00000000-0000-4000-8000-{:012x}"]
)
def test_run_ids_that_count_up_are_spread_over_the_partitions(run_id: str) -> None:
    state = StreamState()
    for number in range(6_400):
        event = run(0, eventType="START")[1] | {"run": {"runId": run_id.format(number)}}
        state.observe(RUN_EVENT, event, b"", number, trusted=True)
    sizes = [len(share) for share in shares(state, 64)]
    assert 0.7 * sum(sizes) / 64 < min(sizes) <= max(sizes) < 1.3 * sum(sizes) / 64


def test_partitions_follow_the_bytes_of_the_inputs(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    plain.write_bytes(b"{}\n" * 10)
    packed.write_bytes(gzip.compress(b"{}\n"))
    for size, count in (
        (0, 1),
        (32 << 20, 1),
        ((32 << 20) + 1, 2),
        (1 << 40, 32_768),
        (1 << 50, 65_536),
    ):
        inputs, splits = plan_inputs(expanded([str(plain)]), 1 << 20)
        assert partitions_for([inputs[0]], splits) == 1
        grown = [type(inputs[0])(inputs[0].name, inputs[0].source, size)]
        assert partitions_for(grown, splits) == count
        inputs, splits = plan_inputs(expanded([str(packed)]), 1 << 20)
        grown = [type(inputs[0])(inputs[0].name, inputs[0].source, size)]
        assert partitions_for(grown, splits) == min(max(1, -(-100 * size >> 25)), 65_536)
