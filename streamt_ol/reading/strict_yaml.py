"""Read a small configuration file without YAML's surprises.

Only what a configuration needs: mappings, lists, scalars. Aliases, tags, duplicate keys, merge
keys and deep nesting are refused, so a short file cannot become a large or an ambiguous value.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown

if TYPE_CHECKING:
    import yaml

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32


def read_yaml_file(path: str, location: str) -> Any:
    """Return the value of the one document in ``path``, None for an empty one.

    The file must be regular (a link to one is fine: configuration is often mounted so), UTF-8,
    at most 64 KiB, at most 32 levels deep. ``location`` names it in a diagnostic.
    Raises ``StreamtOlError``.
    """
    try:
        text = _read_bounded(path, location).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(location, f"it is not UTF-8 at byte {error.start}") from None
    return parse_yaml(text, location)


def _read_bounded(path: str, location: str) -> bytes:
    try:
        # Not to wait for the writer of a named pipe: what it is, is asked first.
        descriptor = os.open(Path(path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise _refused(location, f"it cannot be opened: {reason}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _refused(location, "it is not a regular file")
        data = b""
        while len(data) <= MAX_BYTES and (more := os.read(descriptor, MAX_BYTES + 1)):
            data += more
    except OSError as error:
        raise _refused(location, f"it cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)
    if len(data) > MAX_BYTES:
        raise _refused(location, f"it is larger than {MAX_BYTES // 1024} KiB")
    return data


def parse_yaml(text: str, location: str) -> Any:
    """Return the value of the one document in ``text``; the rules of ``read_yaml_file``."""
    import yaml

    try:
        _check_events(text, location)
        return yaml.load(text, Loader=_strict_loader(location))  # noqa: S506 - a SafeLoader, stricter
    except yaml.MarkedYAMLError as error:
        # The parser's own words quote the line, which may hold a key: only the place is shown.
        mark = error.problem_mark
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise _refused(location, f"it is not YAML of the kind accepted here{place}") from None
    except (yaml.YAMLError, ValueError):
        # ValueError: a scalar that looks like a date or a number, and is none.
        raise _refused(location, "it is not YAML of the kind accepted here") from None


def _check_events(text: str, location: str) -> None:
    """Refuse aliases, tags and depth before anything is built (the event parser is a loop)."""
    import yaml

    depth = documents = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise _refused(location, f"it holds a second document, line {line}")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _refused(location, f"it uses an anchor or alias, line {line}")
        if getattr(event, "tag", None):
            raise _refused(location, f"it uses a tag, line {line}")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _refused(location, f"it is deeper than {MAX_DEPTH} levels, line {line}")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _strict_loader(location: str) -> type[yaml.SafeLoader]:
    import yaml

    class StrictLoader(yaml.SafeLoader):
        """Keys must be text and stand once; ``<<`` is no merge."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = True) -> dict[Any, Any]:
            seen: set[str] = set()
            for key, _ in node.value:
                line = key.start_mark.line + 1
                if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                    raise _refused(location, f"a key is not text, line {line}")
                if key.value in seen:
                    raise _refused(location, f"key {shown(key.value)} stands twice, line {line}")
                seen.add(key.value)
            return super().construct_mapping(node, deep)

    return StrictLoader


def _refused(location: str, reason: str) -> StreamtOlError:
    return StreamtOlError(INVALID, f"the file is refused: {reason}", location=location)
