"""Whole inputs within a bound: manifests, states, configuration, certificates.

The bounds are documented; none of these inputs is near one in practice. Events are read as a
stream, and only each single event has a bound (``chunks.MAX_EVENT_BYTES``). A configuration is
read without YAML's surprises: mappings with text for keys, lists, scalars, so that a short file
cannot become a large or an ambiguous value.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, BinaryIO

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.reading.blocks import DamagedError, blocks
from streamt_ol.reading.faults import not_utf8
from streamt_ol.reading.json_scan import BLANKS
from streamt_ol.reading.opening import is_regular, open_file, open_input

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 1 << 20
DOCUMENT = 2048 * MIB  # a manifest, the state between two stages, an earlier export
PROJECT_FILE = 256 * MIB
CONFIGURATION = MIB
CERTIFICATES = 4 * MIB
# What a JSON document may begin with.
JSON_STARTS = b'{["-0123456789tfn'


def read_file(name: str, limit: int) -> bytes:
    """Return the decompressed bytes of the file or pipe ``name``, without a byte order mark.

    Raises ``OSError``, whose ``strerror`` is a reason: what cannot be read, is a device, damaged,
    or larger than ``limit`` bytes; ``StreamtOlError`` (E501) where no zstd library is there.
    """
    with open_file(name) as stream:
        return _content(stream, limit)


def read_input(name: str, limit: int = DOCUMENT, starts: bytes = b"") -> bytes:
    """Return the bytes of ``name`` as ``read_file`` does, or of standard input for ``-``.

    Of what begins with none of the bytes ``starts``, white space left out, only the start is read
    and returned. Raises what ``read_file`` raises.
    """
    with open_input(name) as stream:
        return _content(stream, limit, starts)


def _content(stream: BinaryIO, limit: int, starts: bytes = b"") -> bytes:
    _refuse_large(stream, limit)
    data, size = [], 0
    begun = not starts
    try:
        for block in _readable(blocks(stream)):
            data.append(block)
            size += len(block)
            if size > limit:
                raise _too_large(limit)
            if not begun and (start := block.lstrip(BLANKS)):
                begun = start[0] in starts
                if not begun:
                    break
        return b"".join(data)
    except MemoryError:
        raise OSError(errno.ENOMEM, "it does not fit into memory") from None


def _readable(content: Iterator[bytes]) -> Iterator[bytes]:
    """Yield ``content``; what is damaged is an ``OSError`` like any other."""
    try:
        yield from content
    except DamagedError as error:
        raise OSError(errno.EIO, str(error)) from None


def _refuse_large(stream: BinaryIO, limit: int) -> None:
    """Refuse a file that is larger than ``limit`` before it is read."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # a program's own stream
        return
    if is_regular(descriptor) and os.fstat(descriptor).st_size > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> OSError:
    size = f"{limit >> 30} GiB" if limit >= 1 << 30 else f"{limit // MIB} MiB"
    return OSError(errno.EFBIG, f"it is larger than {size}")


def read_configuration(path: str, location: str) -> Any:
    """Return the value of the one YAML document in ``path``, None for an empty one.

    UTF-8, at most 1 MiB, at most 32 levels deep; see ``strict_yaml.CONFIGURATION``. ``location``
    names the setting in a diagnostic, which never quotes the file but for its keys. Raises
    ``StreamtOlError`` (E506).
    """
    try:
        text = read_file(path, CONFIGURATION).decode()
    except UnicodeDecodeError as error:
        reason = f"it is {not_utf8(error.object)} at byte {error.start}"
        raise _refused(location, reason) from None
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
