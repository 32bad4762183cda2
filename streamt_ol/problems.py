"""The one way to fail: an error with a code (``streamt_ol.codes``), a message and a location.

``StreamtOlError`` carries typed fields; only the command line turns them into text and into
an exit status. A warning is a plain dict in a stage's ``warnings`` list: a fact about the
result, never a reason to stop.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, NotRequired, Self, TypedDict

USAGE = "E500_USAGE_ERROR"
PARSE = "E501_PARSE_ERROR"
ENV_VAR = "E502_ENV_VAR_ERROR"
ENVIRONMENT = "E503_ENVIRONMENT_ERROR"
INVALID = "E506_OPENLINEAGE_INVALID"
NOT_DELIVERED = "E510_NOT_DELIVERED"
NOT_STARTED = "E507_COMMAND_NOT_STARTED"
ENDED_BY_SIGNAL = "E508_ENDED_BY_SIGNAL"


class _Parts(NamedTuple):
    """The parts of a ``Location``."""

    file: str | None = None
    line: int | None = None
    pointer: str | None = None
    field: str | None = None
    option: str | None = None
    stage: str | None = None

    def text(self) -> str:
        if self.pointer and (self.file or self.field or self.option or self.stage) is None:
            return self.pointer  # nearly all are no more
        stands = self.file if self.line is None or self.file is None else f"{self.file}:{self.line}"
        within = " ".join(part for part in (stands, self.field, self.pointer) if part)
        option = self.option and (f"{self.option}:" if within else self.option)
        stage = self.stage and f"stage {self.stage}"
        return " ".join(part for part in (stage, option, within) if part)


class Location(str):
    """The location of a fault: an immutable text that knows its parts.

    ``file`` and ``line`` (from 1) say where an input has it, ``pointer`` is the RFC 6901 JSON
    pointer within, ``field`` the name of a field of settings, e.g. ``transport.url``, ``option``
    the name of an option without dashes (only ``cli`` knows flags), ``stage`` a stage of the
    pipeline. The text has one grammar: the parts that are there, in this order, with a space
    between them::

        stage NAME   OPTION[:]   FILE[:LINE]   FIELD   POINTER

    with a colon behind ``OPTION`` where more follows. ``Location("run 7")`` names something that
    is none of these and has no parts. Every part must be safe to show (``streamt_ol.redaction``).
    """

    __slots__ = ("_parts",)
    _parts: _Parts

    def __new__(
        cls,
        name: str = "",
        *,
        file: str | None = None,
        line: int | None = None,
        pointer: str | None = None,
        field: str | None = None,
        option: str | None = None,
        stage: str | None = None,
    ) -> Self:
        """Return the location with these parts, or the plain ``name`` where there are none."""
        parts = _Parts(file, line, pointer or None, field, option, stage)
        self = super().__new__(cls, parts.text() or name)
        object.__setattr__(self, "_parts", parts)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: a location does not change."""
        raise AttributeError(f"a location has no {name} to set")

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes the same location again, in another process too."""
        return partial(type(self), **self._parts._asdict()), (str(self),)

    @property
    def file(self) -> str | None:
        """The name of the input."""
        return self._parts.file

    @property
    def line(self) -> int | None:
        """The line in the file, from 1."""
        return self._parts.line

    @property
    def pointer(self) -> str | None:
        """The JSON pointer."""
        return self._parts.pointer

    @property
    def field(self) -> str | None:
        """The field of settings."""
        return self._parts.field

    @property
    def option(self) -> str | None:
        """The option."""
        return self._parts.option

    @property
    def stage(self) -> str | None:
        """The stage of the pipeline."""
        return self._parts.stage

    def below(self, *parts: str | int) -> Location:
        """Return the location of what stands below this one, e.g. ``columns``, 0."""
        return self.replaced(pointer=(self.pointer or "") + pointer(*parts))

    def replaced(self, **parts: Any) -> Location:
        """Return this location with other ``parts``."""
        return Location(**self._parts._replace(**parts)._asdict())

    def fields(self) -> dict[str, Any]:
        """Return those of ``file``, ``line``, ``pointer`` and ``option`` that are there.

        A field of settings stands as ``option``, unless there is one.
        """
        file, line, at, field, option, _ = self._parts
        found = {"file": file, "line": line, "pointer": at, "option": option or field}
        return {part: value for part, value in found.items() if value is not None}


class WarningRecord(TypedDict):
    """A warning: ``code``, ``message``, and where there is one ``location`` with its parts."""

    code: str
    message: str
    location: NotRequired[str]
    file: NotRequired[str]
    line: NotRequired[int]
    pointer: NotRequired[str]
    option: NotRequired[str]


def warning(code: str, message: str, location: str | None = None) -> WarningRecord:
    """Return a warning as it stands in a stage's ``warnings`` and in an envelope."""
    record: WarningRecord = {"code": code, "message": message}
    if location:
        record["location"] = str(location)
        if isinstance(location, Location):
            record.update(location.fields())  # type: ignore[typeddict-item]
    return record


class Terminated(SystemExit):
    """A signal (SIGTERM, SIGHUP) asked the process to end: leave by way of every ``finally``."""


class StreamtOlError(Exception):
    """Nothing more can be done: a code of ``codes.ERRORS``, a message, a location, and a hint.

    A plain text given as ``location`` is a ``Location`` without parts. ``message`` and
    ``location`` must already be safe to show (see ``streamt_ol.redaction``).
    """

    location: Location | None

    def __init__(
        self,
        code: str,
        message: str,
        *,
        location: str | None = None,
        suggestion: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        if location is None or isinstance(location, Location):
            self.location = location
        else:
            self.location = Location(location)
        self.suggestion = suggestion

    def record(self) -> dict[str, Any]:
        """Return the error as it stands among the ``errors`` of an envelope."""
        record: dict[str, Any] = dict(warning(self.code, self.message, self.location))
        if self.suggestion is not None:
            record["suggestion"] = self.suggestion
        return record

    def __str__(self) -> str:
        location = f" {self.location}" if self.location else ""
        return f"{self.code}{location}: {self.message}"


def pointer(*parts: str | int) -> str:
    """Return the RFC 6901 JSON pointer made of ``parts``, e.g. ``/models/0/columns``."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
