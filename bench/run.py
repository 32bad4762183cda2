"""Benchmarks: ``python bench/run.py [PART ...]`` prints ratios from one run on this machine.

Each part of the product has a module here, with a function that measures it and returns ratios.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import archive
import export
import lineage
import project
import runs
import send
import validate
from measure import Ratio, say

PARTS: dict[str, Callable[[Path], list[Ratio]]] = {
    "export": export.run,
    "validate": validate.run,
    "project": project.run,
    "send": send.run,
    "runs": runs.run,
    "lineage": lineage.run,
    "archive": archive.run,
}


def main(names: list[str]) -> int:
    """Run the parts ``names``, or all, and print their ratios."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="streamt-ol-bench-") as folder:
        ratios = [ratio for name in names or PARTS for ratio in PARTS[name](Path(folder))]
    say("\nRatios")
    for ratio in ratios:
        verdict = "met" if ratio.value <= ratio.aim else "missed"
        say(f"  {ratio.name:<54} {ratio.value:6.2f} x   aim {ratio.aim:4.2f} x   {verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
