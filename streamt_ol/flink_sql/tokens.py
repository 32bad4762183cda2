"""The tokens of Flink SQL, from sqlparse's lexer under Flink's own rules.

sqlparse's default rules take a backslash in a string for an escape, which Flink does not.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NamedTuple

from streamt_ol.problems import INVALID, StreamtOlError

Kind = Literal["word", "quoted", "string", "number", "mark"]


class Token(NamedTuple):
    """A token that is neither space nor comment.

    ``text`` is the value (quotes removed, doubled quotes undone). ``key`` is what a keyword or a
    mark is recognised by: a word in upper case or the mark itself, and empty for what is quoted.
    """

    kind: Kind
    text: str
    key: str


_UNCLOSED = {
    "'": "a string",
    "`": "a quoted identifier",
    '"': "a quoted identifier",
    "/*": "a comment",
}


@cache
def _lexer() -> tuple[Any, dict[Any, Kind | Literal["unclosed"]]]:
    """Return sqlparse's lexer with Flink's rules, and the kind of each of its token types."""
    from sqlparse import tokens as types
    from sqlparse.lexer import Lexer

    lexer: Any = Lexer()
    lexer.clear()
    # The most frequent first. The possessive quantifiers (`*+`) never backtrack.
    lexer.set_SQL_REGEX(
        [
            (r"[^\W\d]\w*+", types.Name),
            (r"\s++", types.Whitespace),
            (r"[(),.;=]", types.Punctuation),
            (r"(?:--|//)[^\r\n]*+", types.Comment.Single),
            (r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/", types.Comment.Multiline),
            (r"'[^']*+(?:''[^']*+)*+'", types.String.Single),
            (r"`[^`]*+(?:``[^`]*+)*+`", types.Name.Placeholder),
            (r'"[^"]*+(?:""[^"]*+)*+"', types.Name.Placeholder),
            (r"\d[\w.]*+", types.Number),
            (r"""['"`]|/\*""", types.Error),
            (r"[\s\S]", types.Punctuation),
        ]
    )
    kinds: dict[Any, Kind | Literal["unclosed"]] = {
        types.Name: "word",
        types.String.Single: "string",
        types.Name.Placeholder: "quoted",
        types.Number: "number",
        types.Punctuation: "mark",
        types.Error: "unclosed",
    }
    return lexer, kinds


def read_tokens(sql: str, location: str | None = None) -> list[Token]:
    """Return the tokens of ``sql`` without space, comments and hints.

    Raises ``StreamtOlError`` (``INVALID``, at ``location``) for a string, a quoted identifier or
    a comment that is not closed, and for a hint that names a topic; its message quotes no SQL.
    """
    lexer, kinds = _lexer()
    tokens: list[Token] = []
    position = 0
    # A dollar is a letter in Flink; sqlparse would pair `$$` as PostgreSQL does. The letter that
    # stands in for it has the same length, and each value is taken from the text itself.
    for token_type, value in lexer.get_tokens(sql.replace("$", "_")):
        end = position + len(value)
        kind = kinds.get(token_type)
        if kind is not None:
            text = sql[position:end]
            if kind == "unclosed":
                line = sql.count("\n", 0, position) + 1
                message = f"line {line} of the SQL opens {_UNCLOSED[text]} that is never closed"
                raise StreamtOlError(INVALID, message, location=location)
            tokens.append(_token(kind, text))
        elif value.startswith("/*+") and "'topic'" in value:
            message = "a hint in the SQL replaces the topic of a table"
            raise StreamtOlError(INVALID, message, location=location)
        position = end
    return tokens


def _token(kind: Kind, text: str) -> Token:
    if kind in ("string", "quoted"):
        quote = text[0]
        return Token(kind, text[1:-1].replace(quote * 2, quote), "")
    return Token(kind, text, text.upper() if kind == "word" else text)
