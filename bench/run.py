"""Benchmarks: ``python bench/run.py [PART ...]`` prints tables from one run on this machine.

Each part of the product has a module here, which defines tables and fills them. What a part
printed last is kept in ``build/bench``. ``--page`` measures nothing and puts that on the page,
``--rows`` prints the tables without figures.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import archive
import base
import export
import lineage
import project
import runs
import send
import validate
from measure import say
from table import Filled, Table, markdown

_ROOT = Path(__file__).parents[1]
KEPT = _ROOT / "build" / "bench"
PAGE = _ROOT / "docs" / "benchmarks.md"


class Part(NamedTuple):
    """A part: its tables, in the order in which its function fills and yields them."""

    tables: Sequence[Table]
    run: Callable[[Path], Filled]


PARTS: dict[str, Part] = {
    "export": Part(export.TABLES, export.run),
    "validate": Part(validate.TABLES, validate.run),
    "project": Part(project.TABLES, project.run),
    "send": Part(send.TABLES, send.run),
    "runs": Part(runs.TABLES, runs.run),
    "lineage": Part(lineage.TABLES, lineage.run),
    "archive": Part(archive.TABLES, archive.run),
}


def main(names: list[str]) -> int:
    """Run the parts ``names``, or all; 1 where one failed, after the others."""
    if names == ["--page"]:
        PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
        return 0
    if names == ["--rows"]:
        print("\n\n".join(map(unmeasured, PARTS.values())))
        return 0
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        say(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
        return 2
    base.program()  # installed before anything is measured
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # set, each start would compile this program
    print(f"{machine()}\n", flush=True)
    failed = [name for name in names or PARTS if not _measure(name)]
    for name in failed:
        say(f"the part {name!r} failed")
    return 1 if failed else 0


def _measure(name: str) -> bool:
    """Run one part; print its tables as they come, keep them, return whether all went well."""
    say(f"{name}: measuring")
    started, busy = time.perf_counter(), sum(os.times()[2:4])
    texts: list[str] = []
    try:
        with tempfile.TemporaryDirectory(prefix="streamt-ol-bench-") as folder:
            for table, results in PARTS[name].run(Path(folder)):
                texts.append(markdown(table, results, base.program() and base.COMMIT))
                print(f"{texts[-1]}\n", flush=True)
    except (Exception, SystemExit):  # noqa: BLE001 - the other parts are measured all the same
        traceback.print_exc()
        return False
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{name}.md").write_text("\n\n".join([*texts, ""]), "utf-8")
    (KEPT / "machine.md").write_text(f"{machine()}\n", "utf-8")
    spent = sum(os.times()[2:4]) - busy
    say(f"{name}: {time.perf_counter() - started:.0f} s, {spent:.0f} s of CPU")
    return True


def machine() -> str:
    """Return what the figures were taken on."""
    system = f"{platform.system()} {platform.machine()}"
    return f"CPython {platform.python_version()}, {system}, {os.cpu_count()} cores."


def unmeasured(part: Part) -> str:
    """Return the tables of a part without figures."""
    return "\n\n".join(markdown(table, {}, None) for table in part.tables)


def page(text: str) -> str:
    """Return the page with what was kept of each part between the part's markers.

    Of a part of which nothing was kept stays what is there. Where rows are others than the part
    has now, they come without figures.
    """
    for name in ("machine", *PARTS):
        before, rest = text.split(f"<!-- bench: {name} -->\n", 1)
        block, after = rest.split("<!-- end -->", 1)
        kept = KEPT / f"{name}.md"
        found = (kept.read_text("utf-8") if kept.exists() else block).strip()
        if name in PARTS and _rows(found) != _rows(unmeasured(PARTS[name])):
            found = unmeasured(PARTS[name])
        text = f"{before}<!-- bench: {name} -->\n\n{found}\n\n<!-- end -->{after}"
    return text


def _rows(tables: str) -> list[tuple[str, str]]:
    """Return what is measured and the aim, of each row."""
    rows = (line.split("|") for line in tables.splitlines() if line.startswith("|"))
    return [(cells[1], cells[-3]) for cells in rows]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
