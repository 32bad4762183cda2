"""The tokens of Flink SQL: words, quoted names, strings, numbers and marks.

Flink's own rules: a quote in a quoted text is doubled, a backslash is a character like any other,
and a dollar is a letter.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from streamt_ol.problems import INVALID, StreamtOlError


class Token(NamedTuple):
    """A token that is neither space nor comment: a word, quoted, string, number or mark.

    ``text`` is the value (quotes removed, doubled quotes undone). ``key`` is what a keyword or a
    mark is recognised by: a word in upper case or the mark itself, and empty for what is quoted.
    """

    kind: str
    text: str
    key: str


_UNCLOSED = {
    "'": "a string",
    "`": "a quoted identifier",
    '"': "a quoted identifier",
    "/*": "a comment",
}
# One alternative matches at every character, so the matches are the whole text. The most frequent
# stand first; the possessive quantifiers (`*+`) never backtrack.
_TOKEN = re.compile(
    r"""
      (?P<word>(?:[^\W\d]|\$)[\w$]*+)
    | \s++
    | (?:--|//)[^\r\n]*+
    | (?P<comment>/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/)
    | (?P<string>'[^']*+(?:''[^']*+)*+')
    | (?P<quoted>`[^`]*+(?:``[^`]*+)*+` | "[^"]*+(?:""[^"]*+)*+")
    | (?P<number>\d[\w.$]*+)
    | (?P<unclosed>['"`]|/\*)
    | (?P<mark>[\s\S])
    """,
    re.VERBOSE,
)


def read_tokens(sql: str, location: str | None = None) -> list[Token]:
    """Return the tokens of ``sql`` without space, comments and hints.

    Raises ``StreamtOlError`` (``INVALID``, at ``location``) for a string, a quoted identifier or
    a comment that is not closed, and for a hint that names a topic; its message quotes no SQL.
    """
    tokens: list[Token] = []
    for match in _TOKEN.finditer(sql):
        kind, text = match.lastgroup, match[0]
        if kind == "word":
            tokens.append(Token("word", text, text.upper()))
        elif kind in ("mark", "number"):
            tokens.append(Token(kind, text, text))
        elif kind in ("string", "quoted"):
            tokens.append(Token(kind, text[1:-1].replace(text[0] * 2, text[0]), ""))
        elif kind == "unclosed":
            line = sql.count("\n", 0, match.start()) + 1
            message = f"line {line} of the SQL opens {_UNCLOSED[text]} that is never closed"
            raise StreamtOlError(INVALID, message, location=location)
        elif kind == "comment" and text.startswith("/*+") and "'topic'" in text:
            message = "a hint in the SQL replaces the topic of a table"
            raise StreamtOlError(INVALID, message, location=location)
    return tokens
