"""The tokens of Flink SQL, compared with a second scanner that goes character by character."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from streamt_ol.flink_sql import Token, read_tokens
from streamt_ol.problems import StreamtOlError

PIECES = st.sampled_from(
    [
        "'", "''", '"', "`", "``", "--", "//", "/*", "*/", "/*+ x */", "\n", "\r", " ", "\t", "$",
        "a", "SELECT", "é", "ß", "1", "1.5e3", ".", ",", "(", ")", ";", "=", "\\", "*", "/", "-",
        "_", "{", "}", "\u00a0", "٣", "x.y", "||",
    ]
)  # fmt: skip


class NotClosedError(Exception):
    """A string, a quoted identifier or a comment has no end."""


def in_word(character: str) -> bool:
    return character.isalnum() or character in "_$"


def end_of_quoted(sql: str, start: int) -> int:
    quote, at = sql[start], start + 1
    while at < len(sql):
        if sql[at] != quote:
            at += 1
        elif sql[at : at + 2] == quote * 2:
            at += 2
        else:
            return at + 1
    raise NotClosedError


def end_of_comment(sql: str, start: int) -> int:
    if sql.startswith("/*", start):
        end = sql.find("*/", start + 2)
        if end < 0:
            raise NotClosedError
        return end + 2
    while start < len(sql) and sql[start] not in "\r\n":
        start += 1
    return start


def end_of_word(sql: str, start: int, more: str = "") -> int:
    while start < len(sql) and (in_word(sql[start]) or sql[start] in more):
        start += 1
    return start


def second_scanner(sql: str) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    while at < len(sql):
        start = at
        if sql[at : at + 2] in ("--", "//", "/*"):
            at = end_of_comment(sql, at)
        elif sql[at] in "'\"`":
            at = end_of_quoted(sql, at)
            text = sql[start + 1 : at - 1].replace(sql[start] * 2, sql[start])
            tokens.append(Token("string" if sql[start] == "'" else "quoted", text, ""))
        elif sql[at].isdecimal():
            at = end_of_word(sql, at, ".")
            tokens.append(Token("number", sql[start:at], sql[start:at]))
        elif in_word(sql[at]):
            at = end_of_word(sql, at)
            tokens.append(Token("word", sql[start:at], sql[start:at].upper()))
        else:
            at += 1
            if not sql[start].isspace():
                tokens.append(Token("mark", sql[start], sql[start]))
    return tokens


@given(st.lists(PIECES, max_size=20).map("".join))
@example("/*/")
@example("a$b $1 1$ 1.x--'\n'''' /**/ `a``b`")
def test_the_tokens_are_those_of_an_independent_scanner(sql: str) -> None:
    expected: list[Token] | None
    try:
        expected = second_scanner(sql)
    except NotClosedError:
        expected = None
    found: list[Token] | None
    try:
        found = read_tokens(sql)
    except StreamtOlError:
        found = None
    assert found == expected


def test_tokens_by_hand() -> None:
    sql = "CREATE TABLE `a``b` ( -- x\n $c DECIMAL(10, 2) ) WITH ('k' = 'it''s \\');"
    assert [(token.kind, token.text) for token in read_tokens(sql)] == [
        ("word", "CREATE"), ("word", "TABLE"), ("quoted", "a`b"), ("mark", "("), ("word", "$c"),
        ("word", "DECIMAL"), ("mark", "("), ("number", "10"), ("mark", ","), ("number", "2"),
        ("mark", ")"), ("mark", ")"), ("word", "WITH"), ("mark", "("), ("string", "k"),
        ("mark", "="), ("string", "it's \\"), ("mark", ")"), ("mark", ";"),
    ]  # fmt: skip
