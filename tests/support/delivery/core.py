"""The core schema as a receiver enforces it: the official document, read by jsonschema alone."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from streamt_ol.openlineage import schemas

# After RFC 3339, section 5.6, and RFC 3986, appendix A, as far as the events of the tests go.
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@cache
def _validator() -> Draft202012Validator:
    formats = FormatChecker(formats=())
    for name, pattern in (("date-time", _TIME), ("uri", _URI), ("uuid", _UUID)):

        def fits(value: object, pattern: re.Pattern[str] = pattern) -> bool:
            return not isinstance(value, str) or bool(pattern.fullmatch(value))

        formats.checks(name)(fits)
    return Draft202012Validator(schemas.document(schemas.CORE), format_checker=formats)


def meets_core(event: dict[str, Any]) -> bool:
    """Whether the event is exactly one of the three kinds, as the core schema has them."""
    return bool(_validator().is_valid(event))
