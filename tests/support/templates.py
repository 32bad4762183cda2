"""Templates that are refused."""

from __future__ import annotations

import pytest

from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.templates import render


def refused(template: str, **names: object) -> str:
    """Return the message with which ``template`` is refused."""
    with pytest.raises(StreamtOlError) as caught:
        render(template, params=names, location="models/m.yml:3")
    assert caught.value.code == INVALID
    assert caught.value.location == "models/m.yml:3"
    return caught.value.message
