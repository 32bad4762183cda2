"""The folders of cases: dropping a file into one adds a test.

A file's name says what is to be found in it: ``OL-R012+OL-R019__what-it-is.jsonl`` holds
exactly these rules, ``what-it-is.jsonl`` none. Files in ``positive`` are valid (they may have
warnings and notes), files in ``negative`` are not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from streamt_ol.reading import opening
from streamt_ol.validation.options import Options, Settings
from streamt_ol.validation.rules import RULES
from streamt_ol.validation.run import validate

CASES = Path(__file__).parents[1] / "validation" / "cases"
FILES = sorted(path.relative_to(CASES).as_posix() for path in CASES.glob("*/*"))


def expected(name: str) -> set[str]:
    rules, marker, _ = Path(name).name.partition("__")
    return set(rules.split("+")) if marker else set()


@pytest.mark.parametrize("name", FILES)
def test_a_case_has_exactly_the_findings_that_its_name_says(name: str) -> None:
    inputs = opening.openers([str(CASES / name)])
    options = Options(Settings(1 << 20), max_problems=100, strict=False)
    report = validate(inputs, options, lambda size, events: None)
    assert set(report.rules) == expected(name), report.problems
    assert report.valid == name.startswith("positive/")


def test_there_are_cases_for_every_rule() -> None:
    assert len(FILES) >= 150
    # A limit given on the command line breaks one, a file that cannot be read the other.
    assert set(RULES) - set().union(*map(expected, FILES)) == {"OL-R007", "OL-R061"}
