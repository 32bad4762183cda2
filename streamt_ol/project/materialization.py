"""The effective materialization of a model, as streamt infers it."""

from __future__ import annotations

from collections.abc import Sequence

from streamt_ol.flink_sql import Token, read_tokens
from streamt_ol.problems import INVALID, StreamtOlError
from streamt_ol.redaction import shown

TOPIC, FLINK, GATEWAY, SINK = "topic", "flink", "virtual_topic", "sink"
MATERIALIZATIONS = (TOPIC, FLINK, GATEWAY, SINK)

# fmt: off
_STATEFUL_WORDS = frozenset(("JOIN", "DISTINCT", "OVER", "MATCH_RECOGNIZE"))
_STATEFUL_BEFORE_BY = frozenset(("GROUP", "ORDER"))
_STATEFUL_FUNCTIONS = frozenset((
    # windows
    *(f"{window}{part}" for window in ("TUMBLE", "HOP", "SESSION", "CUMULATE")
      for part in ("", "_START", "_END", "_ROWTIME", "_PROCTIME")),
    # aggregates
    "ANY_VALUE", "APPROX_COUNT_DISTINCT", "ARRAY_AGG", "AVG", "COLLECT", "COUNT", "JSON_ARRAYAGG",
    "JSON_OBJECTAGG", "LISTAGG", "MAX", "MIN", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "SUM",
    "VARIANCE", "VAR_POP", "VAR_SAMP",
    # analytic functions
    "CUME_DIST", "DENSE_RANK", "FIRST_VALUE", "LAG", "LAST_VALUE", "LEAD", "NTH_VALUE", "NTILE",
    "PERCENT_RANK", "RANK", "ROW_NUMBER",
    # models
    "ML_EVALUATE", "ML_PREDICT",
))
# fmt: on
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

    Stateful SQL is a Flink job; a bare ``SELECT * FROM x`` a topic; anything else a virtual
    topic where the project declares a Gateway (``gateway``), else a Flink job. Raises E506 at
    ``location`` for SQL with text that is not closed.
    """
    if tables > 1:  # a join, in whatever form
        return FLINK
    tokens = read_tokens(sql, location)
    if is_stateful(tokens):
        return FLINK
    if is_bare_select(tokens):
        return TOPIC
    return GATEWAY if gateway else FLINK


def is_stateful(tokens: Sequence[Token]) -> bool:
    """Return whether the SQL keeps state: it joins, groups, sorts, windows or aggregates."""
    following = [*tokens[1:], Token("mark", "", "")]
    for token, after in zip(tokens, following, strict=True):
        if token.kind != "word":
            continue
        if token.key in _STATEFUL_WORDS:
            return True
        if token.key in _STATEFUL_BEFORE_BY and after.key == "BY":
            return True
        if token.key in _STATEFUL_FUNCTIONS and after.key == "(":
            return True
    return False


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
