"""The effective materialization of a model, as streamt infers it."""

from __future__ import annotations

from collections.abc import Sequence

from streamt_ol.flink_sql import Token, read_tokens
from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown

TOPIC, FLINK, GATEWAY, SINK = "topic", "flink", "virtual_topic", "sink"
MATERIALIZATIONS = (TOPIC, FLINK, GATEWAY, SINK)

# fmt: off
_STATEFUL_WORDS = frozenset((
    "JOIN", "LATERAL", "OVER", "MATCH_RECOGNIZE", "HAVING", "EXCEPT", "INTERSECT", "MINUS",
))
_STATEFUL_BEFORE_BY = frozenset(("GROUP", "ORDER"))
_STATEFUL_FUNCTIONS = frozenset((
    # windows
    *(f"{window}{part}" for window in ("TUMBLE", "HOP", "SESSION", "CUMULATE")
      for part in ("", "_START", "_END", "_ROWTIME", "_PROCTIME")),
    # aggregates of Flink, and of Calcite, whose parser Flink has
    "ANY_VALUE", "APPROX_COUNT_DISTINCT", "ARRAY_AGG", "ARRAY_CONCAT_AGG", "AVG", "BIT_AND",
    "BIT_OR", "BIT_XOR", "COLLECT", "COUNT", "COVAR_POP", "COVAR_SAMP", "EVERY", "FUSION",
    "GROUPING", "GROUPING_ID", "GROUP_CONCAT", "GROUP_ID", "INTERSECTION", "JSON_ARRAYAGG",
    "JSON_OBJECTAGG", "LISTAGG", "MAX", "MIN", "MODE", "PERCENTILE", "PERCENTILE_CONT",
    "PERCENTILE_DISC", "REGR_COUNT", "REGR_SXX", "REGR_SYY", "SINGLE_VALUE", "STDDEV",
    "STDDEV_POP", "STDDEV_SAMP", "STRING_AGG", "SUM", "VARIANCE", "VAR_POP", "VAR_SAMP",
    # analytic functions
    "CUME_DIST", "DENSE_RANK", "FIRST_VALUE", "LAG", "LAST_VALUE", "LEAD", "NTH_VALUE", "NTILE",
    "PERCENT_RANK", "RANK", "ROW_NUMBER",
    # models
    "ML_EVALUATE", "ML_PREDICT",
    # joins by another name
    "EXISTS", "UNNEST",
))
_CLAUSES_AFTER_FROM = frozenset(("WHERE", "UNION", "WINDOW", "LIMIT", "OFFSET", "FETCH", ";"))
# fmt: on
_END = Token("mark", "", "")
_NO_CLAUSE = ""
_BARE_SELECT = ("SELECT", "*", "FROM")


def declared_materialization(value: str, location: str) -> str:
    """Return a declared ``materialized``, or raise E506 for one that streamt does not have."""
    if value not in MATERIALIZATIONS:
        known = ", ".join(MATERIALIZATIONS)
        message = f"the materialization {shown(value)} is not known; known are {known}"
        raise StreamtOlError(INVALID, message, location=location)
    return value


def of_sql(sql: str, tables: int, location: str, *, gateway: bool) -> str:
    """Return what rendered SQL that reads ``tables`` declared datasets compiles to.

    Stateful SQL is a Flink job; a bare ``SELECT * FROM x`` a topic, and so is no SQL, which
    comments alone are; anything else is a virtual topic where the project declares a Gateway
    (``gateway``), else a Flink job. Raises E506 at ``location`` for SQL with text that is not
    closed.
    """
    if tables > 1:  # a join, in whatever form
        return FLINK
    tokens = read_tokens(sql, location)
    if is_stateful(tokens):
        return FLINK
    if is_bare_select(tokens) or not has_statement(tokens):
        return TOPIC
    return GATEWAY if gateway else FLINK


def has_statement(tokens: Sequence[Token]) -> bool:
    """Return whether there is any SQL: tokens read it without comments, and ``;`` says nothing."""
    return any(token.key != ";" for token in tokens)


def is_stateful(tokens: Sequence[Token]) -> bool:
    """Return whether the SQL keeps state: it joins, groups, sorts, windows or aggregates.

    So does what removes duplicates, ``UNION`` without ``ALL`` among it.
    """
    before, following = [_END, *tokens], [*tokens, _END][1:]
    return (
        any(
            token.kind == "word" and _keeps_state(earlier.key, token.key, after.key)
            for earlier, token, after in zip(before, tokens, following, strict=False)
        )
        or _joins_by_comma(tokens)
        or _semi_joins(tokens)
    )


def _keeps_state(before: str, word: str, after: str) -> bool:
    """Return whether ``word``, between two other tokens, keeps state."""
    if word in _STATEFUL_WORDS:
        return True
    if word in _STATEFUL_BEFORE_BY:
        return after == "BY"
    if word == "DISTINCT":  # but `x IS [NOT] DISTINCT FROM y` compares
        return before not in ("IS", "NOT")
    if word == "UNION":
        return after != "ALL"
    return word in _STATEFUL_FUNCTIONS and after == "("


def _joins_by_comma(tokens: Sequence[Token]) -> bool:
    """Return whether a ``FROM`` lists more than one thing, at any depth of parentheses."""
    levels = [_NO_CLAUSE]
    for before, token in zip([_END, *tokens], tokens, strict=False):
        clause = levels[-1]
        if token.key == "(":
            levels.append(_NO_CLAUSE)
        elif token.key == ")":
            levels[-1:] = [] if len(levels) > 1 else [_NO_CLAUSE]
        elif token.key == "SELECT":
            levels[-1] = "SELECT"
        elif token.key == "FROM" and before.key != "DISTINCT":
            # Without SELECT it is that of EXTRACT(YEAR FROM ts), or of METADATA FROM 'key'.
            levels[-1] = "FROM" if clause == "SELECT" else clause
        elif token.key in _CLAUSES_AFTER_FROM:
            levels[-1] = _NO_CLAUSE
        elif token.key == "," and clause == "FROM":
            return True
    return False


def _semi_joins(tokens: Sequence[Token]) -> bool:
    """Return whether there is an ``x IN (SELECT ...)``."""
    triples = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return any((a.key, b.key, c.key) == ("IN", "(", "SELECT") for a, b, c in triples)


def is_bare_select(tokens: Sequence[Token]) -> bool:
    """Return whether the SQL is nothing but ``SELECT * FROM x``."""
    keys = [token.key for token in tokens]
    while keys and keys[-1] == ";":
        keys.pop()
    start, name = keys[: len(_BARE_SELECT)], tokens[len(_BARE_SELECT) : len(keys)]
    if tuple(start) != _BARE_SELECT or len(name) % 2 == 0:
        return False
    return all(
        token.key == "." if index % 2 else token.kind in ("word", "quoted")
        for index, token in enumerate(name)
    )
