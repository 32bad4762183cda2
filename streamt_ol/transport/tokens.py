"""Tokens that a command names by an environment variable, never by their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamt_ol.transport.headers import check_header_value
from streamt_ol.transport.refusal import refuse
from streamt_ol.transport.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping


def token_from(environment: Mapping[str, str], name: str) -> Secret:
    """Return the token in the variable ``name``. Raises ``StreamtOlError`` if it is no token."""
    token = environment.get(name, "").strip()
    if not token:
        refuse("--token-env", "the variable that it names is not set, or is empty")
    check_header_value(token, "--token-env")
    return Secret(token)
