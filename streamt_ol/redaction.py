"""What user text may look like in a diagnostic: bounded, on one line, without credentials.

Implements "diagnostic exceptions are separately redacted and bounded" of the specification's
"Secret and sensitive-data boundary". Redaction errs on the side of hiding too much.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MASK = "***"
_REVEALING_NAME = (
    r"(?<![\w.-])[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_.-]?key"
    r"|access[_.-]?key|private[_.-]?key|credential|jaas\.config|authorization)[\w.-]*"
)


class _Rule(NamedTuple):
    """What hides one kind of credential; only a text with one of ``signs`` is searched for it."""

    signs: tuple[str, ...]
    pattern: str
    replacement: str


# Order matters: the header forms first, since their values hold what the later rules look for.
_RULES: tuple[_Rule, ...] = (
    _Rule(
        ("private key",),
        r"(?is)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END[^-]*-----|\Z)",
        MASK,
    ),
    _Rule(
        ("bearer", "basic", "negotiate"),
        r"(?i)\b(bearer|basic|negotiate)\s+[\w.~+/=-]{3,}",
        rf"\1 {MASK}",
    ),
    _Rule(("://",), r"(?i)([a-z][a-z0-9+.-]*://)[^/?#\s]*@", rf"\1{MASK}@"),
    _Rule(
        (":", "="),
        rf"(?i)([\"'`]?{_REVEALING_NAME}[\"'`]?\s*(?:=>|[:=])\s*)"
        r"(\"(?:[^\"\\]|\\.)*\"?|'(?:[^']|'')*'?|[^\s,;&)}\]]+)",
        rf"\1{MASK}",
    ),
    _Rule(("eyj",), r"\beyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?", MASK),
    _Rule(("akia", "asia"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b", MASK),
    _Rule(
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "xox", "sk-", "tkn_"),
        r"\b(?:gh[pousr]_|xox[abprs]-|sk-|tkn_)[\w-]{8,}",
        MASK,
    ),
)


def redact(text: str) -> str:
    """Return ``text`` with everything that looks like a credential replaced by ``***``."""
    lowered = text.lower()
    for signs, pattern, replacement in _RULES:
        if any(sign in lowered for sign in signs):
            text = re.sub(pattern, replacement, text)
    return text


def shown(value: object, limit: int = 80) -> str:
    """Return user text for a message: redacted, quoted, escaped, at most about ``limit`` long."""
    text = value if isinstance(value, str) else str(value)
    text = redact(text[: 4 * limit])
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    escaped = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
    return f"'{escaped}'"


def place(path: str) -> str:
    """Return a file's path for a diagnostic: redacted, on one line, unquoted."""
    return shown(path, limit=400)[1:-1]
