"""What user text may look like in a diagnostic: bounded, on one line, without credentials.

Implements "diagnostic exceptions are separately redacted and bounded" of the specification's
"Secret and sensitive-data boundary". Redaction errs on the side of hiding too much.
"""

from __future__ import annotations

import re

MASK = "***"
_REVEALING_NAME = (
    r"[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_.-]?key|access[_.-]?key"
    r"|private[_.-]?key|credential|jaas\.config|sasl\.jaas|authorization)[\w.-]*"
)
# Order matters: the header forms first, since their values hold what the later rules look for.
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?is)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END[^-]*-----|\Z)"), MASK),
    (re.compile(r"(?i)\b(bearer|basic|negotiate)\s+[\w.~+/=-]{3,}"), rf"\1 {MASK}"),
    (re.compile(r"(?i)([a-z][a-z0-9+.-]*://)[^/?#\s]*@"), rf"\1{MASK}@"),
    (
        re.compile(
            rf"(?i)([\"'`]?{_REVEALING_NAME}[\"'`]?\s*(?:=>|[:=])\s*)"
            r"(\"(?:[^\"\\]|\\.)*\"?|'(?:[^']|'')*'?|[^\s,;&)}\]]+)"
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"\beyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?"), MASK),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), MASK),
    (re.compile(r"\b(?:gh[pousr]_|xox[abprs]-|sk-|tkn_)[\w-]{8,}"), MASK),
)


def redact(text: str) -> str:
    """Return ``text`` with everything that looks like a credential replaced by ``***``."""
    for rule, replacement in _RULES:
        text = rule.sub(replacement, text)
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
