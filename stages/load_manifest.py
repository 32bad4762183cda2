"""The first stage: bytes of a compiled manifest become the manifest, as parsed."""

from __future__ import annotations

from collections.abc import Callable

from streamt_ol import contracts
from streamt_ol.contracts import State
from streamt_ol.manifest.shape import check_shape
from streamt_ol.problems import PARSE, Location, StreamtOlError
from streamt_ol.reading import strict_json
from streamt_ol.reading.files import DOCUMENT, JSON_STARTS, read_input
from streamt_ol.reading.opening import STDIN, STDIN_NAME
from streamt_ol.redaction import shown_path

TAKES = contracts.OPTIONS
RETURNS = contracts.LOADED


def read_manifest(name: str) -> bytes:
    """Return the bytes of the file ``name``, or of standard input for ``-``, at most 2 GiB.

    Raises ``OSError``.
    """
    return read_input(name, DOCUMENT, JSON_STARTS)


class LoadManifest:
    """Takes ``{"options": {"manifest": PATH or "-", ...}}``; returns ``manifest``, as parsed.

    Raises E501 with ``file:line`` or a JSON pointer: unreadable, not UTF-8, not JSON, a
    duplicate key, or not shaped like a manifest. Implements "The manifest" of the design.
    """

    def __init__(self, read: Callable[[str], bytes] = read_manifest) -> None:
        self._read = read

    def __call__(self, state: State) -> State:
        """Return ``state`` with the parsed ``manifest``."""
        name = state["options"].get("manifest")
        if name is None:
            name = STDIN
        where = STDIN_NAME if name == STDIN else shown_path(name)
        document = self._parsed(name, where)
        try:
            manifest = check_shape(document)
        except StreamtOlError as error:
            if not error.location:  # the pointer of the whole document
                error.location = Location(file=where)
            raise
        options = {key: value for key, value in state["options"].items() if key != "manifest"}
        return {"options": options, "manifest": manifest}

    def _parsed(self, name: str, where: str) -> object:
        try:
            data = self._read(name)
        except OSError as error:
            message = f"the manifest cannot be read: {error.strerror}"
            raise StreamtOlError(PARSE, message, location=Location(file=where)) from None
        if not data.strip():
            what = "standard input is empty" if name == STDIN else "the file is empty"
            raise StreamtOlError(PARSE, what, location=Location(file=where, line=1))
        try:
            return strict_json.loads(data, strict_json.WRITABLE)
        except strict_json.JsonFaultError as fault:
            location = Location(file=where, line=fault.line)
            if fault.pointer:
                location = Location(pointer=shown_path(fault.pointer))
            raise StreamtOlError(PARSE, fault.message, location=location) from None
