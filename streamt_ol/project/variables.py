"""Variables of a project: the environment, `.env.NAME`, `.env`, and `${VAR}` in values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO
from typing import NamedTuple

from streamt_ol.codes import GENERIC_WARNING
from streamt_ol.problems import (
    ENV_VAR,
    Location,
    StreamtOlError,
    WarningRecord,
    warning,
)
from streamt_ol.redaction import shown_path

# What opens a reference and is none has no name. A default holds no other reference.
_REFERENCE = re.compile(r"\$\{(?:([A-Za-z_][A-Za-z0-9_]*+)(?::-((?:(?!\$\{)[^}])*+))?\})?")
_DEEPEST = 50  # settings of `.env` files, each of which refers to the next
_LONGEST = 100_000  # characters that the references of one text stand for


class _Setting(NamedTuple):
    """A line of a `.env` file."""

    value: str
    location: Location


class Variables:
    """The variables that a project's values may refer to.

    The process's own environment (``environ``) always wins; of the files that are added, the
    last one that has a variable.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._settings: dict[str, _Setting] = {}
        self._values: dict[str, str | None] = {}  # of the files, as far as they were asked for
        self._open: list[str] = []  # the variables that are being looked up

    def add_file(self, text: str, file: str) -> list[WarningRecord]:
        """Let the settings of a `.env` file replace earlier ones; return its warnings."""
        from dotenv.parser import parse_stream

        warnings: list[WarningRecord] = []
        for binding in parse_stream(StringIO(text)):
            location = Location(file=file, line=binding.original.line)
            if binding.error or (binding.key is not None and binding.value is None):
                message = "the line is not NAME=VALUE and is ignored"
                warnings.append(warning(GENERIC_WARNING, message, location))
            elif binding.key is not None and binding.value is not None:
                self._settings[binding.key] = _Setting(binding.value, location)
        self._values.clear()
        return warnings

    def get(self, name: str) -> str | None:
        """Return the value of the variable ``name``, or None where nothing sets it.

        Raises ``StreamtOlError`` (``ENV_VAR``) for a file's value that refers to something
        missing or to itself, or stands for more than a setting may.
        """
        if name in self._environ:
            return self._environ[name]
        if name not in self._values:
            setting = self._settings.get(name)
            self._values[name] = None if setting is None else self._read(name, setting)
        return self._values[name]

    def _read(self, name: str, setting: _Setting) -> str:
        if name in self._open or len(self._open) == _DEEPEST:
            what = "itself" if name in self._open else f"others more than {_DEEPEST} deep"
            message = f"the variable {shown_path(name)} refers to {what}"
            raise StreamtOlError(ENV_VAR, message, location=setting.location)
        self._open.append(name)
        try:
            return self.expand(setting.value, setting.location)
        finally:
            self._open.pop()

    def expand(self, text: str, location: str) -> str:
        """Return ``text`` with each ``${VAR}`` and ``${VAR:-default}`` replaced.

        As in a shell, the default stands for a variable that is not set or empty. Raises
        ``StreamtOlError`` (``ENV_VAR``, at ``location``) that names the missing variable, and
        for a ``${`` that opens no such reference, whose text is not quoted, and for references
        that stand for too much text.
        """
        if "${" not in text:
            return text
        length = 0

        def bounded(reference: re.Match[str]) -> str:
            nonlocal length
            value = self._value(reference, location)
            length += len(value)
            if length > _LONGEST:
                message = f"references to variables stand for over {_LONGEST:,} characters"
                raise StreamtOlError(ENV_VAR, message, location=location)
            return value

        return _REFERENCE.sub(bounded, text)

    def _value(self, reference: re.Match[str], location: str) -> str:
        """Return what one reference stands for."""
        name, default = reference.groups()
        if name is None:
            raise StreamtOlError(
                ENV_VAR,
                "a ${ does not open a reference to a variable",
                location=location,
                suggestion="write ${NAME} or ${NAME:-DEFAULT}, with a default without ${ and }",
            )
        value = self.get(name)
        if default is not None:
            return value or default
        if value is None:
            raise StreamtOlError(
                ENV_VAR,
                f"the environment variable {shown_path(name)} is not set",
                location=location,
                suggestion=f"set {shown_path(name)}, or write ${{{shown_path(name)}:-DEFAULT}}",
            )
        return value
