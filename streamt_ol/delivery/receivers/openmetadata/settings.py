"""OpenMetadata's ``openLineageSettings``, as far as they decide what becomes of an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.reading import strict_json
from streamt_ol.reading.files import MIB, read_file
from streamt_ol.redaction import shown_path

_MAX_BYTES = 16 * MIB


@dataclass(frozen=True)
class OpenMetadataSettings:
    """The server's settings, with the server's own defaults.

    ``namespaces`` maps dataset namespaces to database services; None: not known here.
    """

    event_types: frozenset[str] = frozenset({"COMPLETE"})
    namespaces: Mapping[str, str] | None = None
    creates_entities: bool = True
    is_enabled: bool = True


def read_settings(path: Path) -> OpenMetadataSettings:
    """Return the settings in a file: the whole object of the API, or its ``configValue``.

    Raises ``StreamtOlError`` when the file does not hold such an object.
    """
    try:
        data = read_file(str(path), _MAX_BYTES)
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror}") from None
    try:
        document = strict_json.loads(data)
    except strict_json.JsonFaultError as error:
        raise _refused(path, error.message) from None
    return _settings(document, path)


def _settings(document: Any, path: Path) -> OpenMetadataSettings:
    value = document.get("configValue", document) if isinstance(document, dict) else None
    if not isinstance(value, dict):
        raise _refused(path, "is not an openLineageSettings object")
    mapping = value.get("namespaceToServiceMapping") or {}
    types = value.get("eventTypeFilter") or ["COMPLETE"]
    is_mapping = isinstance(mapping, dict) and all(isinstance(v, str) for v in mapping.values())
    if not is_mapping or not isinstance(types, list) or not all(isinstance(t, str) for t in types):
        raise _refused(path, "namespaceToServiceMapping or eventTypeFilter has the wrong shape")
    return OpenMetadataSettings(
        event_types=frozenset(types),
        namespaces=mapping,
        creates_entities=value.get("autoCreateEntities") is not False,
        is_enabled=value.get("enabled") is not False,
    )


def _refused(path: Path, reason: str) -> StreamtOlError:
    at = Location(file=shown_path(str(path)))
    return StreamtOlError(PARSE, f"the settings file {reason}", location=at)
