"""The page of benchmarks: its rows and aims are those that `bench/` defines, its verdicts true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
BASE = ", 07fe00c"


class Line(NamedTuple):
    """A row of a table: what is measured, the aim, the figures by their columns, the verdict."""

    table: str
    what: str
    aim: str
    figures: dict[str, str]
    verdict: str


def lines(text: str) -> list[Line]:
    found: list[Line] = []
    title, heads = "", list[str]()
    for line in text.splitlines():
        if line.startswith("### "):
            title, heads = line, []
        elif line.startswith("|"):
            what, *figures, aim, verdict = (cell.strip() for cell in line.strip("|").split("|"))
            if not heads:
                heads = figures
            elif not what.startswith("---"):
                by_head = dict(zip(heads, figures, strict=True))
                found.append(Line(title, what, aim, by_head, verdict))
    return found


def test_the_rows_and_aims_are_those_of_the_benchmarks() -> None:
    """Each part's tables in full, in their order; the figures are from a run."""
    command = [sys.executable, "bench/run.py", "--rows"]
    defined = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rows = [(line.table, line.what, line.aim) for line in lines(defined)]
    blocks = re.findall(r"<!-- bench: (\w+) -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    shown = [
        (line.table, line.what, line.aim)
        for name, block in blocks
        if name != "machine"
        for line in lines(block)
    ]
    assert len(set(rows)) == len(rows) > 40
    assert sorted(shown) == sorted(rows)
    columns = {
        line.table: [head for head in line.figures if BASE not in head] for line in lines(PAGE)
    }
    assert columns == {line.table: [*line.figures] for line in lines(defined)}


def value(figure: str) -> float:
    return float(figure.split(maxsplit=1)[0].replace(",", ""))


@pytest.mark.parametrize("line", lines(PAGE), ids=lambda line: line.what)
def test_the_verdict_is_that_of_the_figures(line: Line) -> None:
    """An aim is held against the first figure of this commit."""
    first = next(head for head in line.figures if BASE not in head)
    if line.verdict == "not measured" or not line.aim:
        assert line.verdict in ("", "not measured")
        return
    now = value(line.figures[first])
    match line.aim.split():
        case ["≤", limit]:
            met = now <= float(limit)
        case ["≥", limit]:
            met = now >= float(limit)
        case _:
            assert line.aim == "not slower"
            met = now <= value(line.figures[f"{first}{BASE}"])
    assert line.verdict == ("met" if met else "missed")
