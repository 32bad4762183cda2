"""Tables of results in Markdown: what is measured, the aim, the base commit beside this one.

A part of the benchmarks defines its tables as data, measures, and yields each with its results;
the page in ``docs`` holds what ``run.py`` prints of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

CPU, WALL, MEMORY = "CPU", "wall", "memory"
MET, MISSED, NOT_MEASURED, UNKNOWN = "met", "missed", "not measured", ""


class Aim(NamedTuple):
    """The limit of a row's first figure: at most so much, or at least; or what it was before."""

    limit: float
    least: bool = False
    of_base: bool = False

    def __str__(self) -> str:
        if self.of_base:
            return "not slower"
        return f"{'≥' if self.least else '≤'} {self.limit:g}"

    def verdict(self, now: float, base: float | None) -> str:
        """Return whether a figure, rounded as it is printed, keeps within the limit."""
        if self.of_base:
            return UNKNOWN if base is None else self._kept(now, self.limit * base)
        return self._kept(now, self.limit)

    def _kept(self, value: float, limit: float) -> str:
        shown, limit = shown_value(value), shown_value(limit)
        return MET if (shown >= limit if self.least else shown <= limit) else MISSED


class Row(NamedTuple):
    """A line of a table: what is measured, its aim, the unit (none for a ratio)."""

    name: str
    aim: Aim | None = None
    unit: str = ""


class Result(NamedTuple):
    """The figures of a row, as many as its table has, now and at the base commit."""

    now: tuple[float, ...]
    base: tuple[float, ...] | None = None


class Table(NamedTuple):
    """Rows by a key that the measuring code uses, and what each figure of a row is."""

    title: str
    rows: Mapping[str, Row]
    figures: tuple[str, ...] = (CPU, WALL)
    note: str = ""


Results = Mapping[str, Result]
Filled = Iterator[tuple[Table, Results]]


def at_most(limit: float) -> Aim:
    return Aim(limit)


def at_least(limit: float) -> Aim:
    return Aim(limit, least=True)


NOT_SLOWER = Aim(1.0, of_base=True)


def number(value: float) -> str:
    """Return a figure with about three digits."""
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:,.{digits}f}"


def shown_value(value: float) -> float:
    """Return a figure as rounded as it is printed."""
    return float(number(value).replace(",", ""))


def markdown(table: Table, results: Results, base: str | None) -> str:
    """Return a filled table; the columns of the commit ``base`` only where there is one."""
    with_base = base is not None and any(result.base for result in results.values())
    heads = ["what", *table.figures, "aim", ""]
    if with_base:
        heads[1:1] = [f"{figure}, {base}" for figure in table.figures]
    lines = [heads, ["---"] * len(heads)]
    lines += (_cells(table, key, results.get(key), with_base) for key in table.rows)
    text = "\n".join(f"| {' | '.join(cells)} |".replace("  ", " ") for cells in lines)
    return "\n\n".join(part for part in (f"### {table.title}", table.note, text) if part)


def _cells(table: Table, key: str, result: Result | None, with_base: bool) -> list[str]:
    row, count = table.rows[key], len(table.figures)
    aim = str(row.aim or "")
    columns = ((result and result.base,) if with_base else ()) + (result and result.now,)
    figures = [
        f"{number(value)} {row.unit}".strip() if value is not None else ""
        for column in columns
        for value in (column or (None,) * count)
    ]
    if result is None:
        return [row.name, *figures, aim, NOT_MEASURED]
    before = result.base[0] if result.base else None
    return [row.name, *figures, aim, row.aim.verdict(result.now[0], before) if row.aim else ""]
