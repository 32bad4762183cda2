"""Credentials and the headers that carry them: nothing is shown, nothing forges a second header."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn, Self, final

from streamt_ol.problems import Location
from streamt_ol.redaction import MASK
from streamt_ol.transport.base import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
MAX_VALUE = 16 * 1024
# Set by the transport itself, or about the connection rather than the event.
_RESERVED = {
    "connection", "content-encoding", "content-length", "content-type", "expect", "host",
    "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding",
    "upgrade",
}  # fmt: skip


@final
class Secret:
    """Holds one credential; only ``reveal`` gives it back, so every use can be searched for.

    ``repr``, ``str``, ``format`` and ``dataclasses.asdict`` show a mask; pickling is refused.
    """

    __slots__ = ("_reveal",)

    def __init__(self, value: str) -> None:
        # A closure rather than an attribute: nothing that walks over attributes finds the text.
        object.__setattr__(self, "_reveal", lambda: value)

    def reveal(self) -> str:
        """Return the credential: for the wire, and for masking it out of an answer."""
        found: str = self._reveal()  # type: ignore[attr-defined]
        return found

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a secret does not change")

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __str__(self) -> str:
        return MASK

    def __format__(self, format_spec: str) -> str:
        return MASK

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a secret cannot be pickled")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.reveal() == self.reveal()

    def __hash__(self) -> int:
        return hash(self.reveal())


def check_header_name(name: str, location: str) -> None:
    """Raise ``StreamtOlError`` unless ``name`` is a token that may be set by a configuration."""
    if not _NAME.fullmatch(name) or name.lower() in _RESERVED:
        refuse(location, "this header cannot be set")


def check_header_value(value: str, location: str) -> None:
    """Raise ``StreamtOlError`` unless ``value`` is printable ASCII on one line, at most 16 KiB."""
    if not _VALUE.fullmatch(value) or len(value) > MAX_VALUE:
        refuse(location, "the value must be printable ASCII, on one line")


def check_token(token: str, location: str) -> None:
    """Raise ``StreamtOlError`` for a token that cannot be one, or that names its scheme itself."""
    check_header_value(token, location)
    if token.lower().startswith("bearer "):
        refuse(
            location,
            "the token already begins with Bearer",
            "give the token alone: Bearer is added",
        )


def token_from(environment: Mapping[str, str], name: str) -> Secret:
    """Return the token in the variable ``name``. Raises ``StreamtOlError`` if it is not a token."""
    token = environment.get(name, "").strip()
    location = Location(option="token_env")
    if not token:
        refuse(location, "the variable that it names is not set, or is empty")
    check_token(token, location)
    return Secret(token)
