"""The report of a run of ``validate``: everything counted, the gravest problems kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from streamt_ol.redaction import redact, shown_path
from streamt_ol.validation.findings import ERROR, SEVERITIES, WARNING, LocatedFinding
from streamt_ol.validation.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from streamt_ol.problems import StreamtOlError
    from streamt_ol.reading.sources import Origin
    from streamt_ol.validation.checker import ChunkResult


_POINTER_LIMIT = 1000  # a key may be as long as a line


class Problem(NamedTuple):
    """A finding with its location, as every format reports it."""

    file: str
    line: int
    severity: str
    rule: str
    pointer: str
    message: str


class Report(NamedTuple):
    """The inputs that were checked, and their problems.

    ``problems`` are in the order of their locations; where not all are kept, errors go before
    warnings, and those before notes. ``severities`` and ``rules`` count all of them, ``inputs``
    the severities for each of ``files``; ``failures`` are the errors of those not readable.
    """

    files: tuple[str, ...]
    inputs: tuple[dict[str, int], ...]
    kinds: dict[str, int]
    blank: int
    severities: dict[str, int]
    rules: dict[str, int]
    problems: tuple[Problem, ...]
    failures: tuple[StreamtOlError, ...] = ()

    @property
    def events(self) -> int:
        """The number of events."""
        return sum(self.kinds.values())

    @property
    def found(self) -> int:
        """The number of problems of any severity."""
        return sum(self.severities.values())

    @property
    def hidden(self) -> int:
        """The number of problems that are counted, but not among ``problems``."""
        return self.found - len(self.problems)

    @property
    def valid(self) -> bool:
        """Whether there is no error, and every input was read."""
        return not self.severities[ERROR] and not self.failures


class Counts(NamedTuple):
    """The counts and problems that a ``Collector`` kept; ``inputs`` by the number of the input."""

    inputs: dict[int, dict[str, int]]
    severities: dict[str, int]
    rules: dict[str, int]
    kept: list[LocatedFinding]


class Collector:
    """Counts every finding and keeps ``limit`` of them: the gravest, then the first by location.

    ``source`` tells the number of the input that a position belongs to.
    """

    def __init__(
        self,
        limit: int,
        source: Callable[[int], int],
        *,
        strict: bool,
        ignored: frozenset[str] = frozenset(),
    ) -> None:
        self._source = source
        self._inputs: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self._limit = limit
        self._strict = strict
        self._ignored = ignored
        self._kept: list[LocatedFinding] = []
        self._least: tuple[int, LocatedFinding] | None = None  # of what a full list keeps
        self._kinds: Counter[str] = Counter()
        self._blank = 0
        self._severities: Counter[str] = Counter()
        self._rules: Counter[str] = Counter()

    @property
    def events(self) -> int:
        """The number of events so far."""
        return self._kinds.total()

    def checked(self, chunk: ChunkResult) -> None:
        """Take what one chunk was found to be."""
        self._kinds += chunk.kinds
        self._blank += chunk.blank
        self.add(chunk.findings)
        for rule, count in chunk.counted.items():
            if rule not in self._ignored:
                self._count(rule, self._severity(RULES[rule].severity), chunk.position, count)

    @property
    def counted(self) -> frozenset[str]:
        """The severities of findings that need only be counted, from here to the end.

        Positions rise, so that none of them goes before one that a full list keeps.
        """
        self._cut()
        if self._limit == 0:
            return frozenset(SEVERITIES)
        least = len(SEVERITIES) if self._least is None else self._least[0]
        return frozenset(
            one for one in SEVERITIES if SEVERITIES.index(self._severity(one)) >= least
        )

    def add(self, found: Iterable[LocatedFinding]) -> None:
        """Take findings, in any order of locations."""
        for one in found:
            if one.finding.rule in self._ignored:
                continue
            severity = self._severity(one.finding.severity)
            self._count(one.finding.rule, severity, one.position, 1)
            if self._least is None or self._rank(one) < self._least:
                self._kept.append(one)
            if len(self._kept) > 2 * self._limit + 1000:
                self._cut()

    @property
    def blank(self) -> int:
        """The number of blank lines so far."""
        return self._blank

    @property
    def kinds(self) -> dict[str, int]:
        """The number of events of each kind so far."""
        return dict(self._kinds)

    def counts(self) -> Counts:
        """Return what has been counted and kept, for another collector to take."""
        self._cut()
        inputs = {at: dict(counted) for at, counted in self._inputs.items()}
        return Counts(inputs, dict(self._severities), dict(self._rules), self._kept)

    def take(self, counts: Counts, kinds: Mapping[str, int] | None = None, blank: int = 0) -> None:
        """Take what another collector of the same report counted and kept."""
        for at, counted in counts.inputs.items():
            self._inputs[at].update(counted)
        self._severities.update(counts.severities)
        self._rules.update(counts.rules)
        self._kinds.update(kinds or {})
        self._blank += blank
        self._kept += counts.kept
        if len(self._kept) > 2 * self._limit + 1000:
            self._cut()

    def report(
        self,
        files: tuple[str, ...],
        origin: Callable[[int], Origin],
        failures: tuple[StreamtOlError, ...] = (),
    ) -> Report:
        """Return the report; ``origin`` turns a position into an origin."""
        self._cut()
        self._kept.sort()
        return Report(
            files,
            tuple(
                {name: self._inputs[at][name] for name in SEVERITIES} for at in range(len(files))
            ),
            dict(sorted(self._kinds.items())),
            self._blank,
            {name: self._severities[name] for name in SEVERITIES},
            dict(sorted(self._rules.items())),
            tuple(self._problem(one, origin) for one in self._kept),
            failures,
        )

    def _count(self, rule: str, severity: str, position: int, count: int) -> None:
        self._severities[severity] += count
        self._inputs[self._source(position)][severity] += count
        self._rules[rule] += count

    def _severity(self, severity: str) -> str:
        return ERROR if self._strict and severity == WARNING else severity

    def _rank(self, located: LocatedFinding) -> tuple[int, LocatedFinding]:
        return SEVERITIES.index(self._severity(located.finding.severity)), located

    def _cut(self) -> None:
        if len(self._kept) > self._limit:
            self._kept.sort(key=self._rank)
            del self._kept[self._limit :]
            self._least = self._rank(self._kept[-1]) if self._kept else None

    def _problem(self, located: LocatedFinding, origin_of: Callable[[int], Origin]) -> Problem:
        found, origin = located.finding, origin_of(located.position)
        message = found.message
        if located.earlier >= 0:
            message += f" at {_told(origin_of(located.earlier))}"
        return Problem(
            origin.name,
            origin.line + located.line,
            self._severity(found.severity),
            found.rule,
            redact((origin.pointer + found.pointer)[:_POINTER_LIMIT]),
            message,
        )


def _told(origin: Origin) -> str:
    where = f"{shown_path(origin.name)}:{origin.line}"
    return f"{where} {origin.pointer}" if origin.pointer else where
