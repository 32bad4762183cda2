"""The report of an archive in splits is the report of one process, to the byte, in every format."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from support.archives import write_archive

from streamt_ol.reading import blocks
from streamt_ol.reading.opening import openers
from streamt_ol.scale import check, finish, groups, plan, ranges
from streamt_ol.scale.options import ScaleOptions
from streamt_ol.scale.run import validate as validate_in_splits
from streamt_ol.validation.options import Options, Settings
from streamt_ol.validation.report import REPORTERS, reporter
from streamt_ol.validation.run import validate
from streamt_ol.validation.stream import identities

if TYPE_CHECKING:
    from streamt_ol.validation.report.collector import Report


def in_every_format(report: Report) -> dict[str, bytes]:
    return {name: b"".join(reporter(name)(report, False)) for name in REPORTERS}


def quiet(size: int, events: int) -> None:
    """Say nothing of progress."""


def test_a_directory_that_was_removed_is_that_of_another_run(tmp_path: Path) -> None:
    """A worker of Spark checks splits of many runs."""
    work = tmp_path / "work"
    options = Options(Settings(1 << 20, frozenset()), 100, False)
    for seed in range(3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        names = write_archive(folder, Random(seed), files=2, events=20)
        scale = ScaleOptions("local", 1, work_dir=str(work), split_bytes=2000)
        found = validate_in_splits(names, options, scale, quiet)
        assert in_every_format(found) == in_every_format(validate(openers(names), options, quiet))
        shutil.rmtree(work)


@pytest.mark.parametrize("seed", range(60))
def test_splits_and_partitions_change_nothing(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    # As if the archive were large: many partitions, some merged together, and states in parts.
    monkeypatch.setattr(plan, "_PARTITION_BYTES", random.choice([40, 1 << 20]))
    monkeypatch.setattr(groups, "GROUP_BYTES", random.choice([1, 100, 1 << 20]))
    monkeypatch.setattr(check, "_PART_ENTRIES", random.choice([0, 3, 1 << 20]))
    named = random.choice([1, 7, 20_000])
    for module in (check, finish, identities):
        monkeypatch.setattr(module, "NAMED", named)
    for module in (blocks, ranges):
        monkeypatch.setattr(module, "BLOCK", random.choice([500, 1 << 20]))
    names = write_archive(tmp_path, random, files=4, events=20)
    size = sum(Path(name).stat().st_size for name in names if Path(name).exists())
    shown = random.choice([0, 3, 100, 10_000])
    settings = Settings(random.choice([250, 1 << 20]), frozenset(random.choice([(), ("OL-R036",)])))
    options = Options(settings, shown, random.random() < 0.3)
    alone = validate(openers(names), options, quiet)
    scale = ScaleOptions(
        "local",
        1,
        split_bytes=size // random.choice([1, 3, 20, 100]) + random.randint(1, 9),
        partitions=random.choice([None, 1, 2, 7]),
    )
    found = validate_in_splits(names, options, scale, quiet)
    assert alone.found
    assert in_every_format(found) == in_every_format(alone)
