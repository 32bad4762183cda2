"""User text as a diagnostic may show it: bounded, on one line, without credentials.

Implements "diagnostic exceptions are separately redacted and bounded" of the specification's
"Secret and sensitive-data boundary". Redaction errs on the side of hiding too much.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

MASK = "***"
# Short names reveal only as the last word of a name: "design" and "signal" are no signatures.
_REVEALING_NAME = (
    r"(?:(?:[\w.-]*[_.-])?sig|[\w.-]*pw|[\w.-]*(?:pass|pwd|secret|token|api[_.-]?key"
    r"|access[_.-]?key|account[_.-]?key|private[_.-]?key|credential|jaas\.config|authorization"
    r"|signature|cookie)[\w.-]*)"
)
_HOST_AND_PORT = r"(?:\[[0-9a-f:.]+\]|[^\s:/?#@]*)(?::[0-9]{1,5})?(?![^\s/?#])"
# A text of any length is looked at this far; what is shown of it ends long before.
_SEARCHED = 65_536
_SHORT = 200
_LINE = 4_000  # characters of one line of a message
_BEFORE = 1024  # characters before a find that tell whether it stands in a path


# Compiled when first searched for: most commands word no fault.
# A segment of the path of a URI, or of a name with segments before it, e.g. a partition: it is no
# parameter. Nor is what stands before an @ in the path of a URI.
# What begins with a slash may be a JSON pointer, whose keys are anybody's: none is shown.
_PATH = (
    r"(?i)(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://[^\s?#;]*/\Z"
    r"|(?:\A|(?<=[\s'\"(]))[^\s?#;=&:'\"/]+/(?:[^\s?#;&'\"/]*/)*\Z"
)
_URI_PATH = (
    rf"(?i)(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://(?:[^\s:/?#@]*@)?(?={_HOST_AND_PORT}/)"
    r"[^\s/?#]*/[^\s?#;]*\Z"
)
_USER_INFO = (
    r"[^\s:@/'\"\[]{1,256}:(?!(?:[a-zA-Z][a-zA-Z0-9+.-]{0,32}:)?//|[0-9]{1,5}/)[^\s@]{1,256}@"
)
_NAMED = rf"(?is)(?<![\w.-]){_REVEALING_NAME}[\"'`\\]*\s*(?P<mark>=>|[:=]|%3[ad])\s*(?=.)"


class _Rule(NamedTuple):
    """A rule for one kind of credential; only a text with one of ``signs`` is searched for it."""

    signs: tuple[str, ...]
    pattern: str
    replacement: str


_RULES: tuple[_Rule, ...] = (
    _Rule(
        ("private key",),
        r"(?is)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END[^-]*-----|\Z)",
        MASK,
    ),
    _Rule(("'", '"'), rf"(?is)(?<![\w.-])({_REVEALING_NAME}\s+)['\"].+", rf"\1{MASK}"),
    _Rule(("key=",), r"(?is)([?&]key=).+", rf"\1{MASK}"),
    _Rule(("--",), rf"(?is)(?<![\w-])(--?{_REVEALING_NAME}\s+).+", rf"\1{MASK}"),
    _Rule(
        ("bearer", "basic", "negotiate", "digest"),
        r"(?i)\b(bearer|basic|negotiate|digest)\s+[\w.~+/=-]{3,}",
        rf"\1 {MASK}",
    ),
    _Rule(
        ("token ", "apikey "),
        r"(?i)\b(token|apikey)\s+(?=\S{0,64}\d)[\w.~+/=-]{8,}",
        rf"\1 {MASK}",
    ),
    _Rule(("@//",), r"[^\s/]{1,256}/[^\s@]{1,256}@//", f"{MASK}@//"),
    # User information of what is called, up to the last @ of its authority.
    _Rule(("://",), r"(?i)\b((?:https?|kafka)://)[^\s/?#]{0,1024}@", rf"\1{MASK}@"),
    # NAME:SECRET@, up to the last @ of the line: a secret may hold anything. A port ends a host.
    _Rule(
        ("://",),
        rf"(?i)(?<![a-z0-9+.-])([a-z][a-z0-9+.-]*://)(?!{_HOST_AND_PORT})"
        r"[^\s:/?#@]{0,256}(?::|%3a).{0,1024}@",
        rf"\1{MASK}@",
    ),
    _Rule(("eyj",), r"\beyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?", MASK),
    _Rule(("hooks.slack.com",), r"(?i)(hooks\.slack\.com/services/)\S+", rf"\1{MASK}"),
    _Rule(("aiza",), r"\bAIza[\w-]{8,}", MASK),
    _Rule(("akia", "asia"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b", MASK),
    _Rule(
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "xox", "sk-", "tkn_", "glpat-"),
        r"\b(?:gh[pousr]_|xox[abprs]-|sk-|tkn_|glpat-)[\w-]{8,}",
        MASK,
    ),
)


# Most texts hold no sign of any of the rules; one search finds that out.
_SIGNS = {sign for rule in _RULES for sign in rule.signs} | {"@"}
_ANY_SIGN = "|".join(sorted(map(re.escape, _SIGNS)))


@cache
def _any_sign() -> Callable[[str], re.Match[str] | None]:
    return re.compile(_ANY_SIGN).search


def redact(text: str) -> str:
    """Return ``text`` with everything that looks like a credential replaced by ``***``."""
    text = _without_named_secrets(text)
    lowered = text.lower()
    if _any_sign()(lowered) is None:
        return text
    for signs, pattern, replacement in _RULES:
        if any(sign in lowered for sign in signs):
            text = re.sub(pattern, replacement, text)
    return _without_user_secrets(text) if "@" in text else text


def _without_user_secrets(text: str) -> str:
    """Hide NAME:SECRET@ that follows no scheme; in the path of a URI it is no credential."""

    def hidden(found: re.Match[str]) -> str:
        before = text[max(0, found.start() - _BEFORE) : found.start()]
        is_path = not set("?#;") & set(found[0]) and re.search(_URI_PATH, before)
        return found[0] if is_path else f"{MASK}@"

    return re.sub(_USER_INFO, hidden, text)


def _without_named_secrets(text: str) -> str:
    """Hide everything after the name of a secret: nobody knows where its value ends."""
    if ":" not in text and "=" not in text and "%3" not in text:
        return text
    for found in re.finditer(_NAMED, text):
        before = text[max(0, found.start() - _BEFORE) : found.start()]
        if found["mark"] == "=" and re.search(_PATH, before):
            continue
        return f"{text[: found.end()]}{MASK}"
    return text


def one_line(text: str, limit: int) -> str:
    """Return ``text`` redacted, with control characters escaped, at most about ``limit`` long."""
    if len(text) <= _SHORT:
        return _short_line(text, limit)
    return printable(redact(text[:_SEARCHED]), limit)


# Names repeat from event to event, and the search for credentials takes long.
@lru_cache(maxsize=4096)
def _short_line(text: str, limit: int) -> str:
    return printable(redact(text), limit)


def redact_name(text: str) -> str:
    """Return the name of a dataset or job redacted: with a slash first it is a path, no pointer."""
    path = text.lstrip("/")
    shown = _redacted(path) if len(path) <= _SHORT else redact(path)
    return f"{text[: len(text) - len(path)]}{shown}"


_redacted = lru_cache(maxsize=4096)(redact)


def name_line(text: str, limit: int) -> str:
    """Return a name as ``one_line`` returns other text."""
    return printable(redact_name(text[:_SEARCHED]), limit)


def printable(text: str, limit: int) -> str:
    """Return ``text`` with control characters escaped, at most about ``limit`` long."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    if cut.isprintable():
        return cut
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def printable_line(text: str) -> str:
    """Return a line of a message as it may reach a terminal or a log: escaped, and not endless.

    The last guard, which all text passes: what is of the user has been redacted before.
    """
    return printable(text, _LINE)


def printable_json(text: bytes) -> bytes:
    """Return JSON with the same values, in which no character is one that a terminal obeys.

    ``text`` is UTF-8; of control characters it holds at most line feeds outside of texts.
    """
    decoded = text.decode()
    if decoded.replace("\n", "").isprintable():
        return text
    hidden = [c for c in set(decoded) if not c.isprintable() and c != "\n"]
    return decoded.translate({ord(c): _json_escape(c) for c in hidden}).encode()


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def shown(value: object, limit: int = 80) -> str:
    """Return user text for a message: quoted, redacted, on one line, about ``limit`` long."""
    return f"'{one_line(value if isinstance(value, str) else str(value), limit)}'"


def shown_path(path: str) -> str:
    """Return a file's path, or a pointer, for a diagnostic: redacted, on one line, unquoted."""
    return one_line(path, limit=400)
