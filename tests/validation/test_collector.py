"""A report of many findings keeps the gravest, then the first by location, in any order."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from streamt_ol.reading.sources import Origin
from streamt_ol.validation.findings import SEVERITIES, Finding, LocatedFinding
from streamt_ol.validation.report.collector import Collector


@pytest.mark.parametrize("limit", [0, 1, 5, 100])
@pytest.mark.parametrize("seed", range(3))
def test_the_gravest_and_first_are_kept_however_they_come(limit: int, seed: int) -> None:
    random = Random(seed)
    found = [
        LocatedFinding(position, Finding("OL-R011", random.choice(SEVERITIES), "", ""))
        for position in range(5_000)
    ]
    if seed:
        random.shuffle(found)
    collector = Collector(limit, lambda position: 0, strict=False)
    for start in range(0, len(found), 700):
        collector.add(found[start : start + 700])
    report = collector.report(("a",), lambda position: Origin("a", position, ""))
    gravest = sorted(found, key=lambda one: (SEVERITIES.index(one.finding.severity), one.position))
    assert [one.line for one in report.problems] == sorted(one.position for one in gravest[:limit])
    assert report.severities == Counter(one.finding.severity for one in found)
