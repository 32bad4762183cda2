"""The pinned schema documents of the OpenLineage release, as package resources.

Implements "Pinned OpenLineage release and schemas" of the specification: each document is
stored gzip-compressed and base64-encoded, and its decoded size and SHA-256 are checked before
any JSON is parsed; so is the table that says what they must be. ``python -m
streamt_ol.openlineage.schemas.pack FOLDER`` rebuilds the resources.
"""

from __future__ import annotations

import binascii
import hashlib
import zlib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypedDict

import orjson

from streamt_ol.problems import INVALID, StreamtOlError

CORE = "OpenLineage.json"
_FOLDER = Path(__file__).parent
_GZIP = 31  # zlib's window bits for a gzip container


class Pin(TypedDict):
    """A row of the table of pins; ``pinned_by`` is ``specification`` or ``project``."""

    id: str
    bytes: int
    sha256: str
    pinned_by: str


@lru_cache(maxsize=1)
def pins() -> dict[str, Pin]:
    """Return the table of pins by the document's file name, the core first.

    Raises ``StreamtOlError`` (E506) where the table itself is missing or damaged.
    """
    try:
        content = _resource("pins.json")
    except OSError as error:
        raise _damaged("pins.json", f"it cannot be read ({type(error).__name__})") from error
    if content != table_of_pins(content.partition(b"\n")[2]):
        raise _damaged("pins.json", "its SHA-256 is not the one in its first line")
    table: dict[str, Pin] = orjson.loads(content)["documents"]
    return table


def table_of_pins(rest: bytes) -> bytes:
    """Return the content of ``pins.json``: a first line with the digest of the ``rest``."""
    return b'{"sha256": "%b", "documents":\n%b' % (hashlib.sha256(rest).hexdigest().encode(), rest)


@cache
def document(name: str) -> dict[str, Any]:
    """Return the parsed schema document ``name``, e.g. ``OpenLineage.json``; do not change it.

    Raises ``StreamtOlError`` (E506) naming the artifact where the resource is missing or
    damaged; its ``$id`` is checked last.
    """
    pin = pins().get(name)
    if pin is None:
        raise _damaged(name, "no schema of that name is pinned")
    content = verified(name, pin)
    parsed: dict[str, Any] = orjson.loads(content)
    if parsed.get("$id") != pin["id"]:
        raise _damaged(name, f"its $id is not {pin['id']}")
    return parsed


def verified(name: str, pin: Pin) -> bytes:
    """Return the decoded bytes of the resource ``name``, known to match ``pin``.

    Never decompresses more than one byte past the pinned size.
    """
    try:
        packed = binascii.a2b_base64(_resource(f"{name}.b64"))
        content = zlib.decompressobj(_GZIP).decompress(packed, pin["bytes"] + 1)
    except (OSError, ValueError, zlib.error) as error:
        raise _damaged(name, f"it cannot be decoded ({type(error).__name__})") from error
    if len(content) != pin["bytes"]:
        raise _damaged(name, f"its size is not {pin['bytes']} bytes")
    if hashlib.sha256(content).hexdigest() != pin["sha256"]:
        raise _damaged(name, f"its SHA-256 is not {pin['sha256']}")
    return content


def verify_all() -> dict[str, Pin]:
    """Check every pinned document, ``Draft202012Validator.check_schema`` included.

    Returns the table of pins; raises ``StreamtOlError`` (E506) at the first that fails.
    """
    for name in pins():
        check_schema(name)
    return pins()


def check_schema(name: str) -> None:
    """Raise ``StreamtOlError`` (E506) unless ``name`` is a valid Draft 2020-12 schema."""
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(document(name))
    except SchemaError as error:
        raise _damaged(name, "it is not a valid Draft 2020-12 schema") from error


def _resource(file_name: str) -> bytes:
    return (_FOLDER / file_name).read_bytes()


def _damaged(name: str, reason: str) -> StreamtOlError:
    return StreamtOlError(
        INVALID,
        f"the pinned schema {name} is damaged: {reason}",
        location=f"streamt_ol/openlineage/schemas/{name}" + ("" if name == "pins.json" else ".b64"),
        suggestion="install streamt-ol again",
    )
