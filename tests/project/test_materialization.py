"""What the SQL of a model compiles to in a project with a Gateway, from one declared source."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamt_ol.project.materialization import FLINK, GATEWAY, MATERIALIZATIONS, TOPIC, of_sql

# fmt: off
AGGREGATES = (
    "ANY_VALUE(x)", "APPROX_COUNT_DISTINCT(x)", "ARRAY_AGG(x)", "AVG(x)", "COLLECT(x)", "COUNT(*)",
    "COVAR_POP(x, y)", "GROUPING(x)", "GROUPING_ID(x)", "JSON_ARRAYAGG(x)", "JSON_OBJECTAGG(x: y)",
    "LISTAGG(x)", "MAX(x)", "MIN(x)", "PERCENTILE(x, 0.5)", "PERCENTILE_CONT(0.5)",
    "SINGLE_VALUE(x)", "STDDEV(x)", "STDDEV_POP(x)", "STDDEV_SAMP(x)", "STRING_AGG(x, ',')",
    "SUM(x)", "VARIANCE(x)", "VAR_POP(x)", "VAR_SAMP(x)",
)
ANALYTIC = (
    "CUME_DIST()", "DENSE_RANK()", "FIRST_VALUE(x)", "LAG(x)", "LAST_VALUE(x)", "LEAD(x)",
    "NTH_VALUE(x, 2)", "NTILE(4)", "PERCENT_RANK()", "RANK()", "ROW_NUMBER()",
)
# fmt: on


def materialized(sql: str) -> str:
    return of_sql(sql, 1, "here", gateway=True)


@pytest.mark.parametrize("call", [*AGGREGATES, *ANALYTIC])
def test_aggregate_and_analytic_functions_keep_state(call: str) -> None:
    assert materialized(f"SELECT {call} FROM t") == FLINK
    assert materialized(f"select {call.lower().replace('(', ' (')} from t") == FLINK
    name = call.partition("(")[0]
    assert materialized(f"SELECT `{name}`(x), '{call.replace(chr(39), '')}' FROM t") == GATEWAY


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM t UNION SELECT b FROM t",
        "SELECT a FROM t UNION DISTINCT SELECT b FROM t",
        "SELECT a FROM t EXCEPT SELECT b FROM t",
        "SELECT a FROM t EXCEPT ALL SELECT b FROM t",
        "SELECT a FROM t INTERSECT SELECT b FROM t",
        "SELECT a FROM t MINUS SELECT b FROM t",
        "SELECT DISTINCT a FROM t",
        "SELECT a FROM t HAVING a > 1",
    ],
)
def test_what_removes_duplicates_keeps_state(sql: str) -> None:
    assert materialized(sql) == FLINK


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, n FROM t, UNNEST(y) AS u (n)",
        "SELECT id, n FROM t CROSS JOIN UNNEST(y) AS u (n)",
        "SELECT id, w FROM t, LATERAL TABLE(f(x)) AS u (w)",
        "SELECT id, w FROM t, TABLE(f(x)) AS u (w)",
        "SELECT l.id FROM t l, t r WHERE l.id = r.up",
        "SELECT l.id FROM (SELECT id FROM t) l, (VALUES (1)) r",
        "SELECT * FROM (SELECT l.id FROM t AS l, t AS r)",
        "SELECT EXTRACT(YEAR FROM ts) FROM t, u",
        "SELECT id FROM t WHERE id IN (SELECT up FROM t)",
        "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM t)",
    ],
)
def test_joins_without_the_word_keep_state(sql: str) -> None:
    assert materialized(sql) == FLINK


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, b FROM t WHERE f(a, b) > 1",
        "SELECT a FROM t UNION ALL SELECT b FROM t",
        "SELECT a FROM t AS u (a, b)",
        "SELECT EXTRACT(YEAR FROM ts), b FROM t WHERE c IN (1, 2)",
        "SELECT SUBSTRING(a FROM 1 FOR 2), TRIM(BOTH ' ' FROM b), c FROM t",
        "SELECT a IS DISTINCT FROM b, a IS NOT DISTINCT FROM c, d FROM t",
        "WITH l AS (SELECT a FROM t), r AS (SELECT a FROM l) SELECT a, a FROM r",
        "SELECT a, (SELECT b FROM t), c FROM t",
        "SELECT a) , b FROM t",
    ],
)
def test_other_sql_keeps_none(sql: str) -> None:
    assert materialized(sql) == GATEWAY


@pytest.mark.parametrize(
    "sql", ["", " \n", "-- todo", "/* x */", "/*+ h */", "// x", ";", "-- x\n;"]
)
def test_comments_alone_are_no_sql(sql: str) -> None:
    assert materialized(sql) == TOPIC
    assert of_sql(sql, 0, "here", gateway=False) == TOPIC


WORDS = st.sampled_from(
    ["SELECT", "FROM", "t", ",", "(", ")", ";", "*", "BY", "IN", "UNION", "--", "WHERE"]
)


@given(st.lists(WORDS).map(" ".join))
def test_any_sql_has_one(sql: str) -> None:
    assert materialized(sql) in MATERIALIZATIONS
