"""Read a small configuration file without YAML's surprises.

Only what a configuration needs: mappings with text for keys, lists, scalars. So a short file
cannot become a large or an ambiguous value.
"""

from __future__ import annotations

from typing import Any

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.reading.files import CONFIGURATION, read_file


def read_configuration(path: str, location: str) -> Any:
    """Return the value of the one YAML document in ``path``, None for an empty one.

    UTF-8, at most 1 MiB, at most 32 levels deep; see ``strict_yaml.CONFIGURATION``. ``location``
    names the setting in a diagnostic, which never quotes the file but for its keys. Raises
    ``StreamtOlError`` (E506).
    """
    try:
        text = read_file(path, CONFIGURATION).decode()
    except UnicodeDecodeError as error:
        raise _refused(location, f"it is not UTF-8 at byte {error.start}") from None
    except OSError as error:
        raise _refused(location, error.strerror or "it cannot be read") from None
    return parse_configuration(text, location)


def parse_configuration(text: str, location: str) -> Any:
    """Return the value of the one document in ``text``; the rules of ``read_configuration``."""
    from streamt_ol.reading import strict_yaml

    try:
        return strict_yaml.parse_yaml(text, "", strict_yaml.CONFIGURATION)
    except StreamtOlError as error:
        line = error.location.line if error.location is not None else None
        raise _refused(location, f"{error.message}, line {line}") from None


def _refused(location: str, reason: str) -> StreamtOlError:
    return StreamtOlError(INVALID, f"the file is refused: {reason}", location=location)
