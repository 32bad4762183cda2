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
from streamt_ol.redaction import place

# What opens a reference and is none has no name. A default holds no other reference.
_REFERENCE = re.compile(r"\$\{(?:([A-Za-z_][A-Za-z0-9_]*+)(?::-((?:(?!\$\{)[^}])*+))?\})?")


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
        self._files: list[dict[str, _Setting]] = []
        self._open: list[str] = []  # the variables that are being looked up

    def add_file(self, text: str, file: str) -> list[WarningRecord]:
        """Add the settings of a `.env` file before those of the others; return its warnings."""
        from dotenv.parser import parse_stream

        settings: dict[str, _Setting] = {}
        warnings: list[WarningRecord] = []
        for binding in parse_stream(StringIO(text)):
            location = Location(file=file, line=binding.original.line)
            if binding.error or (binding.key is not None and binding.value is None):
                message = "the line is not NAME=VALUE and is ignored"
                warnings.append(warning(GENERIC_WARNING, message, location))
            elif binding.key is not None and binding.value is not None:
                settings[binding.key] = _Setting(binding.value, location)
        self._files.insert(0, settings)
        return warnings

    def get(self, name: str) -> str | None:
        """Return the value of the variable ``name``, or None where nothing sets it.

        Raises ``StreamtOlError`` (``ENV_VAR``) for a file's value that refers to something
        missing or to itself.
        """
        if name in self._environ:
            return self._environ[name]
        setting = next((found for file in self._files if (found := file.get(name))), None)
        if setting is None:
            return None
        if name in self._open:
            message = f"the variable {place(name)} refers to itself"
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
        for a ``${`` that opens no such reference, whose text is not quoted.
        """
        if "${" not in text:
            return text

        def replaced(reference: re.Match[str]) -> str:
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
                    f"the environment variable {place(name)} is not set",
                    location=location,
                    suggestion=f"set {place(name)}, or write ${{{place(name)}:-DEFAULT}}",
                )
            return value

        return _REFERENCE.sub(replaced, text)
